/// A line of the table: a stage beside its twin, both as measured in turns.
struct StageRow {
    let stage: String
    let twin: String
    let promise: Promise
    /// Nanoseconds by turn.
    let ours: [Double]
    let theirs: [Double]

    /// Median time of the stage.
    var time: Double { Race.median(ours) }
    /// Median time of the twin.
    var twinTime: Double { Race.median(theirs) }
    /// Median of the ratios of each turn: what disturbs a turn disturbs both.
    var times: Double { Race.median(zip(ours, theirs).map { $0 / $1 }) }
    /// Whether the promise is kept; nil when there is none.
    var isKept: Bool? { promise.isKept(time, times: times) }

    private static let widths = [46, 40, 9, 9, 7, 21]

    /// The head of the table.
    static var head: String { line(["stage", "beside", "ns", "ns beside", "times", "promised", ""]) }

    /// The row as text.
    var text: String {
        let verdict = isKept.map { $0 ? "kept" : "MISSED" } ?? ""
        return StageRow.line([
            stage, twin, rounded(time, 1), rounded(twinTime, 1), rounded(times, 2), promise.words, verdict,
        ])
    }

    /// Words to the left and numbers to the right of their columns.
    private static func line(_ cells: [String]) -> String {
        zip(cells, widths + [0]).enumerated().map { column, cell in
            let blanks = String(repeating: " ", count: max(cell.1 - cell.0.count, 0))
            return (2...4).contains(column) ? blanks + cell.0 : cell.0 + blanks
        }.joined(separator: "  ")
    }
}
