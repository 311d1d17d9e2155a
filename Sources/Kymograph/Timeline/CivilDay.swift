/// A day of the proleptic Gregorian calendar: its number, 0 for 1970-01-01.
///
/// The arithmetic is that of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
struct CivilDay: Hashable, Comparable {
    var number: Int64

    init(_ number: Int64) { self.number = number }

    /// The day `day` of a month, from 1.
    init(year: Int64, month: Int64, day: Int64) {
        // Years start in March, so that leap days come last.
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredQuotient(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func < (left: CivilDay, right: CivilDay) -> Bool { left.number < right.number }

    /// Year, month and day, from 1.
    var parts: (year: Int64, month: Int64, day: Int64) {
        let shifted = number + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// Its Monday: the first day of its week (ISO 8601).
    var monday: CivilDay { CivilDay(number - (number + 3).flooredRemainder(by: 7)) }
}

extension Int64 {
    /// The quotient rounded down, for a positive divisor.
    func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }

    /// What is left behind ``flooredQuotient(by:)``, from 0 up to below the divisor.
    func flooredRemainder(by divisor: Int64) -> Int64 { self - flooredQuotient(by: divisor) * divisor }
}
