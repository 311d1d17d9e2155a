/// Times as the reference system reads them (mapping dialect, sections 1.1 and 2.4).
enum CompatibleTime {
    /// The time that a text of the payload stands for when the reference's reader takes it for one; nil leaves it a
    /// text.
    ///
    /// Taken are `/Date(milliseconds)/`, also with an offset, and of ISO 8601 what has 19 to 40 characters, a `T` in
    /// the middle, no blank, seconds below 60 and at most seven digits of a fraction behind a point. `T24:00:00` is
    /// the midnight at the end of the day.
    static func sniffed(_ text: ByteView) -> Timestamp? {
        // Nearly all: it has all that is asked for below but a second below 60.
        if let usual = TimestampParser.plain(text), text[17] < UInt8(ascii: "6") { return usual }
        if text.count >= 9, text[0] == UInt8(ascii: "/") { return milliseconds(text.string) }
        guard (19...40).contains(text.count), text[0] &- UInt8(ascii: "0") < 10, text[10] == UInt8(ascii: "T"),
            text[16] == UInt8(ascii: ":"), text[17] < UInt8(ascii: "6"), hasStrictFraction(text)
        else { return nil }
        return text[11] == UInt8(ascii: "2") && text[12] == UInt8(ascii: "4")
            ? midnight(text.string) : TimestampParser.iso8601(text)
    }

    /// Whether what follows the seconds is a fraction that the reference's reader takes, or none, and no blank.
    private static func hasStrictFraction(_ text: ByteView) -> Bool {
        guard text.count > 19 else { return true }
        let blank = UInt8(ascii: " ")
        guard text[19] == UInt8(ascii: ".") else { return text[19] != UInt8(ascii: ",") && text[19] != blank }
        var index = 20
        while index < text.count, text[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index - 20 <= 7 && (index == text.count || text[index] != blank)
    }

    /// `T24:00:00` without a fraction that says more.
    private static func midnight(_ text: String) -> Timestamp? {
        let clock = text.dropFirst(11).prefix { $0.isASCIIDigit || $0 == ":" || $0 == "." }
        guard clock.hasPrefix("24:00:00"), clock.dropFirst(8).allSatisfy({ $0 == "." || $0 == "0" }) else { return nil }
        guard var time = iso(text.prefix(11) + "00" + text.dropFirst(13)) else { return nil }
        let (end, overflow) = time.instant.nanoseconds.addingReportingOverflow(86_400_000_000_000)
        time.instant = Instant(nanoseconds: end)
        return overflow ? nil : time
    }

    /// `/Date(…)/` with milliseconds since 1970, and behind them the offset, which does not move the instant.
    private static func milliseconds(_ text: String) -> Timestamp? {
        guard text.hasPrefix("/Date("), text.hasSuffix(")/") else { return nil }
        let content = text.dropFirst(6).dropLast(2)
        let sign = content.dropFirst().firstIndex { $0 == "+" || $0 == "-" } ?? content.endIndex
        guard let count = Int64(content[..<sign]) else { return nil }
        let (nanoseconds, overflow) = count.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow, sign < content.endIndex else {
            return overflow ? nil : Timestamp(instant: Instant(nanoseconds: nanoseconds), form: .unknown)
        }
        // Any day serves to read the offset.
        guard let offset = iso("1970-01-01T00:00:00\(content[sign...])")?.offsetMinutes else { return nil }
        return Timestamp(instant: Instant(nanoseconds: nanoseconds), form: TimeForm(offsetMinutes: offset))
    }

    /// Reads the time of a timestamp expression: what ``sniffed(_:)`` takes, ISO 8601, and of the further forms that
    /// the reference's general parse takes those that devices send.
    ///
    /// They are a date (`yyyy-MM-dd`, `yyyy/MM/dd`, `MM/dd/yyyy`, `2 Jan 2024`, `Jan 2, 2024`), alone or before a time
    /// of day, which may have `AM` or `PM` and an offset, `Z` or `GMT` behind it; and the same behind a day of the
    /// week, as in HTTP (`Tue, 02 Jan 2024 03:04:05 GMT`).
    static func parse(_ text: ByteView) -> Timestamp? {
        if let time = sniffed(text) ?? TimestampParser.iso8601(text) { return time }
        var words = text.string.split(separator: " ").map(String.init)
        if words.count > 1, isDayOfWeek(words[0]) { words.removeFirst() }
        guard let day = takeDay(&words) else { return nil }
        let zone = takeZone(&words)
        guard words.count <= 2, zone.isEmpty || !words.isEmpty else { return nil }
        let half = words.count > 1 ? words[1] : nil
        return compose(day: day, clock: words.first ?? "00:00", half: half, zone: zone)
    }

    private static let daysOfWeek = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    private static func isDayOfWeek(_ word: String) -> Bool {
        word.hasSuffix(",") && daysOfWeek.contains { word.lowercased().hasPrefix($0) }
    }

    // MARK: Dates

    /// Takes the words of the date off the front, and gives it as `yyyy-MM-dd`.
    private static func takeDay(_ words: inout [String]) -> String? {
        guard let first = words.first else { return nil }
        if let day = writtenDay(Array(words.prefix(3))) {
            words.removeFirst(3)
            return day
        }
        words.removeFirst()
        let parts = first.split(separator: "T", maxSplits: 1).map(String.init)
        if parts.count > 1 { words.insert(parts[1], at: 0) }
        return isoDay(parts.first ?? first)
    }

    /// The day of a date with the month's name, before or behind the day.
    private static func writtenDay(_ words: [String]) -> String? {
        guard words.count == 3 else { return nil }
        let nameFirst = month(words[0]) != nil
        guard let month = month(words[nameFirst ? 0 : 1]) else { return nil }
        var day = words[nameFirst ? 1 : 0]
        if nameFirst, day.hasSuffix(",") { day.removeLast() }
        let isNumeric = (day + words[2]).allSatisfy(\.isASCIIDigit)
        guard isNumeric, (1...2).contains(day.count), words[2].count == 4 else { return nil }
        return "\(words[2])-\(padded("\(month)"))-\(padded(day))"
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    /// The month from 1, of its name or the first three letters of it.
    private static func month(_ word: String) -> Int? {
        let name = word.lowercased()
        return months.firstIndex { $0 == name || $0.prefix(3) == name }.map { $0 + 1 }
    }

    /// `yyyy-MM-dd` of a date in one of the three orders.
    private static func isoDay(_ text: String) -> String? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "-" }.map(String.init)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }) else { return nil }
        if parts[0].count == 4 { return "\(parts[0])-\(padded(parts[1]))-\(padded(parts[2]))" }
        return parts[2].count == 4 ? "\(parts[2])-\(padded(parts[0]))-\(padded(parts[1]))" : nil
    }

    private static func padded(_ digits: String) -> String { digits.count == 1 ? "0\(digits)" : digits }

    // MARK: Times of day

    /// Takes the zone off the end: an offset, `Z`, or nothing.
    private static func takeZone(_ words: inout [String]) -> String {
        guard let last = words.last else { return "" }
        let isOffset = last.hasPrefix("+") || last.hasPrefix("-")
        guard isOffset || last == "GMT" || last == "Z" else { return "" }
        words.removeLast()
        return isOffset ? last : "Z"
    }

    private static func compose(day: String, clock: String, half: String?, zone: String) -> Timestamp? {
        var parts = clock.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let hour = Int(parts[0]) else { return nil }
        switch half?.uppercased() {
        case nil: break
        case "AM" where (1...12).contains(hour): parts[0] = "\(hour % 12)"
        case "PM" where (1...12).contains(hour): parts[0] = "\(hour % 12 + 12)"
        default: return nil
        }
        parts[0] = padded(parts[0])
        return iso("\(day)T\(parts.joined(separator: ":"))\(zone)")
    }

    private static func iso(_ text: some StringProtocol) -> Timestamp? {
        let storage = PaddedBytes(copying: text.utf8)
        return TimestampParser.iso8601(storage.view)
    }
}

extension Character {
    /// Whether the character is one of 0 to 9.
    var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
