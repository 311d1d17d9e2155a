import FoundationEssentials
import GRDB
import KymographCore

/// Lines of receipts that wait for those who take them: they are committed with what they tell of, and leave when all
/// have them for good.
extension Store {
    /// Has lines wait for `taker`, too, behind those that it has from earlier runs.
    func beginReceipts(for taker: ReceiptTaker) -> ReceiptProgress {
        let taken = read { try Settlement.taken(by: taker, $0) }
        let progress = ReceiptProgress(taker, taken: taken ?? 0)
        begin(receipts: progress)
        return progress
    }

    /// Lines after number `last`, each with its number and its id, at most `most` of them.
    func receiptLines(after last: Int64, most: Int) -> [(number: Int64, line: [UInt8])] {
        let rows = read { db in
            try Row.fetchAll(
                db, sql: "SELECT number, run, line FROM receipt_line WHERE number > ? ORDER BY number LIMIT ?",
                arguments: [last, most])
        }
        return (rows ?? []).map { row in
            let (number, run, line): (Int64, String, Data) = (row[0], row[1], row[2])
            return (number, Array("{\"id\":\"\(run)-\(number)\",".utf8) + line.dropFirst())
        }
    }

    /// Says how many lines were dropped that a taker lacks and that nothing was said of yet: nobody takes any more.
    func tellDroppedReceipts() {
        for progress in receiptProgress {
            let count = progress.takeDropped()
            guard count > 0 else { continue }
            watch.note(
                .warning(
                    "receipts: \(count) that waited for \(progress.taker.name) were dropped, because the store was "
                        + "full or they were too many, and their numbers are missing there"))
        }
    }

    /// Drops the lines that all have at once: nothing else is committed any more.
    func dropTakenReceipts() {
        let takers = receiptProgress
        guard !takers.isEmpty else { return }
        try? pool.write { try Settlement.dropLines(takenBy: takers, $0) }
    }
}

extension Settlement {
    /// Inserts the lines of what has been settled.
    func insertLines(of run: String, _ now: Instant, _ db: Database) throws {
        guard !receipts.isEmpty || !undeliverable.isEmpty else { return }
        let (at, encoder) = (now.text, ReceiptLine.encoder)
        for receipt in receipts {
            var line = ReceiptLine(receipt, sink: sink, at: at)
            if let subject = receipt.subject, subject.eventType == nil {
                try ReceiptWindow(subject.value)?.note(in: &line, row: receipt.row, db)
            }
            // A single reading that is no more is not in the archive, either.
            if receipt.isDeleted { (line.readings, line.first, line.last) = (0, nil, nil) }
            try Settlement.insert(line.json(encoder), of: run, db)
        }
        for entry in undeliverable {
            var line = ReceiptLine(entry, sink: sink, at: at)
            let identity = line.identifier.map { IdentifierText($0.value) }
            try identity.flatMap(ReceiptWindow.init)?.note(in: &line, row: entry.row, db)
            try Settlement.insert(line.json(encoder), of: run, db)
        }
        var finished = ReceiptLine(at: at, sink: sink, outcome: "finished")
        finished.through = through
        try Settlement.insert(finished.json(encoder), of: run, db)
    }

    private static func insert(_ line: [UInt8], of run: String, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT INTO receipt_line (run, line) VALUES (?, ?)").execute(
            arguments: [run, Data(line)])
    }

    /// How many lines wait, at most.
    static func lineCount(_ db: Database) throws -> Int {
        guard let newest = try Int.fetchOne(db, sql: "SELECT max(number) FROM receipt_line"),
            let oldest = try Int.fetchOne(db, sql: "SELECT min(number) FROM receipt_line")
        else { return 0 }
        return newest - oldest + 1
    }

    /// The newest of the oldest lines through number `last` that are more than fit in `bytes`; nil when all fit. Each
    /// counts as the mean of the oldest, and as `atLeast` bytes.
    static func lastLine(
        through last: Int64, beyond bytes: Int, atLeast: Int, _ db: Database
    ) throws -> Int64? {
        guard let oldest = try Int64.fetchOne(db, sql: "SELECT min(number) FROM receipt_line"),
            let newest = try Int64.fetchOne(db, sql: "SELECT max(number) FROM receipt_line"),
            let mean = try Double.fetchOne(
                db,
                sql: "SELECT avg(length(line)) FROM (SELECT line FROM receipt_line ORDER BY number LIMIT 500)")
        else { return nil }
        let through = min(last, newest) - Int64(bytes / max(atLeast, Int(mean)))
        return through >= oldest ? through : nil
    }

    /// Drops the oldest lines through number `last`, at most `most`; gives their numbers.
    static func dropOldestLines(through last: Int64 = .max, _ most: Int, _ db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db,
            sql: """
                DELETE FROM receipt_line WHERE number IN
                    (SELECT number FROM receipt_line WHERE number <= ? ORDER BY number LIMIT ?) RETURNING number
                """, arguments: [last, most])
    }

    /// Drops the lines that all of `takers` have, and notes how far each has come where they are several.
    static func dropLines(takenBy takers: [ReceiptProgress], _ db: Database) throws {
        let taken = takers.map(\.taken)
        if takers.count > 1 {
            for (taker, number) in zip(takers, taken) {
                try db.cachedStatement(
                    sql: """
                        INSERT INTO receipt_taken (taker, number) VALUES (?, ?)
                            ON CONFLICT (taker) DO UPDATE SET number = excluded.number
                        """
                ).execute(arguments: [taker.taker.rawValue, number])
            }
        }
        try db.cachedStatement(sql: "DELETE FROM receipt_line WHERE number <= ?").execute(arguments: [taken.min() ?? 0])
    }

    /// The last line that `taker` had in an earlier run in which others took them, too: those that wait behind it for
    /// the others, it must not get again.
    static func taken(by taker: ReceiptTaker, _ db: Database) throws -> Int64 {
        // Numbers of a store that an earlier program has repaired have begun anew.
        let newest = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'receipt_line'") ?? 0
        let number = try Int64.fetchOne(
            db, sql: "SELECT number FROM receipt_taken WHERE taker = ?", arguments: [taker.rawValue])
        return number.map { $0 <= newest ? $0 : 0 } ?? 0
    }
}
