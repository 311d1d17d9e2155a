import GRDB
import Glibc
@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing

/// What a sink sees of the outbox: rows that are there, and otherwise sleep.
@Suite struct StoredOutboxTests {
    /// Rows that all sinks have taken are no rows.
    @Test func theNewestRowIsOneThatIsStored() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        try deliver(scratch, set)
        let store = try Store(path: scratch.path)
        defer { store.close() }
        #expect(try store.value("SELECT count(*) FROM outbox") == 0)
        #expect(store.tail.newest == 0)
    }

    /// A run whose sink takes everything.
    private func deliver(_ scratch: Scratch, _ set: MappingSet) throws {
        var run = try StoredRun(scratch.path, set: set)
        try run.take(BitRotTests.early, delivers: true)
        try run.end()
        #expect(!run.delivered.isEmpty)
    }

    /// A store with two bundles that are damaged.
    private func damage(_ scratch: Scratch, _ set: MappingSet) throws {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        var commit = StoreCommit(store, MappingExchange(set))
        try commit.commit(.made(.made(bundle: 100), .made(bundle: 100)), now: DurableRehearsal.start)
        try store.pool.write { try $0.execute(sql: "UPDATE outbox SET checksum = checksum + 1") }
    }

    /// A sink that asks for rows where all are damaged waits for the next one, and tells of the damage once.
    @Test func rowsThatAreGoneAreWaitedFor() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        try damage(scratch, set)
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let outbox = try StoredOutbox(store, sink: "output")
        let thread = TestThread { outbox.rows(after: 0, bytes: 1 << 20, milliseconds: 60_000) }
        for _ in 0..<3_000 where store.queue.changes == 0 { usleep(10_000) }
        var again = StoreCommit(store, MappingExchange(set))
        let told = store.queue.take().batch
        #expect(told.damaged == [.outbox: [1, 2]])
        try again.commit(told, now: DurableRehearsal.start)
        try again.commit(.made(.made(bundle: 100)), now: DurableRehearsal.start)
        outbox.wake()
        #expect(thread.join().map(\.number) == [3])
        #expect(store.queue.take().batch.damaged.isEmpty)
    }

    /// What the ledger says that is missing, of bundles.
    private func missingBundles(_ scratch: Scratch) throws -> [String] {
        try StoreReader(directory: scratch.path).ledger(ArchiveFilter(), isRunning: false).missing
            .filter { $0.contains("bundles") }
    }

    private func withStore(_ scratch: Scratch, _ body: (Store) throws -> Void) throws {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        try body(store)
    }

    /// A sink goes on behind a bundle that is damaged, and has not got it all the same.
    @Test func whatIsDamagedIsMissing() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        try damage(scratch, set)
        #expect(try missingBundles(scratch) == [])
        try withStore(scratch) { store in
            let outbox = try StoredOutbox(store, sink: "output")
            #expect(outbox.rows(after: 0, bytes: 1 << 20, milliseconds: 0).isEmpty)
            var commit = StoreCommit(store, MappingExchange(set))
            try commit.commit(store.queue.take().batch, now: DurableRehearsal.start)
        }
        #expect(try missingBundles(scratch) == ["2 bundles were damaged before all sinks had them"])
        // A repair keeps what is known of earlier damage, and adds its own.
        try damage(scratch, set)
        try StoreDirectory(scratch.path).mark("a test")
        try withStore(scratch) { _ in }
        #expect(try missingBundles(scratch) == ["4 bundles were damaged before all sinks had them"])
    }

    /// Bundles on pages that cannot be read are missing, too, however many they were.
    @Test func whatARepairLosesIsMissing() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        try damage(scratch, set)
        Files.write(scratch.file("kymo.sqlite"), [])
        try withStore(scratch) { _ in }
        #expect(try missingBundles(scratch) == ["bundles that waited for sinks were lost when the store was repaired"])
    }
}
