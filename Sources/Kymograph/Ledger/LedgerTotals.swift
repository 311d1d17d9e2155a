import GRDB
import KymographCore

/// What a store has counted, and the sums of its windows.
struct LedgerTotals {
    private(set) var balance = LedgerReport.Balance()
    /// Rejected readings that windows hold all the same.
    private var unwritten = 0

    init(_ db: Database, open: OpenReadings) throws {
        balance.open = open.count
        let rows = try Row.fetchCursor(db, sql: "SELECT outcome, sum(count) FROM tally GROUP BY outcome")
        while let row = try rows.next() { add(row[1], to: row[0]) }
        let windows = try Row.fetchOne(
            db, sql: "SELECT sum(readings), sum(merged), sum(duplicates), sum(conflicts) FROM window")
        if let windows {
            balance.accepted += (windows[0] ?? 0) + (windows[1] ?? 0)
            balance.duplicate += windows[2] ?? 0
            balance.conflict += windows[3] ?? 0
        }
        balance.accepted -= unwritten
        balance.onTheWay = balance.received - balance.accountedFor
    }

    private mutating func add(_ count: Int, to outcome: String) {
        switch outcome {
        case LedgerOutcome.received: balance.received += count
        case LedgerOutcome.kernelDropped: balance.kernelDropped += count
        case LedgerOutcome.unwritten: unwritten += count
        case LedgerOutcome.droppedReadings, LedgerOutcome.droppedMerged: balance.accepted += count
        case LedgerOutcome.droppedDuplicate: balance.duplicate += count
        case LedgerOutcome.droppedConflict: balance.conflict += count
        case _ where LedgerOutcome.gap(outcome, count) != nil: break
        default: balance.rejected[outcome, default: 0] += count
        }
    }
}

extension LedgerReport.Balance {
    /// Readings that have ended somewhere, or are in an open window.
    var accountedFor: Int { accepted + duplicate + conflict + open + rejected.values.reduce(0, +) }

    /// The balance in one line.
    public var text: String {
        var text =
            "received \(received) = accepted \(accepted) + duplicate \(duplicate) + conflict \(conflict) + rejected "
            + "\(rejected.values.reduce(0, +))"
        if open != 0 { text += " + open \(open)" }
        if onTheWay != 0 { text += " + on the way \(onTheWay)" }
        return text
    }
}
