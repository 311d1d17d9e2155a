import CommandSupport
import GRDB
@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Rows that are for other sinks are passed over, and none stays because of that.
@Suite struct FilteredOutboxTests {
    private static let sinks = ["a", "b", "c"]

    private static func route(_ bits: Int) -> BundleRoute {
        var route = BundleRoute.none
        for sink in sinks.indices where bits >> sink & 1 == 1 { route.insert(sink) }
        return route
    }

    private func persist(_ store: Store, _ commit: inout StoreCommit) throws {
        let (batch, submitted) = store.queue.take()
        try commit.commit(batch, now: Instant(seconds: 1))
        store.queue.commit(batch, through: submitted)
    }

    /// Sinks take and settle at random, in runs that end at random: each gets its own rows, in order, and only these;
    /// in the end the outbox is empty.
    @Test func eachGetsItsOwn() throws {
        for seed in Trials.seeds(tenthOf: 20) {
            var random = SeededGenerator(seed: seed)
            let folder = TemporaryFolder()
            var made: [Int] = []
            var got: [[Int]] = [[], [], []]
            for run in 0..<4 {
                let store = try Store(path: folder.file("data"))
                let outboxes = try Self.sinks.map { try StoredOutbox(store, sink: $0) }
                try store.begin(sinks: Self.sinks)
                store.begin(shards: 1)
                var commit = StoreCommit(store, MappingExchange(try #require(PipelineRehearsal.reading)))
                for _ in 0..<15 {
                    if run < 3, Bool.random(using: &random) {
                        let bits = Int.random(in: 1...7, using: &random)
                        made.append(bits)
                        store.queue.submit(.made(bundle: made.count, route: Self.route(bits)))
                    } else {
                        let sink = Int.random(in: 0..<3, using: &random)
                        take(outboxes[sink], most: Int.random(in: 1...3, using: &random), into: &got[sink])
                    }
                    try persist(store, &commit)
                }
                if run == 3 {
                    for (sink, outbox) in outboxes.enumerated() { take(outbox, most: .max, into: &got[sink]) }
                    for outbox in outboxes { _ = outbox.rows(after: outbox.settledThrough, bytes: 1, milliseconds: 0) }
                    try persist(store, &commit)
                    #expect(outboxes.allSatisfy { $0.waiting == 0 })
                    let left = store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM outbox") }
                    #expect(left == .some(.some(0)), "seed \(seed)")
                }
                store.close()
            }
            for sink in Self.sinks.indices {
                let wanted = made.indices.filter { made[$0] >> sink & 1 == 1 }.map { $0 + 1 }
                #expect(got[sink] == wanted, "seed \(seed), sink \(sink)")
            }
        }
    }

    /// Takes rows one at a time, and settles them; each row's length is its number.
    private func take(_ outbox: StoredOutbox, most: Int, into got: inout [Int]) {
        var taken = 0
        while taken < most {
            let rows = outbox.rows(after: outbox.settledThrough, bytes: 1, milliseconds: 0)
            guard let row = rows.first else { return }
            got.append(row.body.count)
            outbox.settle(through: row.number, receipts: [], undeliverable: [])
            taken += 1
        }
    }
}
