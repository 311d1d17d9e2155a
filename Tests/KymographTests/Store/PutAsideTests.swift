import GRDB
import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Letters that pauses have put aside, in a store with many.
@Suite struct PutAsideTests {
    private func insert(_ count: Int, _ reason: String, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO dead (at, kind, reason, source, detail, codec, key_id, checksum, body)
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                    SELECT i, 'payload', ?2, 'unix a', 'type heartRate', 0, 0, 0, X'00' FROM n
                """, arguments: [count, reason])
    }

    private func count(_ reason: String, _ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM dead WHERE reason = ?", arguments: [reason]) ?? 0
    }

    /// They are kept beyond the number of others, and push out none of them.
    @Test(arguments: ["typePaused", "sourcePaused"]) func areKept(reason: String) throws {
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let most = StoreRetention.mostLetters
        try store.note([Pause(kind: .type, name: "heartRate", since: Instant(nanoseconds: 0))])
        try store.pool.write { db in
            try insert(10, "noTemplate", db)
            try insert(most + 50, reason, db)
            var retention = StoreRetention(StoreSettings())
            _ = try retention.drop(store, DurableRehearsal.start, db)
            #expect(try count(reason, db) == most + 50 && count("noTemplate", db) == 10)
            // Those that were replayed, and others, go as ever.
            try db.execute(sql: "UPDATE dead SET replayed = 1 WHERE reason = ?", arguments: [reason])
            try insert(20, "noTemplate", db)
            _ = try retention.drop(store, DurableRehearsal.start, db)
            #expect(try count(reason, db) == most - 20 && count("noTemplate", db) == 20)
        }
    }

    /// What nobody can read pushes out nothing that a server has refused, of which as many are kept.
    @Test func refusedEntriesAreKept() throws {
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let most = StoreRetention.mostLetters
        func refuse(_ count: Int, _ db: Database) throws {
            try insert(count, "serverRefused", db)
            let values = "kind = 'entry', resource = 'Observation/' || number"
            try db.execute(sql: "UPDATE dead SET \(values) WHERE reason = 'serverRefused'")
        }
        try store.pool.write { db in
            try refuse(3, db)
            try insert(most + 50, "noTemplate", db)
            var retention = StoreRetention(StoreSettings())
            _ = try retention.drop(store, DurableRehearsal.start, db)
            // As many more of others may be left as there are of these.
            let others = most...(most + 3)
            #expect(try count("serverRefused", db) == 3 && others.contains(count("noTemplate", db)))
            let last = try Int.fetchOne(db, sql: "SELECT max(number) FROM dead") ?? 0
            try refuse(most, db)
            _ = try retention.drop(store, DurableRehearsal.start, db)
            #expect(try count("serverRefused", db) == most && others.contains(count("noTemplate", db)))
            #expect(try Int.fetchOne(db, sql: "SELECT min(number) FROM dead WHERE kind = 'entry'") == last + 1)
        }
    }

    /// What was taken back does not come again by a letter that is older, however old both are.
    @Test func retractionsOutliveOlderLetters() throws {
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let later = DurableRehearsal.start.advanced(by: 2 * store.settings.archiveAge)
        func retractions(_ db: Database) throws -> Int? {
            var retention = StoreRetention(StoreSettings())
            _ = try retention.drop(store, later, db)
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM retraction")
        }
        try store.pool.write { db in
            try insert(1, "patientUnknown", db)
            try db.execute(
                sql: """
                    INSERT INTO retraction (device, type, name, patient, at)
                    VALUES (X'61', 'heartRate', X'62', X'', 1000)
                    """)
            #expect(try retractions(db) == 1)
            try db.execute(sql: "UPDATE dead SET replayed = 1")
            #expect(try retractions(db) == 0)
        }
    }

    /// A full store takes no more of them: nothing is acknowledged then.
    @Test func needRoom() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        var settings = StoreSettings()
        settings.maxBytes = 1 << 16
        let store = try Store(path: scratch.path, settings: settings)
        defer { store.close() }
        store.begin(shards: 1)
        var commit = StoreCommit(store, MappingExchange(set))
        var batch = StoreBatch()
        batch.deadLetters = [
            StoredDeadLetter(
                at: DurableRehearsal.start, kind: .payload, reason: Rejection.typePaused.name, source: "unix a",
                detail: "type heartRate", bytes: [1])
        ]
        let error = #expect(throws: StoreError.self) { try commit.commit(batch, now: DurableRehearsal.start) }
        #expect(error?.kind == .full)
    }
}
