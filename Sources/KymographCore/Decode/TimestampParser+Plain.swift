/// The way nearly all devices and gateways write times, read three words at a time: `YYYY-MM-DDThh:mm:ssZ`, with or
/// without milliseconds.
extension TimestampParser {
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// The time that `text` says; nil when it is written differently, or is none.
    @inline(__always)
    static func plain(_ text: ByteView) -> Timestamp? {
        guard text.count == 24 || text.count == 20 else { return nil }
        let isFine = text.count == 24
        // `YYYY-MM-`, `DDThh:mm` and `:ss.mmmZ` less digits zero and the signs between: numbers 0…9, and zeros.
        let date = text.word(at: 0) ^ 0x2D30_302D_3030_3030
        let middle = text.word(at: 8) ^ 0x3030_3A30_3054_3030
        let end = isFine ? text.word(at: 16) ^ 0x5A30_3030_2E30_303A : UInt64(text.half(at: 16)) ^ 0x5A30_303A
        // Adding 0x76 carries a number above 9 into the top bit of its byte, 0x7F one above 0.
        let wrong =
            ((date &+ 0x7F76_767F_7676_7676) | date) | ((middle &+ 0x7676_7F76_767F_7676) | middle)
            | ((end &+ (isFine ? 0x7F76_7676_7F76_767F : 0x7F76_767F)) | end)
        guard wrong & highs == 0 else { return nil }
        let (pairs, times, seconds) = (joined(date), joined(middle), joined(end))
        let (month, day) = (number(pairs, 5), number(times, 0))
        let (hour, minute, second) = (number(times, 3), number(times, 6), number(seconds, 1))
        let year = number(pairs, 0) &* 100 &+ number(pairs, 2)
        guard years.contains(year), month &- 1 < 12, month > 0, hour < 24, minute < 60, second <= 60, day > 0,
            day <= 28 || day <= Calendar.days(inMonth: month, year: year)
        else { return nil }
        let milliseconds = isFine ? number(seconds, 4) &* 10 &+ Int(end >> 48 & 0xFF) : 0
        let minutes = (Calendar.days(year: year, month: month, day: day) &* 24 &+ hour) &* 60 &+ minute
        let instant = (minutes &* 60 &+ second) &* 1_000 &+ milliseconds
        return Timestamp(
            instant: Instant(nanoseconds: Int64(instant) &* 1_000_000),
            form: isFine ? TimeForm(offsetMinutes: UTCOffset.none, digits: 3) : .unknown)
    }

    /// Each byte times ten plus the one behind it: a number of two digits where a pair of digits begins.
    @inline(__always)
    private static func joined(_ digits: UInt64) -> UInt64 { digits &* 10 &+ digits &>> 8 }

    @inline(__always)
    private static func number(_ pairs: UInt64, _ byte: UInt64) -> Int { Int(pairs &>> (byte &* 8) & 0xFF) }
}
