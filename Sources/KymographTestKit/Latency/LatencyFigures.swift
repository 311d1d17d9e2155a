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
                let tenths = (nanoseconds(within: percent) + 50) / 100
                return "\(tenths / 10).\(tenths % 10)"
            })
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        func spaces(_ width: Int, _ text: String) -> String {
            String(repeating: " ", count: max(1, width - text.count))
        }
        return cells.reduce(name + spaces(16, name)) { $0 + spaces(12, $1) + $1 }
    }
}
