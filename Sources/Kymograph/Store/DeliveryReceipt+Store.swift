import GRDB
import KymographCore

/// What a store keeps of what a sink was given.
extension DeliveryReceipt {
    /// The row that the content of an entry was first in: one that holds what a dead letter kept is as old as that.
    static let origin = "coalesce((SELECT origin FROM replay WHERE outbox = ?1), ?1)"

    /// The status as it is stored: of a deletion below zero, because the tables have no column for that.
    private var storedStatus: Int { isDeleted ? -status : status }

    /// What a stored status says.
    static func text(ofStored status: Int) -> String { status < 0 ? "deleted \(-status)" : "\(status)" }

    /// Inserts the receipt, and what it says of the order of versions, which outlives it.
    func insert(sink: String, _ now: Instant, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO receipt (sink, outbox, resource, status, location, version, attempts, at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [sink, row, resource, storedStatus, location, version, attempts, now.nanoseconds])
        try noteLacking(sink, now, db)
        guard !isLacking else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO newer SELECT ?2, ?3, \(DeliveryReceipt.origin) WHERE EXISTS
                    (SELECT 1 FROM dead WHERE resource = ?3 AND kind = 'entry' AND source = ?2)
                ON CONFLICT (sink, resource) DO UPDATE SET origin = max(origin, excluded.origin)
                """
        ).execute(arguments: [row, sink, resource])
    }

    /// Notes that the server lacks this version of the resource, or lacks none any more.
    private func noteLacking(_ sink: String, _ now: Instant, _ db: Database) throws {
        // In a URL the bar is written otherwise than in a condition.
        var resource = resource.replacing("%7C", with: "|")
        // Whose window it is must be seen.
        if !wholeIdentifier.isEmpty { resource += " (\(wholeIdentifier))" }
        let sql =
            isLacking
            ? """
            INSERT INTO lacking VALUES (?2, ?3, \(DeliveryReceipt.origin), ?4)
            ON CONFLICT (sink, resource) DO UPDATE SET origin = excluded.origin, at = excluded.at
                WHERE excluded.origin > origin
            """ : "DELETE FROM lacking WHERE sink = ?2 AND resource = ?3 AND origin <= \(DeliveryReceipt.origin)"
        try db.cachedStatement(sql: sql).execute(
            arguments: isLacking ? [row, sink, resource, now.nanoseconds] : [row, sink, resource])
    }
}
