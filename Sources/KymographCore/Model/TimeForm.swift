/// How a source wrote a time, beside the instant that it names: the offset from UTC, and how many digits the second's
/// fraction has. Both are kept for output.
package struct TimeForm: Equatable, Sendable, BitwiseCopyable {
    /// One number of 16 bits, as it is in rings and stores.
    ///
    /// Without digits it is the offset in minutes, or ``UTCOffset/none``, which is all that stores had before digits
    /// were kept. With digits it is their number in the upper five bits, and 840 more than the offset in the others.
    var rawValue: Int16

    private static let latestOffset: Int16 = 840
    private static let noOffset: Int16 = 2_047

    /// A time without offset whose digits are not known.
    package static let unknown = TimeForm(rawValue: UTCOffset.none)

    @inline(__always)
    init(rawValue: Int16) {
        self.rawValue = rawValue
    }

    /// A time `offsetMinutes` (-840…840, or ``UTCOffset/none``) from UTC with `digits` (0…9) of the second's fraction;
    /// 0 also says that their number is not known, as for epochs in units below the second.
    @inline(__always)
    package init(offsetMinutes: Int16, digits: Int = 0) {
        guard digits > 0 else {
            rawValue = offsetMinutes
            return
        }
        let low = offsetMinutes == UTCOffset.none ? TimeForm.noOffset : offsetMinutes &+ TimeForm.latestOffset
        rawValue = Int16(truncatingIfNeeded: digits) << 11 | low
    }

    private var hasDigits: Bool {
        @inline(__always) get { rawValue >= 1 << 11 }
    }

    /// Minutes from UTC, or ``UTCOffset/none``.
    package var offsetMinutes: Int16 {
        @inline(__always) get {
            guard hasDigits else { return rawValue }
            let low = rawValue & TimeForm.noOffset
            return low == TimeForm.noOffset ? UTCOffset.none : low &- TimeForm.latestOffset
        }
    }

    /// Digits of the second's fraction; 0 when there were none, or nobody knows.
    package var digits: Int {
        @inline(__always) get { hasDigits ? Int(rawValue >> 11) : 0 }
    }

    /// What both forms say: the offset and the digits that they share.
    func common(_ other: TimeForm) -> TimeForm {
        if self == other { return self }
        return TimeForm(
            offsetMinutes: offsetMinutes == other.offsetMinutes ? offsetMinutes : UTCOffset.none,
            digits: digits == other.digits ? digits : 0)
    }

    /// The larger offset and the larger number of digits, whichever form has them.
    func fuller(_ other: TimeForm) -> TimeForm {
        if self == other { return self }
        return TimeForm(
            offsetMinutes: max(offsetMinutes, other.offsetMinutes), digits: max(digits, other.digits))
    }
}
