import FoundationEssentials
import GRDB
import KymographCore

extension StoreReader {
    /// Recomputes the ledger from the archived blocks, the journal and the receipts; gives every difference from what
    /// the store has counted. `progress` is called with the part of the windows that is done.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func verifyLedger(
        isRunning: Bool, progress: (Double) -> Void
    ) throws(PipelineError) -> LedgerVerification {
        let mark = StoreMark.read(in: directory)
        return try read { db in
            var verification = LedgerVerification()
            try verification.checkWindows(db, progress: progress)
            try verification.checkBalance(db, mark, isRunning: isRunning)
            try verification.checkLetters(db)
            try verification.checkDelivery(db)
            return verification
        }
    }
}

/// What became of recomputing a ledger.
package struct LedgerVerification: Sendable {
    /// Windows that were decoded.
    package private(set) var windows = 0
    /// Readings of these windows.
    package private(set) var readings = 0
    /// What does not agree.
    package private(set) var differences: [String] = []

    init() {}

    mutating func checkWindows(_ db: Database, progress: (Double) -> Void) throws {
        let total = try Int.fetchOne(db, sql: "SELECT count(*) FROM window") ?? 0
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(ArchivedWindow.columns) FROM window JOIN series ON series.number = window.series
                ORDER BY window.number
                """)
        while let row = try rows.next() {
            check(ArchivedWindow(row))
            progress(Double(windows) / Double(max(total, 1)))
        }
        if windows != total {
            let unknown = CountText.of(total - windows, one: "window is", many: "windows are")
            differences.append("\(unknown) of no known series")
        }
    }

    private mutating func check(_ window: ArchivedWindow) {
        windows += 1
        var bySource: [Int: Int] = [:]
        var (first, last) = (Instant.distantFuture, Instant.distantPast)
        let isWhole = window.forEachReading { reading, _ in
            bySource[ReadingSource.number(reading.mark), default: 0] += 1
            (first, last) = (min(first, reading.instant), max(last, reading.instant))
        }
        let device = String(decoding: window.series.device, as: UTF8.self)
        let name = "the window of \(device), series \(window.seriesNumber), at \(window.start.text)"
        guard isWhole else { return differences.append("\(name) is damaged") }
        let count = bySource.values.reduce(0, +)
        readings += count
        if count != window.readings {
            differences.append("\(name) has \(CountText.of(count, "reading")), and the store counts \(window.readings)")
        }
        let counted = Dictionary(window.sources.map { ($0.source, $0.count) }) { $0 + $1 }
        if counted != bySource { differences.append("\(name): the counts by source are not those of its readings") }
        if count > 0, first != window.first || last != window.last {
            differences.append("\(name): its first and last times are not those of its readings")
        }
        if min(window.merged, window.duplicates, window.conflicts) < 0 {
            differences.append("\(name) has a count below zero")
        }
    }

    /// The balance: what was received, against what windows, journal and rejections hold.
    mutating func checkBalance(_ db: Database, _ mark: StoreCounts?, isRunning: Bool) throws {
        let open = try OpenReadings(db, types: try StoredTypes.types(db))
        for block in open.wrongBlocks { differences.append("block \(block) of the journal is not what it says") }
        let totals = try LedgerTotals(db, open: open, mark: mark)
        let balance = totals.balance
        let mayBeMore = try isRunning || !InterruptedRuns(db, isRunning: isRunning).began.isEmpty
        if balance.onTheWay > 0 && !mayBeMore {
            differences.append("the balance is open by \(balance.onTheWay): \(balance.text)")
        }
        if balance.lost > 0 || balance.isLostAtLeast {
            let text = LostReadings.text(balance.lost, isAtLeast: balance.isLostAtLeast)
            differences.append("\(text) that were acknowledged are not there any more: \(balance.text)")
        }
        if let stored = totals.stored { check(stored, totals) }
        let negative = try Int.fetchOne(db, sql: "SELECT count(*) FROM tally WHERE count < 0") ?? 0
        guard negative > 0 else { return }
        differences.append("\(CountText.of(negative, one: "count is", many: "counts are")) below zero")
    }

    /// What the store says that it has taken, against what it holds.
    private mutating func check(_ stored: StoreCounts, _ totals: LedgerTotals) {
        if totals.balance.accountedFor > stored.kept {
            let readings = CountText.of(totals.balance.accountedFor, "reading")
            differences.append("the store has \(readings), and has taken \(stored.kept)")
        }
        if totals.counted != stored.received {
            let readings = CountText.of(totals.counted, "reading")
            differences.append(
                "the counts of the sources give \(readings), and the store has received \(stored.received)")
        }
    }

    /// Every dead letter of a reading was counted as rejected.
    mutating func checkLetters(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT reason, count(*), (SELECT coalesce(sum(count), 0) FROM tally WHERE outcome = reason) AS counted
                FROM dead WHERE kind <> 'entry' GROUP BY reason
                """)
        for row in rows where row[1] as Int > row[2] as Int {
            differences.append(
                "for the reason \(row[0] as String) the store has \(CountText.of(row[1], "dead letter")), and counts "
                    + CountText.of(row[2], "rejection"))
        }
        let wrong = try SettledLetters.wrongRows(db)
        if wrong > 0 {
            differences.append(
                CountText.of(
                    wrong, one: "count of replayed letters is not that of rejections",
                    many: "counts of replayed letters are not those of rejections"))
        }
    }

    /// Receipts are of rows that the sink has settled, and windows left with rows that there were.
    mutating func checkDelivery(_ db: Database) throws {
        let early = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM receipt LEFT JOIN sink ON sink.name = receipt.sink
                WHERE coalesce(receipt.outbox > sink.through, receipt.sink NOT IN (SELECT name FROM former_sink))
                """)
        if let early, early > 0 {
            differences.append(
                CountText.of(
                    early, one: "receipt is of a bundle that no sink has settled",
                    many: "receipts are of bundles that no sink has settled"))
        }
        let unknown = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM window WHERE outbox >
                    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0)
                """)
        if let unknown, unknown > 0 {
            differences.append(
                CountText.of(
                    unknown, one: "window names a bundle that never was",
                    many: "windows name bundles that never were"))
        }
        differences += try LackingResources(db).sentences
    }
}
