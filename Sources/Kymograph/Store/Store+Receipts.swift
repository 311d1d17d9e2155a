import FoundationEssentials
import GRDB
import KymographCore

/// Lines of receipts that wait for their files: they are committed with what they tell of, and leave when the files
/// have them for good.
extension Store {
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

    /// Drops the lines through number `last` at once: nothing else is committed any more.
    func dropReceiptLines(through last: Int64) {
        try? pool.write { try Settlement.dropLines(through: last, $0) }
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

    /// Drops the oldest lines, at most `most`; gives how many.
    static func dropOldestLines(_ most: Int, _ db: Database) throws -> Int {
        try db.execute(
            sql: "DELETE FROM receipt_line WHERE number IN (SELECT number FROM receipt_line ORDER BY number LIMIT ?)",
            arguments: [most])
        return db.changesCount
    }

    /// Drops the lines that files have.
    static func dropLines(through last: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM receipt_line WHERE number <= ?").execute(arguments: [last])
    }
}
