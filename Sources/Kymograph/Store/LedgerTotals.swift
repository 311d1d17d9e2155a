import GRDB
import KymographCore

/// What a store has counted, and the sums of its windows.
struct LedgerTotals {
    private(set) var balance = LedgerBalance()
    /// Readings that a commit has made durable, as far as anybody knows: what is not there any more is lost.
    private(set) var kept = 0
    /// Readings that sources gave, by the counts of each source.
    private(set) var counted = 0
    /// What the database itself says that it has taken.
    let stored: StoreCounts?
    /// Rejected readings that windows hold all the same.
    private var unwritten = 0
    /// Readings that count as superseded, and are not any more.
    private var unreplaced = 0
    /// Readings that count as retracted, and are not any more.
    private var unretracted = 0

    /// Reads `db`, and what `open` has of its journal. `mark` is what was noted outside of it, before it was read.
    init(_ db: Database, open: OpenReadings, mark: StoreCounts? = nil) throws {
        stored = try StoreCounts.read(db)
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
        let superseded = Rejection.superseded.name
        if let count = balance.rejected[superseded] { balance.rejected[superseded] = max(0, count - unreplaced) }
        let retracted = Rejection.retracted.name
        if let count = balance.rejected[retracted] { balance.rejected[retracted] = max(0, count - unretracted) }
        // Their windows may be lost, and nothing else is to be taken from.
        balance.accepted = max(0, balance.accepted - unwritten)
        // More have left archived windows than are new: the archive has them still.
        balance.accepted = max(0, balance.accepted + min(0, balance.open))
        balance.open = max(0, balance.open)
        settle(mark, try LostReadings(db))
    }

    /// What was lost, and what is on its way, by the store's counters alone; nothing else is counted.
    static func lost(_ db: Database, mark: StoreCounts?) throws -> LedgerBalance {
        var balance = LedgerBalance()
        let (lost, stored) = (try LostReadings(db), try StoreCounts.read(db))
        (balance.lost, balance.isLostAtLeast) = (lost.count, lost.isAtLeast)
        guard let stored else { return balance }
        let kept = max(stored.kept, mark?.kept ?? 0)
        // What the next start will find to be missing.
        balance.lost += kept - stored.kept
        balance.onTheWay = max(0, max(stored.received, mark?.received ?? 0) - kept)
        return balance
    }

    /// Reads the journal of `db`, too.
    init(_ db: Database) throws {
        try self.init(db, open: OpenReadings(db, types: StoredTypes.types(db)))
    }

    /// Says what is lost: no count is below zero, whatever is damaged.
    private mutating func settle(_ mark: StoreCounts?, _ noted: LostReadings) {
        let known = [stored, mark].compactMap { $0 }
        counted = balance.received
        kept = known.map(\.kept).reduce(balance.accountedFor, max)
        balance.received = known.map(\.received).reduce(max(counted, kept), max)
        balance.lost = kept - balance.accountedFor
        balance.isLostAtLeast = noted.isAtLeast
        balance.onTheWay = balance.received - kept
    }

    private mutating func add(_ count: Int, to outcome: String) {
        switch outcome {
        case LedgerOutcome.received: balance.received += count
        case LedgerOutcome.kernelDropped: balance.kernelDropped += count
        case LedgerOutcome.unwritten: unwritten += count
        case LedgerOutcome.unreplaced: unreplaced += count
        case LedgerOutcome.unretracted: unretracted += count
        case LedgerOutcome.retractions: balance.retractions += count
        case LedgerOutcome.droppedReadings, LedgerOutcome.droppedMerged: balance.accepted += count
        case LedgerOutcome.droppedDuplicate: balance.duplicate += count
        case LedgerOutcome.droppedConflict: balance.conflict += count
        case _ where LedgerOutcome.gap(outcome, count) != nil: break
        default: balance.rejected[outcome, default: 0] += count
        }
    }
}
