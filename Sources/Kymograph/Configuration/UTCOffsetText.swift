/// Offsets from UTC as ISO 8601 writes them: `+01:00`.
public enum UTCOffsetText {
    /// The minutes that `text` says, at most 14 hours; nil when it is something else.
    public static func minutes(of text: String) -> Int16? {
        let digits = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard let sign = text.first, sign == "+" || sign == "-", digits.count == 2,
            digits.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isNumber) }),
            let hours = Int16(digits[0]), let rest = Int16(digits[1]),
            (0...14).contains(hours), (0..<60).contains(rest), hours * 60 + rest <= 840
        else { return nil }
        return (sign == "-" ? -1 : 1) * (hours * 60 + rest)
    }

    /// `minutes` as text.
    static func text(_ minutes: Int16) -> String {
        func two(_ value: Int16) -> String { (value < 10 ? "0" : "") + String(value) }
        return "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
    }
}
