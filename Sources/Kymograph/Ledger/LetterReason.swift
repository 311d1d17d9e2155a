import GRDB
package import KymographCore

/// Dead letters of one kind and reason.
package struct LetterReason: Sendable {
    /// As of ``StoredLetter/reason``.
    package var reason: String
    /// As of ``StoredLetter/kind``.
    package var kind: String
    /// Letters that were not sent again.
    package var count: Int
    /// Letters that were.
    package var replayed: Int
    /// When the newest was received, or refused by a server.
    package var newest: Instant
}

extension StoreReader {
    /// The dead letters by reason, the most frequent first.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func letterReasons() throws(PipelineError) -> [LetterReason] {
        try read { db in
            let sql = """
                SELECT reason, kind, count(*) - count(replayed) AS waiting, count(replayed) AS replayed,
                    max(at) AS newest
                FROM dead GROUP BY reason, kind ORDER BY waiting DESC, reason, kind
                """
            return try Row.fetchAll(db, sql: sql).map { row in
                LetterReason(
                    reason: row["reason"], kind: row["kind"], count: row["waiting"], replayed: row["replayed"],
                    newest: Instant(nanoseconds: row["newest"]))
            }
        }
    }
}
