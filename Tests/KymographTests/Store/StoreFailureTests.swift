import GRDB
@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing

/// A commit that fails has happened in no part, and nothing that builds on it happens either.
@Suite struct StoreFailureTests {
    private static let now = DurableRehearsal.start

    /// Gives `body` a store for one shard, and closes it.
    private func withStore(
        _ scratch: Scratch, _ settings: StoreSettings = StoreSettings(), _ body: (Store, MappingSet) throws -> Void
    ) throws {
        let set = try #require(PipelineRehearsal.reading)
        let store = try Store(path: scratch.path, settings: settings)
        defer { store.close() }
        store.begin(shards: 1)
        try body(store, set)
    }

    /// What sinks have settled makes room for a batch that waits, and leaves it the journal that it builds on.
    @Test func whatMakesRoomTrimsNothing() throws {
        let scratch = Scratch()
        try withStore(scratch) { store, set in
            var commit = StoreCommit(store, MappingExchange(set))
            try commit.commit(.made(.made(journal: 1, needed: 1)), now: Self.now)
            try store.setFull(true)
            let waiting = StoreBatch.made(.made(journal: 2, needed: 2, bundle: 400_000))
            let error = #expect(throws: StoreError.self) { try commit.commit(waiting, now: Self.now) }
            #expect(error?.kind == .full)
            var relief = StoreBatch()
            relief.settlements = [Settlement(sink: "output", through: 0)]
            try commit.commit(relief, now: Self.now)
            #expect(try store.value("SELECT count(*) FROM journal WHERE number = 1") == 1)
            try store.setFull(false)
            try commit.commit(waiting, now: Self.now)
            #expect(try store.value("SELECT min(number) FROM journal") == 2)
        }
    }
}
