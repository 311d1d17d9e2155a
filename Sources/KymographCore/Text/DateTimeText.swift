/// Dates and times of FHIR as texts: they are kept as they came, so they are only checked.
///
/// Source: R4 datatypes, "dateTime" and "time".
package enum DateTimeText {
    /// Whether `text` is a dateTime: a year, month or day, or a point in time with its zone.
    package static func isDateTime(_ text: ByteView) -> Bool {
        let count = text.count
        guard count >= 4, let year = number(text, 0, 4), year > 0 else { return false }
        guard count > 4 else { return true }
        guard count >= 7, text[4] == dash, let month = number(text, 5, 2), (1...12).contains(month) else {
            return false
        }
        guard count > 7 else { return true }
        guard count >= 10, text[7] == dash, let day = number(text, 8, 2) else { return false }
        guard (1...days(year, month)).contains(day) else { return false }
        guard count > 10 else { return true }
        guard text[10] == UInt8(ascii: "T"), let end = timeEnd(text, from: 11) else { return false }
        return isZone(text, from: end)
    }

    /// Whether `text` is a time of day; `10:30` counts, for which ``ByteWriter/append(timeOfDay:)`` adds the seconds.
    static func isTime(_ text: ByteView) -> Bool {
        if text.count == 5 { return isMinute(text, from: 0) }
        return timeEnd(text, from: 0) == text.count
    }

    /// Whether `start` is not after `end`; both are dateTimes. Where one of them says less, the other is compared as
    /// far as that goes.
    static func areOrdered(_ start: ByteView, _ end: ByteView) -> Bool {
        if start.count > 10, end.count > 10, let first = instant(start), let last = instant(end) {
            return first <= last
        }
        for index in 0..<min(start.count, end.count, 10) where start[index] != end[index] {
            return start[index] < end[index]
        }
        return true
    }

    private static let dash = UInt8(ascii: "-")
    private static let colon = UInt8(ascii: ":")

    private static func instant(_ text: ByteView) -> Instant? {
        text.withPadding { TimestampParser.iso8601($0)?.instant }
    }

    private static func number(_ text: ByteView, _ start: Int, _ length: Int) -> Int? {
        guard start + length <= text.count else { return nil }
        var value = 0
        for index in start..<(start + length) {
            guard (48...57).contains(text[index]) else { return nil }
            value = value * 10 + Int(text[index] - 48)
        }
        return value
    }

    private static func days(_ year: Int, _ month: Int) -> Int {
        guard month == 2 else { return [4, 6, 9, 11].contains(month) ? 30 : 31 }
        return year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    }

    private static func isMinute(_ text: ByteView, from start: Int) -> Bool {
        guard let hour = number(text, start, 2), hour < 24, text[start + 2] == colon else { return false }
        return number(text, start + 3, 2).map { $0 < 60 } ?? false
    }

    /// Where a time with seconds ends; nil when there is none.
    private static func timeEnd(_ text: ByteView, from start: Int) -> Int? {
        guard start + 8 <= text.count, isMinute(text, from: start), text[start + 5] == colon,
            let second = number(text, start + 6, 2), second <= 60
        else { return nil }
        var end = start + 8
        guard end < text.count, text[end] == UInt8(ascii: ".") else { return end }
        end += 1
        let first = end
        while end < text.count, (48...57).contains(text[end]) { end += 1 }
        return end > first ? end : nil
    }

    private static func isZone(_ text: ByteView, from start: Int) -> Bool {
        guard start < text.count else { return false }
        if text[start] == UInt8(ascii: "Z") { return start + 1 == text.count }
        guard text[start] == UInt8(ascii: "+") || text[start] == dash, start + 6 == text.count,
            text[start + 3] == colon, let hour = number(text, start + 1, 2), let minute = number(text, start + 4, 2)
        else { return false }
        return hour < 14 && minute < 60 || hour == 14 && minute == 0
    }
}

extension ByteWriter {
    /// Writes a time of day, of which ``DateTimeText/isTime(_:)`` holds. FHIR demands seconds, which may be filled with
    /// zeros (R4 datatypes, "time").
    mutating func append(timeOfDay text: ByteView) {
        append(text)
        if text.count == 5 { append(":00") }
    }
}

extension ByteView {
    /// The number that the bytes write as JSON does; nil when they are no number, or one that cannot be kept exactly.
    package var decimal: Decimal64? {
        withPadding { text in
            guard case .number(let number) = DecimalParser.parse(text) else { return nil }
            return number
        }
    }
}
