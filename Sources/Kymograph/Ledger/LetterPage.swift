import GRDB
package import KymographCore

/// Which dead letters, without their bytes, and how many at most.
package struct LetterQuery: Sendable {
    /// Of this reason; nil for any.
    package var reason: String?
    /// As ``reason``.
    package var kind: String?
    /// As ``reason``.
    package var source: String?
    /// Those that were replayed, too.
    package var withReplayed = false
    /// Only those numbered less; nil for all.
    package var before: Int64?
    /// Most letters.
    package var limit = 100

    /// All that were not replayed.
    package init() {}

    fileprivate var conditions: (sql: String, arguments: StatementArguments) {
        var (conditions, arguments) = (["true"], StatementArguments())
        if !withReplayed { conditions.append("replayed IS NULL") }
        for (column, value) in [("reason", reason), ("kind", kind), ("source", source)] {
            guard let value else { continue }
            conditions.append("\(column) = ?")
            arguments += [value]
        }
        return (conditions.joined(separator: " AND "), arguments)
    }
}

/// Dead letters, the newest first.
package struct LetterPage: Sendable {
    /// One of them, without its bytes.
    package struct Row: Sendable {
        /// As of ``StoredLetter``.
        package var number: Int64
        /// As of ``StoredLetter``.
        package var at: Instant
        /// As of ``StoredLetter``.
        package var kind: String
        /// As of ``StoredLetter``.
        package var reason: String
        /// As of ``StoredLetter``.
        package var source: String
        /// As of ``StoredLetter``.
        package var detail: String
        /// As of ``StoredLetter``.
        package var replayed: Instant?
    }

    /// The letters.
    package var rows: [Row]
    /// How many there are of the query, before or behind this page.
    package var total: Int
    /// Whether there are more behind these.
    package var hasMore: Bool
}

extension StoreReader {
    /// Dead letters of `query`, the newest first.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func letters(_ query: LetterQuery) throws(PipelineError) -> LetterPage {
        try read { db in
            let (sql, arguments) = query.conditions
            let total = try Int.fetchOne(db, sql: "SELECT count(*) FROM dead WHERE \(sql)", arguments: arguments) ?? 0
            let place: StatementArguments = [query.before ?? .max, query.limit + 1]
            let rows = try GRDB.Row.fetchAll(
                db,
                sql: """
                    SELECT number, at, kind, reason, source, detail, replayed FROM dead
                    WHERE \(sql) AND number < ? ORDER BY number DESC LIMIT ?
                    """, arguments: arguments + place
            ).map { row in
                LetterPage.Row(
                    number: row["number"], at: Instant(nanoseconds: row["at"]), kind: row["kind"],
                    reason: row["reason"], source: row["source"], detail: row["detail"],
                    replayed: (row["replayed"] as Int64?).map { Instant(nanoseconds: $0) })
            }
            return LetterPage(
                rows: Array(rows.prefix(query.limit)), total: total, hasMore: rows.count > query.limit)
        }
    }
}
