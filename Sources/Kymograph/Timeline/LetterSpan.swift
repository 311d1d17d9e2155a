import GRDB
import KymographCore

/// Dead letters that came in a span of time. They have no index by time; their numbers follow their times but for
/// moments, so that a search by halves finds where to begin.
struct LetterSpan {
    /// Nanoseconds since the epoch.
    let from: Int64
    let to: Int64

    /// How far numbers may be out of order, in nanoseconds: ten minutes.
    private static let disorder: Int64 = 600_000_000_000

    /// The first `limit` of them.
    func read(_ db: Database, limit: Int) throws -> [StoredLetter] {
        let first = try number(from: from - Self.disorder, db)
        let last = try number(from: to + Self.disorder, db)
        return try Row.fetchAll(
            db,
            // Bodies may be large, and nobody asks for them here.
            sql: """
                SELECT number, at, kind, reason, source, detail, replayed,
                    0 AS codec, 0 AS key_id, 0 AS checksum, x'' AS body
                FROM dead WHERE number >= ? AND number < ? AND at >= ? AND at < ? ORDER BY number LIMIT ?
                """,
            arguments: [first, last, from, to, limit]
        ).map(StoredLetter.init)
    }

    /// Whether letters of the span may have gone already: only the newest are kept.
    func isCut(_ db: Database) throws -> Bool {
        let oldest = try Row.fetchOne(db, sql: "SELECT number, at FROM dead ORDER BY number LIMIT 1")
        return oldest.map { ($0[0] as Int64) > 1 && ($0[1] as Int64) > from } ?? false
    }

    /// The number from which on letters came at `time` or later.
    private func number(from time: Int64, _ db: Database) throws -> Int64 {
        guard let bounds = try Row.fetchOne(db, sql: "SELECT min(number), max(number) FROM dead"),
            var low = bounds[0] as Int64?, let last = bounds[1] as Int64?
        else { return 0 }
        var high = last + 1
        while low < high {
            let middle = low + (high - low) / 2
            let row = try Row.fetchOne(
                db, sql: "SELECT number, at FROM dead WHERE number >= ? ORDER BY number LIMIT 1", arguments: [middle])
            // Numbers that are gone belong to the letter behind them.
            if let row, (row[1] as Int64) < time { low = (row[0] as Int64) + 1 } else { high = middle }
        }
        return low
    }
}
