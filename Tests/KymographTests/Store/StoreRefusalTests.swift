import GRDB
import Glibc
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Stores that this version does not touch, and damages that it survives, one by one.
@Suite struct StoreRefusalTests {
    @Test func aNewerSchemaIsRefused() throws {
        let scratch = Scratch()
        try withStore(scratch) { store in
            try store.pool.write { try $0.execute(sql: "PRAGMA user_version = 99") }
        }
        let error = #expect(throws: StoreError.self) { try Store(path: scratch.path) }
        #expect(error?.kind == .tooNew && error.map(PipelineError.init)?.exitCode == ExitStatus.config)
        #expect(error?.message.contains("a newer kymo (tables 99, this one knows \(StoreSchema.version))") ?? false)
        // Bytes 60 to 63 of the file are the version.
        #expect(Files.read(scratch.file("kymo.sqlite"))[63] == 99)
    }

    /// Gives `body` a store, and closes it.
    private func withStore(_ scratch: Scratch, _ body: (Store) throws -> Void) throws {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        try body(store)
    }

    /// What a test does to a file.
    private func change(_ path: String, _ body: (inout [UInt8]) -> Void) {
        var bytes = Files.read(path)
        body(&bytes)
        Files.write(path, bytes)
    }

    /// A store with readings of all devices and a sink that has taken nothing.
    private func filled(_ scratch: Scratch) throws -> MappingSet {
        let set = try #require(PipelineRehearsal.reading)
        var run = try StoredRun(scratch.path, set: set)
        try run.take(BitRotTests.early, delivers: false)
        run.store.close()
        return set
    }

    @Test func anEmptyFileIsNoNewStore() throws {
        let scratch = Scratch()
        let set = try filled(scratch)
        Files.write(scratch.file("kymo.sqlite"), [])
        var run = try StoredRun(scratch.path, set: set)
        let notes = NoteList()
        run.store.watch.begin(note: notes.take) { _ in }
        #expect(notes.all.contains { $0.contains("its file is empty") && $0.contains("an unknown number of window") })
        // A partial must not replace what may have been sent.
        try run.take(BitRotTests.late, delivers: true)
        try run.end()
        #expect(run.delivered.isEmpty && run.record.tally.rejected[Int(Rejection.archiveEvicted.rawValue)] > 0)
        #expect(Files.exists(scratch.file("kymo.sqlite.damaged")) && !Files.exists(scratch.file("kymo.damaged")))
    }

    /// A damage that only shows while running ends the run, and the next start repairs.
    @Test func whatCannotBeReadEndsTheRun() throws {
        let scratch = Scratch()
        _ = try filled(scratch)
        #expect(Files.read(scratch.file("kymo.sqlite-wal")).isEmpty, "a clean end leaves nothing in the log")
        try withStore(scratch) { try readDamaged(scratch, $0) }
        try withStore(scratch) { _ in }
        #expect(!Files.exists(scratch.file("kymo.damaged")) && Files.exists(scratch.file("kymo.sqlite.damaged")))
    }

    private func readDamaged(_ scratch: Scratch, _ store: Store) throws {
        let ends = NoteList()
        store.watch.begin(note: { _ in }, end: { ends.add($0.message) })
        let size = Files.read(scratch.file("kymo.sqlite")).count
        // The pages of the database, but not the first, which is in memory already.
        change(scratch.file("kymo.sqlite")) { bytes in
            for page in stride(from: StorePages.size, to: size, by: StorePages.size) { bytes[page + 5_000] ^= 4 }
        }
        var block = ByteWriter(capacity: 64)
        #expect(store.load(series: 0, windowStart: Instant(seconds: 1_772_352_000), into: &block) == .damaged)
        #expect(ends.all.count == 1 && ends.all[0].contains("the next start repairs it"), "\(ends.all)")
        #expect(store.watch.failure.map(PipelineError.init)?.exitCode == ExitStatus.ioError)
        #expect(Files.exists(scratch.file("kymo.damaged")))
        var commit = StoreCommit(store, MappingExchange(try #require(PipelineRehearsal.reading)))
        var batch = StoreBatch()
        batch.settlements = [Settlement(sink: "output", through: 1)]
        #expect(throws: StoreError.self, "nothing is committed any more") {
            try commit.commit(batch, now: DurableRehearsal.start)
        }
    }

    /// A repair that was interrupted between its renames begins again with the old files.
    @Test func anInterruptedRepairBeginsAgain() throws {
        let scratch = Scratch()
        let set = try filled(scratch)
        Files.write(scratch.file("kymo.damaged"), Array("a test\n".utf8))
        try #require(unsafe rename(scratch.file("kymo.sqlite"), scratch.file("kymo.sqlite.damaged")) == 0)
        Files.write(scratch.file("kymo.sqlite.repair"), [1, 2, 3])
        var run = try StoredRun(scratch.path, set: set)
        try run.take(BitRotTests.late, delivers: true)
        try run.end()
        var found = BundleReader()
        try found.read(ndjson: run.delivered)
        #expect(found.differences(from: try BitRotTests.oracle(set), ignoring: ["status"]) == [])
        #expect(!Files.exists(scratch.file("kymo.damaged")) && Files.exists(scratch.file("kymo.sqlite.damaged")))
    }

    /// What has decided on readings has decided in a repaired store, too, and documents that were sent are known.
    @Test func aRepairRemembersWhoHasDecided() throws {
        let scratch = Scratch()
        _ = try filled(scratch)
        do {
            let store = try Store(path: scratch.path)
            defer { store.close() }
            #expect(store.deciders.isEmpty && store.hasSentDocuments == false)
            try store.note([.patientMap])
            for _ in 0..<2 { try store.noteDocuments() }
        }
        StoreDirectory.askForRepair(in: scratch.path)
        let repaired = try Store(path: scratch.path)
        defer { repaired.close() }
        #expect(Files.exists(scratch.file("kymo.sqlite.damaged")), "there was a repair")
        #expect(repaired.deciders == [.patientMap] && repaired.hasSentDocuments == true)
    }

    @Test func alarmsComeOnceEachTime() {
        var alarm = StoreAlarm()
        let percents = [10, 49, 50, 51, 79, 80, 81, 79, 80, 60, 81, 30, 55]
        let notes = percents.map { alarm.note(StoreFill(bytes: $0, limit: 100)) }
        #expect(zip(percents, notes).filter { $0.1?.level == .warning }.map(\.0) == [50, 80, 81, 55])
        #expect(zip(percents, notes).filter { $0.1?.level == .info }.map(\.0) == [60, 30])
        #expect(notes.count { $0 != nil } == 6)
        let full = alarm.note(drops: true, StoreFill(bytes: 100, limit: 100))
        #expect(full?.level == .error && full?.text.contains("dropping the oldest") == true)
        #expect(alarm.note(drops: true, StoreFill(bytes: 100, limit: 100)) == nil)
        #expect(alarm.note(drops: false, StoreFill(bytes: 99, limit: 100)) == nil)
        #expect(alarm.note(drops: false, StoreFill(bytes: 90, limit: 100))?.text == "the store has room again")
    }
}
