import KymographCore

extension DurationText {
    private static let writtenUnits: [(name: String, nanoseconds: Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000),
    ]

    /// The text that ``parse(_:)`` reads as `nanoseconds`, whole milliseconds and not negative: `5m`, `1h30m`, `0s`.
    static func text(_ nanoseconds: Int64) -> String {
        var rest = nanoseconds
        var text = ""
        for unit in writtenUnits where rest >= unit.nanoseconds {
            text += "\(rest / unit.nanoseconds)\(unit.name)"
            rest %= unit.nanoseconds
        }
        return text.isEmpty ? "0s" : text
    }
}
