import Histogram

/// How long something took, many times: percentiles of an HdrHistogram with three significant digits.
package struct LatencyFigures: Sendable {
    private var histogram = Histogram<UInt64>(highestTrackableValue: 3_600_000_000_000)

    /// Nothing yet.
    package init() {}

    /// Notes `nanoseconds`, at most an hour; less than nothing counts as nothing.
    package mutating func record(_ nanoseconds: Int64) {
        histogram.record(UInt64(min(max(nanoseconds, 0), 3_600_000_000_000)))
    }

    /// How many were noted.
    package var count: Int { Int(histogram.totalCount) }

    /// The nanoseconds within which `percent` of them were; 0 when there are none.
    package func nanoseconds(within percent: Double) -> Int64 {
        count == 0 ? 0 : Int64(percent < 100 ? histogram.valueAtPercentile(percent) : histogram.max)
    }

    /// The percentiles that ``row(_:)`` shows.
    package static let percents: [Double] = [50, 90, 99, 99.9, 100]
    /// The line above rows.
    package static let header = row("microseconds", ["p50", "p90", "p99", "p99.9", "max"])

    /// The percentiles in microseconds, under ``header``.
    package func row(_ name: String) -> String {
        Self.row(
            name,
            Self.percents.map { percent in
                let tenths = tenths(within: percent)
                return "\(tenths / 10).\(tenths % 10)"
            })
    }

    /// Tenths of a microsecond: as exact as what is shown.
    private func tenths(within percent: Double) -> Int64 { (nanoseconds(within: percent) + 50) / 100 }

    private static func row(_ name: String, _ cells: [String]) -> String {
        func spaces(_ width: Int, _ text: String) -> String {
            String(repeating: " ", count: max(1, width - text.count))
        }
        return cells.reduce(name + spaces(16, name)) { $0 + spaces(12, $1) + $1 }
    }
}

extension LatencyFigures: Encodable {
    private enum CodingKeys: String, CodingKey {
        case p50, p90, p99
        case p999 = "p99.9"
        case max
    }

    /// The percentiles in microseconds.
    ///
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        for (key, percent) in zip([CodingKeys.p50, .p90, .p99, .p999, .max], Self.percents) {
            try members.encode(Double(tenths(within: percent)) / 10, forKey: key)
        }
    }
}
