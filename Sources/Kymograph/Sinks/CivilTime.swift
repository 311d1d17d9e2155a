import KymographCore

/// An instant as a UTC calendar date and time of day.
struct CivilTime {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int
    var nanosecond: Int

    /// Days are counted from 1 March, so that the leap day is a year's last (Howard Hinnant, "chrono-compatible
    /// low-level date algorithms", `civil_from_days`).
    init(_ instant: Instant) {
        let (seconds, nanosecond) = CivilTime.floor(instant.nanoseconds, 1_000_000_000)
        let (days, secondOfDay) = CivilTime.floor(seconds, 86_400)
        let (era, dayOfEra) = CivilTime.floor(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (Int(secondOfDay / 3600), Int(secondOfDay / 60 % 60), Int(secondOfDay % 60))
        self.nanosecond = Int(nanosecond)
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// `20261121T064535`, for file names.
    var compact: String {
        var writer = ByteWriter(capacity: 64)
        for (value, digits) in [(year, 4), (month, 2), (day, 2)] { writer.append(decimal: value, digits: digits) }
        writer.append("T")
        for value in [hour, minute, second] { writer.append(decimal: value, digits: 2) }
        return writer.view.string
    }
}

extension ByteWriter {
    /// Writes `value` (not negative) with at least `digits` digits.
    mutating func append(decimal value: Int, digits: Int) {
        precondition(value >= 0)
        var divisor = 1
        for _ in 1..<max(digits, 1) { divisor *= 10 }
        while value / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(0x30 + value / divisor % 10))
            divisor /= 10
        }
    }

    /// Writes `2026-11-21T06:45:35.120Z`: a fraction of 0, 3, 6 or 9 digits, as many as needed.
    mutating func append(timestamp instant: Instant) {
        let time = CivilTime(instant)
        append(decimal: time.year, digits: 4)
        append("-")
        append(decimal: time.month, digits: 2)
        append("-")
        append(decimal: time.day, digits: 2)
        append("T")
        append(decimal: time.hour, digits: 2)
        append(":")
        append(decimal: time.minute, digits: 2)
        append(":")
        append(decimal: time.second, digits: 2)
        append(fraction: time.nanosecond)
        append("Z")
    }

    private mutating func append(fraction nanosecond: Int) {
        guard nanosecond > 0 else { return }
        append(".")
        if nanosecond % 1_000_000 == 0 {
            append(decimal: nanosecond / 1_000_000, digits: 3)
        } else if nanosecond % 1000 == 0 {
            append(decimal: nanosecond / 1000, digits: 6)
        } else {
            append(decimal: nanosecond, digits: 9)
        }
    }
}
