/// How a device template says its times are written (`"timestampFormat"`). The unit of an epoch is never guessed:
/// seconds read as milliseconds would move a reading by decades.
package enum TimestampFormat: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    /// ISO 8601 text, with or without fraction and offset; without offset it is UTC.
    case iso8601
    /// Seconds since 1970-01-01T00:00:00Z, with or without fraction.
    case epochSeconds
    /// Milliseconds since 1970-01-01T00:00:00Z.
    case epochMilliseconds
    /// Microseconds since 1970-01-01T00:00:00Z.
    case epochMicroseconds
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    case epochNanoseconds

    /// The spelling in mapping files.
    package var name: String {
        switch self {
        case .iso8601: "iso8601"
        case .epochSeconds: "epoch-s"
        case .epochMilliseconds: "epoch-ms"
        case .epochMicroseconds: "epoch-us"
        case .epochNanoseconds: "epoch-ns"
        }
    }

    /// Power of ten from the unit to nanoseconds.
    var scale: Int {
        switch self {
        case .iso8601, .epochNanoseconds: 0
        case .epochSeconds: 9
        case .epochMilliseconds: 6
        case .epochMicroseconds: 3
        }
    }

    /// Nanoseconds in the unit of an epoch.
    var nanoseconds: Int64 {
        switch self {
        case .iso8601, .epochNanoseconds: 1
        case .epochSeconds: 1_000_000_000
        case .epochMilliseconds: 1_000_000
        case .epochMicroseconds: 1_000
        }
    }
}

/// A time as a source wrote it.
package struct Timestamp: Equatable, Sendable {
    /// The point in time.
    package var instant: Instant
    /// Offset and digits as written: no offset for `Z`, for none, and for epochs.
    package var form: TimeForm
    /// Whether it was written as a wall clock shows it, without offset and `Z`, and was taken for UTC.
    package var isLocal = false
    /// Minutes from UTC as written, or ``UTCOffset/none``.
    package var offsetMinutes: Int16 { form.offsetMinutes }
}

/// Reads times.
package enum TimestampParser {
    /// Years whose every instant fits in nanoseconds since the epoch.
    static let years = 1678...2261

    /// Reads `YYYY-MM-DDThh:mm[:ss[.fraction]][Z|±hh[:]mm]`; nil when it is anything else.
    ///
    /// A blank may stand for the `T` and before an offset with a sign: Apple's `2024-05-01 10:00:00 +0200`.
    /// Digits of the fraction beyond nanoseconds are cut off. A leap second (`:60`) is the first instant of the next
    /// minute, as POSIX time has it. A missing offset means UTC (quirk 32 of the mapping dialect).
    package static func iso8601(_ text: ByteView) -> Timestamp? {
        if let plain = plain(text) { return plain }
        guard text.count >= 16, let minutes = minutesSinceEpoch(text) else { return nil }
        var index = 16
        guard let (nanoseconds, digits) = secondsAndFraction(text, &index), let offset = offset(text, &index),
            index == text.count
        else { return nil }
        let utcMinutes = Int64(minutes) - Int64(offset == UTCOffset.none ? 0 : offset)
        return Timestamp(
            instant: Instant(nanoseconds: utcMinutes * 60_000_000_000 + nanoseconds),
            form: TimeForm(offsetMinutes: offset, digits: digits),
            isLocal: offset == UTCOffset.none && text[text.count - 1] | 0x20 != UInt8(ascii: "z"))
    }

    /// Reads a JSON number since the epoch in the unit of `format`; digits below nanoseconds are cut off.
    ///
    /// Not through ``Decimal64``, because the present in nanoseconds has 19 digits.
    package static func epoch(_ text: ByteView, _ format: TimestampFormat) -> Timestamp? {
        guard text.count > 0 else { return nil }
        // Nearly all are plain digits.
        if text.count <= 18, let plain = DecimalParser.plainInteger(text) { return epoch(plain, format) }
        guard JSONScanner.numberEnd(text, 0) == text.count else { return nil }
        guard let nanoseconds = whole(text, scale: format.scale), var time = timestamp(nanoseconds) else { return nil }
        if format == .epochSeconds { time.form = TimeForm(offsetMinutes: UTCOffset.none, digits: digits(text)) }
        return time
    }

    /// Digits behind the point of a number without exponent, of which nine count.
    private static func digits(_ text: ByteView) -> Int {
        let (point, end) = parts(text, from: text[0] == UInt8(ascii: "-") ? 1 : 0)
        return end == text.count ? min(max(end - point - 1, 0), 9) : 0
    }

    /// The time that is so many of the unit of `format` after the epoch.
    @inline(__always)
    static func epoch(_ units: Int64, _ format: TimestampFormat) -> Timestamp? {
        let (nanoseconds, overflow) = units.multipliedReportingOverflow(by: format.nanoseconds)
        return overflow ? nil : timestamp(nanoseconds)
    }

    @inline(__always)
    private static func timestamp(_ nanoseconds: Int64) -> Timestamp? {
        guard nanoseconds.magnitude < 9_200_000_000_000_000_000 else { return nil }
        return Timestamp(instant: Instant(nanoseconds: nanoseconds), form: .unknown)
    }

    /// The whole part of the number in `text` times 10^`scale`, or nil when it overflows.
    private static func whole(_ text: ByteView, scale: Int) -> Int64? {
        let isNegative = text[0] == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        let (point, end) = parts(text, from: first)
        var digitsLeft = point - first + scale + DecimalParser.clampedExponent(text, from: end)
        var index = first
        var value: Int64 = 0
        while digitsLeft > 0 {
            if index == point { index += 1 }
            let isZero = index >= end
            if isZero && value == 0 { return 0 }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let digit = isZero ? 0 : Int64(text[index] - UInt8(ascii: "0"))
            let (sum, overflow) = product.addingReportingOverflow(digit)
            if isTooLarge || overflow { return nil }
            value = sum
            index += 1
            digitsLeft -= 1
        }
        return isNegative ? -value : value
    }

    /// Where the digits before the decimal point end, and where all digits end.
    private static func parts(_ text: ByteView, from first: Int) -> (point: Int, end: Int) {
        var point = first
        while point < text.count, text[point] &- UInt8(ascii: "0") < 10 { point += 1 }
        var end = point
        while end < text.count, text[end] | 0x20 != UInt8(ascii: "e") { end += 1 }
        return (point, end)
    }

    /// Two digits at `index`, or a number over 99 when they are none.
    @inline(__always)
    private static func two(_ text: ByteView, _ index: Int) -> Int {
        let tens = text[index] &- UInt8(ascii: "0")
        let units = text[index + 1] &- UInt8(ascii: "0")
        return tens > 9 || units > 9 ? 1_000_000 : Int(tens) * 10 + Int(units)
    }

    /// Minutes since the epoch of `YYYY-MM-DDThh:mm`, as local time.
    @inline(__always)
    private static func minutesSinceEpoch(_ text: ByteView) -> Int? {
        let year = two(text, 0) * 100 + two(text, 2)
        let month = two(text, 5)
        let day = two(text, 8)
        let hour = two(text, 11)
        let minute = two(text, 14)
        let separator = text[10]
        guard text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[13] == UInt8(ascii: ":"),
            separator == UInt8(ascii: "T") || separator == UInt8(ascii: "t") || separator == UInt8(ascii: " ")
        else { return nil }
        guard years.contains(year), (1...12).contains(month), hour < 24, minute < 60, day >= 1,
            day <= Calendar.days(inMonth: month, year: year)
        else { return nil }
        return Calendar.days(year: year, month: month, day: day) * 1_440 + hour * 60 + minute
    }

    /// Nanoseconds of an optional `:ss[.fraction]`, and how many digits the fraction has, of which nine count.
    @inline(__always)
    private static func secondsAndFraction(_ text: ByteView, _ index: inout Int) -> (Int64, digits: Int)? {
        guard index < text.count, text[index] == UInt8(ascii: ":") else { return (0, 0) }
        guard index + 3 <= text.count else { return nil }
        let seconds = two(text, index + 1)
        guard seconds <= 60 else { return nil }
        index += 3
        guard index < text.count, text[index] == UInt8(ascii: ".") || text[index] == UInt8(ascii: ",") else {
            return (Int64(seconds) * 1_000_000_000, 0)
        }
        let first = index + 1
        guard let fraction = fraction(text, &index) else { return nil }
        return (Int64(seconds) * 1_000_000_000 + fraction, min(index - first, 9))
    }

    @inline(__always)
    private static func fraction(_ text: ByteView, _ index: inout Int) -> Int64? {
        index += 1
        let first = index
        var unit: Int64 = 100_000_000
        var sum: Int64 = 0
        while index < text.count, text[index] &- UInt8(ascii: "0") < 10 {
            sum += Int64(text[index] - UInt8(ascii: "0")) * unit
            unit /= 10
            index += 1
        }
        return index == first ? nil : sum
    }

    /// Minutes of an optional `Z` or `[ ]±hh[[:]mm]`, or nil when it is malformed.
    @inline(__always)
    private static func offset(_ text: ByteView, _ index: inout Int) -> Int16? {
        guard index < text.count else { return UTCOffset.none }
        let first = text[index]
        if first == UInt8(ascii: "Z") || first == UInt8(ascii: "z") {
            index += 1
            return UTCOffset.none
        }
        if first == UInt8(ascii: " ") { index += 1 }
        guard index + 3 <= text.count else { return nil }
        let isNegative = text[index] == UInt8(ascii: "-")
        guard isNegative || text[index] == UInt8(ascii: "+") else { return nil }
        let hours = two(text, index + 1)
        index += 3
        var minutes = 0
        if index < text.count {
            if text[index] == UInt8(ascii: ":") { index += 1 }
            guard index + 2 <= text.count else { return nil }
            minutes = two(text, index)
            index += 2
        }
        guard minutes < 60, hours * 60 + minutes <= 14 * 60 else { return nil }
        return Int16((isNegative ? -1 : 1) * (hours * 60 + minutes))
    }
}
