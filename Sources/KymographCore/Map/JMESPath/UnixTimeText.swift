/// Unix times as ISO 8601 text.
enum UnixTimeText {
    /// Writes `2021-07-13T17:29:01Z`, with three decimals when there are milliseconds. Years 1 to 9999.
    static func append(seconds: Int, milliseconds: Int, to writer: inout ByteWriter) {
        var days = seconds / 86_400
        var second = seconds % 86_400
        if second < 0 {
            second += 86_400
            days -= 1
        }
        appendDate(days, to: &writer)
        writer.append(UInt8(ascii: "T"))
        writer.appendTwo(second / 3600)
        writer.append(UInt8(ascii: ":"))
        writer.appendTwo(second / 60 % 60)
        writer.append(UInt8(ascii: ":"))
        writer.appendTwo(second % 60)
        if milliseconds > 0 {
            writer.append(UInt8(ascii: "."))
            writer.append(UInt8(ascii: "0") + UInt8(milliseconds / 100))
            writer.appendTwo(milliseconds % 100)
        }
        writer.append(UInt8(ascii: "Z"))
    }

    /// The inverse of ``Calendar/days(year:month:day:)`` (H. Hinnant, `civil_from_days`), from year 1 on.
    private static func appendDate(_ days: Int, to writer: inout ByteWriter) {
        let shifted = days + 719_468
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + shifted / 146_097 * 400 + (month <= 2 ? 1 : 0)
        writer.appendTwo(year / 100)
        writer.appendTwo(year % 100)
        writer.append(UInt8(ascii: "-"))
        writer.appendTwo(month)
        writer.append(UInt8(ascii: "-"))
        writer.appendTwo(dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
