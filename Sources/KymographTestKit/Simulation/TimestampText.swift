package import KymographCore

/// RFC 3339 text of instants, in UTC, with as many digits of the fraction as it has (0, 3, 6 or 9).
///
/// Written here on purpose and not shared with the pipeline, so that simulated data and pipeline check each other.
package enum TimestampText {
    /// Appends `instant`.
    package static func append(_ instant: Instant, to writer: inout ByteWriter) {
        let second: Int64 = 1_000_000_000
        let (days, time) = floored(floored(instant.nanoseconds, second).quotient, 86_400)
        let date = civil(days)
        append(date.year, digits: 4, to: &writer)
        append(date.month, digits: 2, after: "-", to: &writer)
        append(date.day, digits: 2, after: "-", to: &writer)
        append(time / 3600, digits: 2, after: "T", to: &writer)
        append(time / 60 % 60, digits: 2, after: ":", to: &writer)
        append(time % 60, digits: 2, after: ":", to: &writer)
        appendFraction(floored(instant.nanoseconds, second).remainder, to: &writer)
        writer.append("Z")
    }

    /// The instant that `text` names, in the form of ``append(_:to:)`` with up to nine digits of the fraction; nil for
    /// any other text.
    package static func instant(_ text: ArraySlice<UInt8>) -> Instant? {
        let bytes = Array(text.dropLast())
        guard text.last == UInt8(ascii: "Z"), (19...29).contains(bytes.count), bytes.count != 20 else { return nil }
        // 0 stands for any digit; there may be fewer of the fraction.
        for (byte, form) in zip(bytes, "0000-00-00T00:00:00.000000000".utf8) {
            guard form == zero ? (zero...zero + 9).contains(byte) : byte == form else { return nil }
        }
        func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 * 10 + Int64($1 - zero) } }
        var nanoseconds = bytes.count > 20 ? number(20..<bytes.count) : 0
        for _ in max(bytes.count, 20)..<29 { nanoseconds *= 10 }
        let days = dayNumber(year: number(0..<4), month: number(5..<7), day: number(8..<10))
        let seconds = days * 86_400 + number(11..<13) * 3600 + number(14..<16) * 60 + number(17..<19)
        return Instant(seconds: seconds).advanced(by: nanoseconds)
    }

    private static let zero = UInt8(ascii: "0")

    /// Days since 1970-01-01 (as ``civil(_:)``, the other way round).
    private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floored(shifted, 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func appendFraction(_ nanoseconds: Int64, to writer: inout ByteWriter) {
        if nanoseconds == 0 { return }
        if nanoseconds % 1_000_000 == 0 {
            append(nanoseconds / 1_000_000, digits: 3, after: ".", to: &writer)
        } else if nanoseconds % 1000 == 0 {
            append(nanoseconds / 1000, digits: 6, after: ".", to: &writer)
        } else {
            append(nanoseconds, digits: 9, after: ".", to: &writer)
        }
    }

    private static func append(
        _ number: Int64, digits: Int, after separator: StaticString = "", to writer: inout ByteWriter
    ) {
        if separator.utf8CodeUnitCount > 0 { writer.append(separator) }
        var divisor: Int64 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            writer.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    private static func floored(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = (value % divisor + divisor) % divisor
        return ((value - remainder) / divisor, remainder)
    }

    /// Gregorian date of a day number from 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms").
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let (era, dayOfEra) = floored(shifted, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
