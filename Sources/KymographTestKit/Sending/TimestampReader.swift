import FoundationEssentials
package import KymographCore

/// Finds the recorded time in a line of NDJSON, for replaying.
package struct TimestampReader {
    private let field: String

    /// Looks for the top-level member `field`: RFC 3339 text, or a number of milliseconds since 1970.
    package init(field: String) {
        self.field = field
    }

    /// The time in `line`, or nil when it has none that can be read.
    package func time(in line: [UInt8]) -> Instant? {
        guard let tree = try? JSONTree(parsing: line) else { return nil }
        let reading = tree.elements?.first ?? tree
        switch reading[field] {
        case .string(let text): return Self.instant(text)
        case .number(let digits): return Int64(digits).map { Instant(nanoseconds: $0 &* 1_000_000) }
        case .object, .array, .bool, .null, nil: return nil
        }
    }

    /// The instant that RFC 3339 `text` names, or nil; digits beyond microseconds are dropped.
    package static func instant(_ text: String) -> Instant? {
        let plain = Date.ISO8601FormatStyle()
        let date =
            (try? plain.parse(text)) ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
        return date.map { Instant(nanoseconds: Int64(($0.timeIntervalSince1970 * 1e6).rounded()) * 1000) }
    }
}
