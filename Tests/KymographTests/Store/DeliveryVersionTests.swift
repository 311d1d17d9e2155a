import GRDB
import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// The order of versions of a resource, whatever becomes of receipts.
@Suite struct DeliveryVersionTests {
    private static let name = "Observation/a-1"
    private static let refused = UndeliverableEntry(
        row: 1, resource: name, reason: .serverRefused, detail: "422",
        bytes: FormerBundle.block(of: Array(TestRow.transaction([TestRow.Reading("a", 1, 10)]).utf8)) ?? [],
        attempts: 1)

    private static func receipt(
        _ row: Int64, of resource: String = name, isLacking: Bool = false
    ) -> DeliveryReceipt {
        DeliveryReceipt(
            row: row, resource: resource, status: 200, location: "", version: "", attempts: 1, isLacking: isLacking)
    }

    private func commit(_ store: Store, _ set: MappingSet, _ settlements: [Settlement]) throws {
        var commit = StoreCommit(store, MappingExchange(set))
        var batch = StoreBatch()
        batch.settlements = settlements
        try commit.commit(batch, now: DurableRehearsal.start)
    }

    private func withStore(_ body: (Store, MappingSet) throws -> Void) throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        try body(store, set)
    }

    /// What was newer than a letter is, after its receipt has made room for others, too: the letter's old version
    /// replaced it then.
    @Test(arguments: [false, true]) func aTrimmedReceiptStillCounts(isTogether: Bool) throws {
        try withStore { store, set in
            let first = Settlement(sink: "server", through: 1, receipts: [], undeliverable: [Self.refused])
            let second = Settlement(sink: "server", through: 2, receipts: [Self.receipt(2)], undeliverable: [])
            if isTogether {
                let both = Settlement(
                    sink: "server", through: 2, receipts: [Self.receipt(2)], undeliverable: [Self.refused])
                try commit(store, set, [both])
            } else {
                try commit(store, set, [first, second])
            }
            try store.pool.write { db in
                try db.execute(sql: "DELETE FROM receipt")
                let refusals = try LetterChange.deliver([1]).refusals(db)
                #expect(refusals.map(\.letter) == [1] && refusals[0].reason.contains("newer version"), "\(refusals)")
                // Nobody asked: it stays all the same.
                let rows = try LetterChange.deliver([1]).apply(DurableRehearsal.start, db)
                #expect(rows.isEmpty)
            }
        }
    }

    /// Receipts of a run with another `output.write` call the same resource otherwise.
    @Test(arguments: ["|", "%7C"]) func anotherWayOfWriting(bar: String) throws {
        try withStore { store, set in
            let other = Self.receipt(2, of: "Observation?identifier=urn:kymograph:observation\(bar).a-1")
            try commit(
                store, set,
                [Settlement(sink: "server", through: 2, receipts: [other], undeliverable: [Self.refused])])
            try store.pool.write { db in
                let refusals = try LetterChange.deliver([1]).refusals(db)
                #expect(refusals.map(\.letter) == [1] && refusals[0].reason.contains("newer version"), "\(refusals)")
            }
        }
    }

    /// What a server was given before is older: the letter goes back.
    @Test func anOlderReceiptIsInNobodysWay() throws {
        try withStore { store, set in
            try commit(
                store, set,
                [Settlement(sink: "server", through: 1, receipts: [Self.receipt(0)], undeliverable: [Self.refused])])
            try store.pool.write { db in
                let rows = try LetterChange.deliver([1]).apply(DurableRehearsal.start, db)
                let origin = try Int.fetchOne(db, sql: "SELECT origin FROM replay")
                #expect(rows.count == 1 && origin == 1)
            }
        }
    }

    /// What a server has kept instead of an earlier version it lacks until a later one is stored, and not an earlier
    /// one.
    @Test func whatIsLackingIsSaidUntilItIsThere() throws {
        try withStore { store, set in
            func lacking() throws -> Int? { try store.value("SELECT count(*) FROM lacking") }
            try commit(
                store, set, [Settlement(sink: "server", through: 3, receipts: [Self.receipt(3, isLacking: true)])])
            #expect(try lacking() == 1)
            try commit(store, set, [Settlement(sink: "server", through: 4, receipts: [Self.receipt(2)])])
            #expect(try lacking() == 1)
            try commit(store, set, [Settlement(sink: "server", through: 4, receipts: [Self.receipt(4)])])
            #expect(try lacking() == 0)
        }
    }
}
