import GRDB
import Glibc
@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Synchronization
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

    /// A writer on a thread of its own.
    private struct Writing {
        let notes: NoteList
        let control: PipelineControl
        let writer: StoreWriter
        private let thread: TestThread<Void>

        init(_ store: Store, _ set: MappingSet) throws {
            let notes = NoteList()
            let control = try PipelineControl(notes: notes.take)
            let writer = StoreWriter(store, mappings: MappingExchange(set), control: control) {}
            (self.notes, self.control, self.writer) = (notes, control, writer)
            thread = TestThread { writer.run() }
        }

        /// Waits for a note with `text`.
        func wait(for text: String) {
            for _ in 0..<3_000 where !notes.all.contains(where: { $0.contains(text) }) { usleep(10_000) }
        }

        /// Waits for the end, and makes one if none comes.
        func end() {
            for _ in 0..<3_000 where !writer.hasEnded { usleep(10_000) }
            control.force()
            thread.join()
        }
    }

    /// A unit refers to series that an earlier one has introduced: if that is lost, the next run would give its number,
    /// and so its readings, to another patient.
    @Test func whatFollowsALostBatchIsNotCommitted() throws {
        let scratch = Scratch()
        try withStore(scratch) { store, set in
            try store.setFull(true)
            store.queue.submit(.made(journal: 1, bytes: 400_000, introduces: 0))
            let writing = try Writing(store, set)
            writing.wait(for: "make room; waiting")
            store.queue.submit(.made(windowOf: 0))
            writing.control.force()
            writing.end()
            try store.setFull(false)
            writing.writer.commitRest()
            #expect(try store.value("SELECT count(*) FROM series") == 0)
            #expect(try store.value("SELECT count(*) FROM window") == 0)
            #expect(writing.control.currentFailure?.exitCode == ExitStatus.ioError)
        }
    }

    /// Numbers of series are given once, whatever refers to them.
    @Test func aNumberThatIsInUseIsNotGivenAgain() throws {
        let scratch = Scratch()
        try withStore(scratch) { store, set in
            var commit = StoreCommit(store, MappingExchange(set))
            try commit.commit(.made(.made(introduces: 3), .made(windowOf: 41)), now: Self.now)
        }
        try withStore(scratch) { store, _ in
            #expect(store.number(of: ShardUnit.key(7)) == (42, true))
            // Without the note of it, as in a store from before there was one.
            try store.pool.write { try $0.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'series'") }
        }
        try withStore(scratch) { store, _ in
            #expect(store.number(of: ShardUnit.key(7)) == (42, true))
            try store.pool.write { try $0.execute(sql: "INSERT INTO tally VALUES (3, 57, 1, 'tooManyDevices', 1)") }
        }
        try withStore(scratch) { store, _ in #expect(store.number(of: ShardUnit.key(7)) == (58, true)) }
    }

    /// A relief that fails for another reason than the want of room, as when the disk makes nothing durable, ends it.
    @Test func aReliefThatFailsEndsTheProcess() throws {
        let scratch = Scratch()
        try withStore(scratch) { store, set in
            try store.pool.write { db in
                try db.execute(
                    sql: "CREATE TRIGGER fault BEFORE INSERT ON sink BEGIN SELECT RAISE(ABORT, 'a fault'); END")
            }
            try store.setFull(true)
            store.queue.submit(.made(journal: 1, bytes: 400_000))
            let writing = try Writing(store, set)
            writing.wait(for: "make room; waiting")
            store.queue.add { $0.settlements.append(Settlement(sink: "output", through: 1)) }
            writing.end()
            let failure = writing.control.currentFailure
            #expect(failure?.message.contains("a fault") ?? false, "\(failure?.message ?? "no failure")")
            #expect(failure?.exitCode == ExitStatus.ioError)
        }
    }

    /// A journal that has reached the limit goes when the windows close that keep it, although they come behind more
    /// of it.
    @Test func aFullJournalRecovers() throws {
        let scratch = Scratch()
        var settings = StoreSettings()
        settings.maxBytes = 2 << 20
        try withStore(scratch, settings) { store, set in
            let writing = try Writing(store, set)
            for number in Int64(1)...12 {
                store.queue.submit(
                    .made(journal: number, bytes: 300_000, introduces: number == 1 ? 0 : nil, windowOf: nil))
            }
            writing.wait(for: "has reached its limit")
            store.queue.submit(.made(journal: 13, bytes: 100))
            store.queue.submit(.made(needed: 13, windowOf: 0))
            store.queue.close()
            writing.end()
            #expect(writing.control.currentFailure == nil, "\(writing.notes.all)")
            #expect(try store.value("SELECT count(*) FROM journal") == 1)
            #expect(try store.value("SELECT through_block FROM window") == 13)
        }
    }

    /// Receipts that wait for their files are dropped from a full store only while the files take nothing, or when so
    /// many wait that the files are too slow.
    @Test(arguments: [(false, 100), (true, 100), (false, 1_000)])
    func receiptsOfAFullStore(isStuck: Bool, count: Int) throws {
        let scratch = Scratch()
        var settings = StoreSettings()
        settings.maxBytes = 1 << 20
        try withStore(scratch, settings) { store, _ in
            let progress = store.beginReceipts(for: .files)
            try store.pool.write { db in
                for number in 0..<count {
                    try db.execute(
                        sql: "INSERT INTO receipt_line (run, line) VALUES ('r', zeroblob(?))",
                        arguments: [1_200_000 / count + number])
                }
            }
            if isStuck { progress.noteFailure() } else { progress.note() }
            var retention = StoreRetention(settings)
            if isStuck || count == 1_000 {
                try retention.check(store, adding: 0)
            } else {
                // Nothing else is there that could go.
                #expect(throws: StoreError.self) { try retention.check(store, adding: 0) }
            }
            let left = try store.value("SELECT count(*) FROM receipt_line")
            #expect(left == (isStuck || count == 1_000 ? 0 : 100))
        }
    }

    /// Windows that close are taken at once although the queue is full: they may be what makes room.
    @Test func whatMayMakeRoomDoesNotWait() throws {
        let scratch = Scratch()
        try withStore(scratch) { store, _ in
            store.queue.submit(.made(journal: 1, bytes: 33 << 20))
            let isTaken = AtomicFlag()
            let waiting = TestThread { store.queue.submit(.made(journal: 2)) }
            let relief = TestThread {
                store.queue.submit(.made(needed: 2, windowOf: 0), waits: false)
                isTaken.set()
            }
            for _ in 0..<3_000 where !isTaken.isSet { usleep(10_000) }
            #expect(isTaken.isSet && store.queue.waitingUnits.count == 2)
            store.queue.force()
            waiting.join()
            relief.join()
        }
    }
}
