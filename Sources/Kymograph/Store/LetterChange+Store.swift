import Foundation
import GRDB
import KymographCore

extension LetterChange {
    /// Makes the change within a transaction; gives the rows of the outbox that came of it.
    func apply(_ now: Instant, _ db: Database) throws -> [OutboxRow] {
        switch self {
        case .discard(let numbers):
            for number in numbers { try db.execute(sql: "DELETE FROM dead WHERE number = ?", arguments: [number]) }
            return []
        case .noteReplayed(let numbers):
            for number in numbers { try LetterChange.noteReplayed(number, now, db) }
            return []
        case .deliver(let numbers):
            return try numbers.compactMap { try LetterChange.deliver($0, now, db) }
        }
    }

    /// Why it cannot be made, in a sentence; nil when it can.
    func obstacle(_ db: Database) throws -> String? {
        switch self {
        // What is gone need not be discarded.
        case .discard: return nil
        case .noteReplayed(let numbers): return try LetterChange.obstacle(numbers, db)
        case .deliver(let numbers):
            if let obstacle = try LetterChange.obstacle(numbers, db) { return obstacle }
            for number in numbers {
                if let sink = try LetterChange.absentSink(number, db) {
                    return "no sink is called '\(sink)', which refused what letter \(number) holds: replay it after a "
                        + "run with a sink of that name, or discard it"
                }
                guard try LetterChange.isSuperseded(number, db) else { continue }
                return "a newer version of what letter \(number) holds was delivered or waits: discard the letter"
            }
            return nil
        }
    }

    private static func obstacle(_ numbers: [Int64], _ db: Database) throws -> String? {
        let missing = try numbers.count { number in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM dead WHERE number = ?", arguments: [number]) == 0
        }
        return missing == 0 ? nil : "\(missing) of the letters are no longer in the store: see 'kymo dead list'"
    }

    /// The sink that an entry would go back to, when there is none of that name: nobody would take the row.
    private static func absentSink(_ number: Int64, _ db: Database) throws -> String? {
        try String.fetchOne(
            db,
            sql: """
                SELECT source FROM dead
                WHERE number = ? AND kind = 'entry' AND source NOT IN (SELECT name FROM sink)
                """, arguments: [number])
    }

    /// Whether a later row of the outbox had, or has, the resource of an entry: that must not be replaced by it.
    private static func isSuperseded(_ number: Int64, _ db: Database) throws -> Bool {
        let sql = "SELECT resource, outbox, codec, key_id, checksum, body FROM dead WHERE number = ?"
        guard let letter = try Row.fetchOne(db, sql: sql, arguments: [number]), let row = letter[1] as Int64? else {
            return false
        }
        let receipts = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM receipt WHERE resource = ? AND outbox > ?",
            arguments: [letter[0] as String?, row])
        if receipts ?? 0 > 0 { return true }
        let content = StoredBody.content(codec: letter[2], key: letter[3], checksum: letter[4], bytes: letter[5])
        guard let content, let identifier = identifier(in: content) else { return false }
        let waiting = try Row.fetchCursor(
            db, sql: "SELECT codec, key_id, checksum, body FROM outbox WHERE number > ?", arguments: [row])
        while let row = try waiting.next() {
            let bundle = StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3])
            if let bundle, Data(bundle).range(of: identifier) != nil { return true }
        }
        return false
    }

    /// The identifiers of the last resource of a bundle, as they are written: Patients and Devices come before what
    /// refers to them.
    private static func identifier(in bundle: [UInt8]) -> Data? {
        let data = Data(bundle)
        guard let start = data.range(of: Data("\"identifier\":[".utf8), options: .backwards)?.lowerBound,
            let end = data[start...].firstIndex(of: UInt8(ascii: "]"))
        else { return nil }
        return data[start...end]
    }

    /// Whether the change has been made, or there is nothing to change.
    func isDone(_ db: Database) throws -> Bool {
        let (numbers, open) =
            switch self {
            case .discard(let numbers): (numbers, "true")
            case .noteReplayed(let numbers), .deliver(let numbers): (numbers, "replayed IS NULL")
            }
        let isOpen = try numbers.contains { number in
            let sql = "SELECT count(*) FROM dead WHERE number = ? AND \(open)"
            return try Int.fetchOne(db, sql: sql, arguments: [number]) ?? 0 > 0
        }
        return !isOpen
    }

    private static func noteReplayed(_ number: Int64, _ now: Instant, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE dead SET replayed = ? WHERE number = ?", arguments: [now.nanoseconds, number])
    }

    /// Puts the bundle of an entry into the outbox as it is stored, for the sink that refused it; nil when there is
    /// none that can be read.
    private static func deliver(_ number: Int64, _ now: Instant, _ db: Database) throws -> OutboxRow? {
        let sql = "SELECT codec, key_id, checksum, body, source FROM dead WHERE number = ? AND kind = 'entry'"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [number]) else { return nil }
        let content = StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3])
        guard let content else { return nil }
        let body: Data = row[3]
        try db.execute(
            sql: """
                INSERT INTO outbox (created, size, codec, key_id, checksum, body, sinks)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                now.nanoseconds, content.count, row[0] as Int, row[1] as Int, row[2] as Int64, body, row[4] as String,
            ])
        let place = db.lastInsertedRowID
        // The ledger tells by the row whether it was taken.
        try db.execute(sql: "UPDATE dead SET outbox = ? WHERE number = ?", arguments: [place, number])
        try noteReplayed(number, now, db)
        return OutboxRow(number: place, body: content, sinks: row[4])
    }
}
