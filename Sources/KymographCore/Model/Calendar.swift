/// The proleptic Gregorian calendar, in days since 1970-01-01.
enum Calendar {
    /// Days from 1970-01-01 to the given date; month 1…12, day 1…31, year from -3,999 on.
    ///
    /// Without branches. Years begin in March, so that a leap day is the last of one. After C. Neri and L. Schneider,
    /// "Euclidean affine functions and their application to calendar algorithms" (2022): the days of the months before
    /// are (979 m - 2,919) / 32, with January and February as months 13 and 14.
    @inline(__always)
    static func days(year: Int, month: Int, day: Int) -> Int {
        let isBefore = month <= 2 ? 1 : 0
        // Ten times 400 years later, so that nothing is negative.
        let years = UInt32(truncatingIfNeeded: year &+ 4_000 &- isBefore)
        let centuries = years / 100
        let daysOfYears = Int(years &* 365 &+ years / 4 &- centuries &+ centuries / 4)
        let daysOfMonths = (979 &* (month &+ 12 &* isBefore) &- 2_919) &>> 5
        return daysOfYears &+ daysOfMonths &+ day &- 1 &- (719_468 &+ 10 &* 146_097)
    }

    /// Days in a month, leap years included.
    @inline(__always)
    static func days(inMonth month: Int, year: Int) -> Int {
        // Long and short months take turns, beginning anew in August.
        month == 2 ? (isLeap(year) ? 29 : 28) : 30 &+ (month &+ month &>> 3) & 1
    }

    /// Whether the year has 366 days: each fourth, of whole centuries each fourth.
    @inline(__always)
    private static func isLeap(_ year: Int) -> Bool { year & (year % 100 == 0 ? 15 : 3) == 0 }
}
