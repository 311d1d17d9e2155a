/// Times as the reference system reads them (mapping dialect, sections 1.1 and 2.4).
enum CompatibleTime {
    /// The time that a text of the payload stands for when the reference's reader takes it for one: 19 to 40
    /// characters, a `T` in the middle, at most seven digits of a fraction. Nil leaves it a text.
    static func sniffed(_ text: ByteView) -> Instant? {
        guard (19...40).contains(text.count), text[0] &- UInt8(ascii: "0") < 10, text[10] == UInt8(ascii: "T"),
            text[16] == UInt8(ascii: ":"), fractionDigits(text) <= 7
        else { return nil }
        return TimestampParser.iso8601(text)?.instant
    }

    private static func fractionDigits(_ text: ByteView) -> Int {
        guard text.count > 19, text[19] == UInt8(ascii: ".") else { return 0 }
        var index = 20
        while index < text.count, text[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index - 20
    }

    /// Reads the time of a timestamp expression: ISO 8601, and of the further forms that the reference's general parse
    /// takes those that devices send: a date alone, `yyyy/MM/dd` and `MM/dd/yyyy` with or without a time of day, and
    /// the dates of HTTP (`Tue, 02 Jan 2024 03:04:05 GMT`).
    static func parse(_ text: ByteView) -> Timestamp? {
        if let time = TimestampParser.iso8601(text) { return time }
        let words = text.string.split(separator: " ").map(String.init)
        if words.count == 6, words[0].hasSuffix(",") { return httpDate(words) }
        guard let first = words.first, words.count <= 3, let day = isoDay(first) else { return nil }
        return compose(day: day, clock: words.count > 1 ? words[1] : "00:00", half: words.count > 2 ? words[2] : nil)
    }

    /// `yyyy-MM-dd` of a date in one of the three orders.
    private static func isoDay(_ text: String) -> String? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "-" }.map(String.init)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }) else { return nil }
        if parts[0].count == 4 { return "\(parts[0])-\(padded(parts[1]))-\(padded(parts[2]))" }
        return parts[2].count == 4 ? "\(parts[2])-\(padded(parts[0]))-\(padded(parts[1]))" : nil
    }

    private static func padded(_ digits: String) -> String { digits.count == 1 ? "0\(digits)" : digits }

    private static func compose(day: String, clock: String, half: String?) -> Timestamp? {
        var parts = clock.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let hour = Int(parts[0]) else { return nil }
        switch half?.uppercased() {
        case nil: break
        case "AM" where (1...12).contains(hour): parts[0] = "\(hour % 12)"
        case "PM" where (1...12).contains(hour): parts[0] = "\(hour % 12 + 12)"
        default: return nil
        }
        parts[0] = padded(parts[0])
        return iso("\(day)T\(parts.joined(separator: ":"))")
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func httpDate(_ words: [String]) -> Timestamp? {
        guard words[5] == "GMT", let month = months.firstIndex(of: words[2]) else { return nil }
        return iso("\(words[3])-\(padded("\(month + 1)"))-\(padded(words[1]))T\(words[4])Z")
    }

    private static func iso(_ text: String) -> Timestamp? {
        let storage = PaddedBytes(copying: text.utf8)
        return TimestampParser.iso8601(storage.view)
    }
}

extension Character {
    /// Whether the character is one of 0 to 9.
    var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
