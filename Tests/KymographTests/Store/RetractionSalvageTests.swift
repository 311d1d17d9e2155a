import GRDB
import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// What was taken back, after a repair.
@Suite struct RetractionSalvageTests {
    /// It stays so, with all that is known of it; what cannot be read is said.
    @Test(arguments: [true, false]) func aRepair(isReadable: Bool) throws {
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let device = Array("d".utf8)
        let known = [true, false].flatMap { hasTaken in
            [nil, Instant(nanoseconds: 7)].map { renewed in
                let name = RetractionName(id: ByteView(renewed == nil ? "a" : "b"))
                var retraction = Retraction(
                    device: device, type: hasTaken ? "x" : "y", name: name, patient: nil, hasTaken: hasTaken)
                // Of two series where it was taken out of both, and has not come back.
                if hasTaken { retraction.series = renewed == nil ? [3, 5] : [5] }
                (retraction.renewed, retraction.came) = (renewed, Instant(nanoseconds: 1))
                return retraction
            }
        }
        try store.pool.write { db in
            for retraction in known {
                let event = retraction.renewed == nil ? RetractionChange.Event.came : .renewed
                for series in [3, 5] {
                    let change = RetractionChange(
                        retraction: retraction, event, series: series, start: .distantPast, at: Instant(nanoseconds: 1))
                    try change.apply(db)
                }
            }
            if !isReadable { try db.execute(sql: "DROP TABLE retraction; CREATE TABLE retraction (unreadable)") }
        }
        var salvage = StoreSalvage(store.directory, now: DurableRehearsal.start, lostTransactions: 0)
        let target = try DatabaseQueue()
        try StoreSchema.prepare(target)
        let found = try target.write { db in
            try salvage.run(into: db)
            return try StoredRetraction.read(ofDevice: device, db)
        }
        #expect(Set(found) == Set(isReadable ? known : []))
        #expect(salvage.summary.contains("what was taken back is not all known") != isReadable, "\(salvage.summary)")
    }
}
