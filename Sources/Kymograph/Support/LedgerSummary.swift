import KymographCore

/// A ledger without devices, patients and windows: what may leave the house.
package struct LedgerSummary: Encodable, Sendable {
    /// Readings of all series of one type.
    package struct TypeTotals: Encodable, Sendable {
        package var type: String
        package var series = 0
        package var windows = 0
        package var readings = 0
        package var duplicate = 0
        package var open = 0
        package var rejected = 0
        /// Readings of windows that the archive has dropped.
        package var dropped = 0
    }

    package var balance: LedgerBalance
    package var sources: [LedgerReport.Source]
    /// In the order of their names.
    package var types: [TypeTotals]
    /// Numbers that devices gave and that never came.
    package var missingNumbers: Int
    /// Frames of bridges that never came.
    package var missingFrames: Int
    /// Resources of which a server lacks the latest version.
    package var lacking: Int
    package var superseded: Int
    /// Values that Observations lack, by reason; nil when no instance runs.
    package var unwrittenValues: [String: Int]?
    package var isComplete: Bool

    /// The sums of `report`.
    package init(_ report: LedgerReport) {
        (balance, sources) = (report.balance, report.sources)
        let names = report.series.map(\.type).sorted()
        types = names.indices.filter { $0 == 0 || names[$0 - 1] != names[$0] }.map { TypeTotals(type: names[$0]) }
        missingNumbers = report.sequenceGaps.reduce(0) { $0 + $1.missing }
        missingFrames = report.missingFrames.reduce(0) { $0 + $1.missing }
        lacking = report.lacking.values.reduce(0) { $0 + $1.count }
        (superseded, isComplete) = (report.superseded, report.isComplete)
        unwrittenValues = report.unwrittenValues
        for series in report.series { add(series) }
    }

    private mutating func add(_ series: LedgerReport.Series) {
        guard let place = types.firstIndex(where: { $0.type == series.type }) else { return }
        types[place].series += 1
        types[place].windows += series.windows
        types[place].readings += series.readings
        types[place].duplicate += series.duplicate
        types[place].open += series.open
        types[place].rejected += series.rejected.values.reduce(0, +)
        types[place].dropped += series.dropped
    }
}
