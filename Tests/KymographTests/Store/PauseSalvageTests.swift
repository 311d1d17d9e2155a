import GRDB
import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// What is paused, after a repair.
@Suite struct PauseSalvageTests {
    /// It stays paused; what cannot be read is said.
    @Test(arguments: [true, false]) func aRepair(isReadable: Bool) throws {
        let scratch = Scratch()
        let pause = Pause(kind: .source, name: "ward", since: Instant(nanoseconds: 1))
        do {
            let store = try Store(path: scratch.path)
            defer { store.close() }
            try store.note([pause])
            guard !isReadable else { return try salvage(store) { $0 == [pause] && !$1 } }
            try store.pool.write { try $0.execute(sql: "DROP TABLE pause; CREATE TABLE pause (unreadable)") }
            try salvage(store) { $0.isEmpty && $1 }
        }
    }

    /// Salvages the database of `store`; `isExpected` gets the pauses that it has then, and whether the report
    /// says that they are not known.
    private func salvage(_ store: Store, _ isExpected: ([Pause], Bool) -> Bool) throws {
        var salvage = StoreSalvage(store.directory, now: DurableRehearsal.start, lostTransactions: 0)
        let target = try DatabaseQueue()
        try StoreSchema.prepare(target)
        let pauses = try target.write { db in
            try salvage.run(into: db)
            return try Pause.read(db)
        }
        let says = salvage.summary.contains("what was paused is not known")
        #expect(isExpected(pauses, says), "\(pauses) \(salvage.summary)")
    }
}
