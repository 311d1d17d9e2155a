import FoundationEssentials
import GRDB
import KymographCore

/// What an operator makes of dead letters.
enum LetterChange: Sendable {
    /// They are of no use any more.
    case discard([Int64])
    /// Their bytes were received again.
    case noteReplayed([Int64])
    /// Undeliverable entries go to their sinks again.
    case deliver([Int64])
}

/// Why a dead letter was left as it is.
package struct LetterRefusal: Codable, Sendable {
    /// The letter's number.
    package var letter: Int64
    /// Why, in a sentence.
    package var reason: String

    /// A refusal of letter `number`.
    package init(_ number: Int64, _ reason: String) { (letter, self.reason) = (number, reason) }
}

extension LetterChange {
    /// Makes the change within a transaction; gives the rows of the outbox that came of it.
    func apply(_ now: Instant, _ db: Database) throws -> [OutboxRow] {
        switch self {
        case .discard(let numbers):
            for number in numbers {
                try db.execute(sql: "DELETE FROM dead WHERE number = ?", arguments: [number])
                try LetterContext.forget(number, db)
            }
            try SettledLetters.forgetGone(db)
            return []
        case .noteReplayed(let numbers):
            for number in numbers { try LetterChange.noteReplayed(number, now, db) }
            return []
        case .deliver(let numbers):
            // What is newer may have come since the operator was told that nothing is.
            let refused = Set(try refusals(db).map(\.letter))
            return try numbers.filter { !refused.contains($0) }.compactMap { try EntryLetter($0, db)?.deliver(now, db) }
        }
    }

    /// Why it cannot be made for some letters.
    func refusals(_ db: Database) throws -> [LetterRefusal] {
        switch self {
        // What is gone need not be discarded.
        case .discard: return []
        case .noteReplayed(let numbers): return try numbers.compactMap { try LetterChange.absence($0, db) }
        case .deliver(let numbers):
            return try numbers.compactMap { number in
                if let absence = try LetterChange.absence(number, db) { return absence }
                return try EntryLetter(number, db)?.obstacle(among: numbers, db).map { LetterRefusal(number, $0) }
            }
        }
    }

    /// The change without the letters of `refusals`.
    func without(_ refusals: [LetterRefusal]) -> LetterChange {
        let refused = Set(refusals.map(\.letter))
        switch self {
        case .discard: return self
        case .noteReplayed(let numbers): return .noteReplayed(numbers.filter { !refused.contains($0) })
        case .deliver(let numbers): return .deliver(numbers.filter { !refused.contains($0) })
        }
    }

    private static func absence(_ number: Int64, _ db: Database) throws -> LetterRefusal? {
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM dead WHERE number = ?", arguments: [number])
        return count == 0 ? LetterRefusal(number, "it is no longer in the store: see 'kymo dead list'") : nil
    }

    /// Whether the change has been made, or there is nothing to change.
    func isDone(_ db: Database) throws -> Bool {
        let (numbers, open) =
            switch self {
            case .discard(let numbers): (numbers, "true")
            case .noteReplayed(let numbers), .deliver(let numbers): (numbers, "replayed IS NULL")
            }
        let refused = Set(try refusals(db).map(\.letter))
        let isOpen = try numbers.contains { number in
            if refused.contains(number) { return false }
            let sql = "SELECT count(*) FROM dead WHERE number = ? AND \(open)"
            return try Int.fetchOne(db, sql: sql, arguments: [number]) ?? 0 > 0
        }
        return !isOpen
    }

    static func noteReplayed(_ number: Int64, _ now: Instant, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE dead SET replayed = ? WHERE number = ?", arguments: [now.nanoseconds, number])
    }
}
