/// A point in time: nanoseconds since 1970-01-01T00:00:00Z, without leap seconds, from 1678 to 2262.
public struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the Unix epoch.
    public var nanoseconds: Int64

    /// Makes an instant from nanoseconds since the Unix epoch.
    @inlinable
    @inline(__always)
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Makes an instant from whole seconds since the Unix epoch, which must be within 1678…2262.
    package init(seconds: Int64) {
        nanoseconds = seconds * 1_000_000_000
    }

    /// Earliest representable instant; also stands for "never".
    @usableFromInline package static let distantPast = Instant(nanoseconds: .min)
    /// Latest representable instant.
    @usableFromInline package static let distantFuture = Instant(nanoseconds: .max)

    /// Order in time.
    @inlinable
    @inline(__always)
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `nanoseconds` later, held at the ends of the range instead of overflowing.
    @inlinable
    @inline(__always)
    package func advanced(by nanoseconds: Int64) -> Instant {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? (nanoseconds > 0 ? .distantFuture : .distantPast) : Instant(nanoseconds: sum)
    }
}

/// A source's offset from UTC in minutes, kept for output; ``UTCOffset/none`` when the source gave no offset.
package enum UTCOffset {
    /// Stands for "the source gave no offset" or wrote `Z`.
    package static let none: Int16 = .min
}
