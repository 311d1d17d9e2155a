import GRDB
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Windows that the archive drops while late readings have them open again: each reading is counted once.
@Suite struct LedgerRetentionTests {
    private static func line(_ second: Int) -> [UInt8] {
        Array(
            """
            {"deviceId":"watch-1","type":"heartRate","timestamp":"2026-03-01T08:00:\(second + 10)Z",\
            "value":\(60 + second),"unit":"/min"}
            """.utf8)
    }

    /// In an hour of some days in February.
    private static func earlyLine(_ hour: Int, device: Int) -> [UInt8] {
        let (day, rest) = (20 + hour / 24, hour % 24)
        return Array(
            """
            {"deviceId":"watch-\(device)","type":"heartRate","timestamp":"2026-02-\(day)T\(rest < 10 ? "0" : "")\(rest):00:00Z",\
            "value":60,"unit":"/min"}
            """.utf8)
    }

    /// A store, and readings that come to it.
    private func withStore(
        _ body: (MappingSet, Store, inout StoreCommit, inout DurableRehearsal) throws -> Void
    ) throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        store.begin(shards: 1)
        var commit = StoreCommit(store, MappingExchange(set))
        var rehearsal = DurableRehearsal(set: set, store: store, settings: StoredRun.settings)
        rehearsal.begin { _ in }
        try body(set, store, &commit, &rehearsal)
    }

    private func persist(_ store: Store, _ commit: inout StoreCommit) throws {
        let (batch, submitted) = store.queue.take()
        try commit.commit(batch, now: DurableRehearsal.start)
        store.queue.commit(batch, through: submitted)
    }

    /// Drops all windows for their age.
    private func drop(_ store: Store, _ set: MappingSet) throws {
        var commit = StoreCommit(store, MappingExchange(set))
        let later = DurableRehearsal.start.advanced(by: 2 * store.settings.archiveAge)
        try commit.commit(StoreBatch(), now: later)
        #expect(try store.value("SELECT count(*) FROM window") == 0)
    }

    private func balance(_ store: Store) throws -> LedgerBalance {
        try store.pool.read { db in
            let open = try OpenReadings(db, types: try StoredTypes.types(db))
            return try LedgerTotals(db, open: open).balance
        }
    }

    /// Late readings to a window that is dropped before it closes again; `isLater` when they come after that.
    @Test(arguments: [false, true]) func aWindowThatIsOpenCountsOnce(isLater: Bool) throws {
        try withStore { set, store, commit, rehearsal in
            for second in 0..<10 { rehearsal.take(Self.line(second)) }
            rehearsal.take(Self.line(4))
            rehearsal.drain()
            try persist(store, &commit)
            #expect(try balance(store).accepted == 10)
            if isLater { try drop(store, set) }
            rehearsal.take(Self.line(20))
            rehearsal.handOver()
            try persist(store, &commit)
            if !isLater { try drop(store, set) }
            rehearsal.take(Self.line(21))
            rehearsal.drain()
            try persist(store, &commit)
            let balance = try balance(store)
            // What comes to a window that the store has dropped would be lost with the process.
            #expect(balance.accepted == (isLater ? 10 : 12) && balance.duplicate == 1, "\(balance.text)")
            #expect(balance.rejected == (isLater ? ["archiveEvicted": 2] : [:]), "\(balance.text)")
            #expect(try store.value("SELECT count(*) FROM tally WHERE count < 0") == 0)
        }
    }

    /// A duplicate is counted although the window that it is of was dropped before the count came to the disk.
    @Test func aDuplicateOfADroppedWindowCounts() throws {
        try withStore { set, store, commit, rehearsal in
            for second in 0..<10 { rehearsal.take(Self.line(second)) }
            rehearsal.drain()
            try persist(store, &commit)
            rehearsal.take(Self.line(4))
            rehearsal.drain()
            try drop(store, set)
            try persist(store, &commit)
            let balance = try balance(store)
            #expect(balance.accepted == 10 && balance.duplicate == 1, "\(balance.text)")
        }
    }

    /// Windows go at their age, however many they are, and whether anything comes meanwhile or not: some with each
    /// commit.
    @Test func oldWindowsGoWithEachCommit() throws {
        try withStore { set, store, commit, rehearsal in
            for hour in 0..<100 {
                for device in 0..<45 { rehearsal.take(Self.earlyLine(hour, device: device)) }
                rehearsal.handOver()
                try persist(store, &commit)
            }
            rehearsal.drain()
            try persist(store, &commit)
            #expect(try store.value("SELECT count(*) FROM window") == 4_500)
            let old = DurableRehearsal.start.advanced(by: store.settings.archiveAge)
            for (second, left) in [(-2, 4_500), (2, 2_500), (3, 500), (3, 0), (4, 0)] {
                try commit.commit(StoreBatch(), now: old.advanced(by: Int64(second) * 1_000_000_000))
                #expect(try store.value("SELECT count(*) FROM window") == left, "second \(second)")
            }
            #expect(try balance(store).accepted == 4_500)
        }
    }
}
