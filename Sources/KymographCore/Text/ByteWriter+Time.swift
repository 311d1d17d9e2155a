/// Points in time as FHIR and identifiers write them.
extension ByteWriter {
    /// Writes a FHIR dateTime with zone: `2024-05-01T10:00:00Z`, or the source's offset when it is one that FHIR R4
    /// allows (-14:00…+14:00). A fraction has as many digits as `form` says, and more where it needs them; of an
    /// unknown form 3, 6 or 9, or it is absent when zero.
    package mutating func append(_ instant: Instant, _ form: TimeForm = .unknown) {
        let offsetMinutes = form.offsetMinutes
        let offset = abs(Int(offsetMinutes)) <= 840 ? Int64(offsetMinutes) : nil
        let clock = CivilTime(instant, offsetMinutes: offset ?? 0)
        appendTwo(clock.year / 100)
        appendTwo(clock.year % 100)
        append(UInt8(ascii: "-"))
        appendTwo(clock.month)
        append(UInt8(ascii: "-"))
        appendTwo(clock.day)
        append(UInt8(ascii: "T"))
        appendTwo(clock.hour)
        append(UInt8(ascii: ":"))
        appendTwo(clock.minute)
        append(UInt8(ascii: ":"))
        appendTwo(clock.second)
        append(fraction: clock.nanosecond, digits: form.digits)
        guard let offset else { return append(UInt8(ascii: "Z")) }
        append(UInt8(ascii: offset < 0 ? "-" : "+"))
        appendTwo(Int(offset.magnitude) / 60)
        append(UInt8(ascii: ":"))
        appendTwo(Int(offset.magnitude) % 60)
    }

    /// Writes `yyyyMMddHHmmssZ`, as iomt-fhir's identifiers do (mapping dialect 5.2); with `fraction`, one of 3, 6 or 9
    /// digits before the Z when it is not zero (quirk 16).
    package mutating func append(compact instant: Instant, fraction: Bool) {
        let clock = CivilTime(instant, offsetMinutes: 0)
        appendTwo(clock.year / 100)
        appendTwo(clock.year % 100)
        appendTwo(clock.month)
        appendTwo(clock.day)
        appendTwo(clock.hour)
        appendTwo(clock.minute)
        appendTwo(clock.second)
        if fraction { append(fraction: clock.nanosecond, digits: 0) }
        append(UInt8(ascii: "Z"))
    }

    private mutating func append(fraction nanosecond: Int, digits: Int) {
        guard nanosecond != 0 || digits > 0 else { return }
        append(UInt8(ascii: "."))
        var rest = nanosecond
        var divisor = 100_000_000
        var written = 0
        while rest > 0 || (digits > 0 ? written < digits : written % 3 != 0) {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor % 10))
            rest %= divisor
            divisor = max(divisor / 10, 1)
            written += 1
        }
    }
}

/// A point in time on the proleptic Gregorian calendar.
struct CivilTime {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int
    var nanosecond: Int

    /// The wall clock at `instant`, `offsetMinutes` east of Greenwich.
    init(_ instant: Instant, offsetMinutes: Int64) {
        let (wholeSeconds, fraction) = CivilTime.floorDivide(instant.nanoseconds, by: 1_000_000_000)
        let (days, inDay) = CivilTime.floorDivide(wholeSeconds + offsetMinutes * 60, by: 86_400)
        let secondOfDay = Int(inDay)
        nanosecond = Int(fraction)
        hour = secondOfDay / 3600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
        // Days to year, month, day: years start in March, so that leap days come last (H. Hinnant, "chrono-Compatible
        // Low-Level Date Algorithms"). All instants are after 1600, so nothing is negative here.
        let shifted = Int(days) + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Points in time as the reference system writes them.
extension ByteWriter {
    /// Writes `yyyy-MM-ddTHH:mm:ss.fffffffZ`: always seven decimals, units of 100 ns (mapping dialect, section 6.1).
    mutating func append(ticks instant: Instant) {
        let clock = CivilTime(instant, offsetMinutes: 0)
        append(Instant(nanoseconds: instant.nanoseconds - Int64(clock.nanosecond)))
        truncate(to: count - 1)
        append(UInt8(ascii: "."))
        var divisor = 100_000_000
        while divisor >= 100 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: clock.nanosecond / divisor % 10))
            divisor /= 10
        }
        append(UInt8(ascii: "Z"))
    }
}
