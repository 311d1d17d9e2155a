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

    /// How many of its letters are not in the store.
    func missing(_ db: Database) throws -> Int {
        let numbers =
            switch self {
            case .noteReplayed(let numbers), .deliver(let numbers): numbers
            // What is gone need not be discarded.
            case .discard: [Int64]()
            }
        return try numbers.count { number in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM dead WHERE number = ?", arguments: [number]) == 0
        }
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

    /// Puts the bundle of an entry into the outbox as it is stored; nil when there is none that can be read.
    private static func deliver(_ number: Int64, _ now: Instant, _ db: Database) throws -> OutboxRow? {
        let sql = "SELECT codec, key_id, checksum, body FROM dead WHERE number = ? AND kind = 'entry'"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [number]) else { return nil }
        let content = StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3])
        guard let content else { return nil }
        let body: Data = row[3]
        try db.execute(
            sql: "INSERT INTO outbox (created, size, codec, key_id, checksum, body) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [now.nanoseconds, content.count, row[0] as Int, row[1] as Int, row[2] as Int64, body])
        let place = db.lastInsertedRowID
        try noteReplayed(number, now, db)
        return OutboxRow(number: place, body: content)
    }
}
