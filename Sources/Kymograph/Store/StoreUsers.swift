import GRDB
import KymographCore
import Synchronization

/// Who uses a store: shards, sinks, what takes receipts, and what brings bundles another way. For any thread.
final class StoreUsers: Sendable {
    private struct Usage {
        var shards = Int.max
        var sinks: [String?] = []
        var direct: (any UnitDelivery)?
        var receiptRun: String?
        var receipts: [ReceiptProgress] = []
    }

    private let database: StoreDatabase
    private let usage = Mutex(Usage())
    /// Threads that wait in ``waitUntilDelivered(then:)``.
    private let awaited = Atomic(0)

    /// Nobody yet; `database` is where sinks are noted.
    init(_ database: StoreDatabase) { self.database = database }

    /// Says who takes bundles out, by place (``SinkRouting``), nil where a sink has gone. Sinks before that are not
    /// among them get nothing any more: what they have not taken leaves with the others, and is given up. New ones get
    /// what comes from here on.
    func begin(sinks: [String?]) throws(StoreError) {
        let former = usage.withLock { $0.sinks }
        let present = sinks.compactMap { $0 }
        let names = Set(present.map { IdentifierText($0) })
        do {
            try database.pool.write { db in
                for former in try String.fetchAll(db, sql: "SELECT name FROM sink")
                where !names.contains(IdentifierText(former)) {
                    try Store.giveUp(former, db)
                }
                for sink in present {
                    try db.execute(
                        sql: "INSERT OR IGNORE INTO sink VALUES (?, \(StoredOutbox.newest))", arguments: [sink])
                }
                // What only those that have gone waited for.
                try db.execute(sql: "DELETE FROM outbox WHERE number <= (SELECT min(through) FROM sink)")
                // Here, between two commits: each row is for the sinks that there are when it comes.
                usage.withLock { $0.sinks = sinks }
            }
        } catch {
            usage.withLock { $0.sinks = former }
            throw database.failure(error, "write to")
        }
    }

    /// The names of the sinks of `route`, as the outbox has them; nil when these are all.
    func names(of route: BundleRoute) -> String? {
        let all = usage.withLock { $0.sinks.enumerated().compactMap { place, name in name.map { (place, $0) } } }
        let names = all.filter { route.contains($0.0) }.map(\.1)
        return names.count == all.count ? nil : OutboxRow.stored(names)
    }

    /// Says that lines of receipts are committed with what sinks have settled, and wait until those who take them have
    /// them: `progress` is of one.
    func begin(receipts progress: ReceiptProgress) {
        usage.withLock { usage in
            usage.receiptRun = usage.receiptRun ?? String(UInt64.random(in: .min ... .max), radix: 16)
            usage.receipts.append(progress)
        }
    }

    /// What tells the lines of this run from those of others, a repaired or older copy of the store included; nil where
    /// no receipts are kept.
    var receiptRun: String? { usage.withLock { $0.receiptRun } }

    /// How those who take receipts get on.
    var receiptProgress: [ReceiptProgress] { usage.withLock { $0.receipts } }

    /// Says that bundles go another way than through the outbox.
    func begin(direct: any UnitDelivery) { usage.withLock { $0.direct = direct } }

    /// What brings bundles another way; nil where they go through the outbox.
    var direct: (any UnitDelivery)? { usage.withLock { $0.direct } }

    /// Says how many shards there are: the journal is kept until all of them have said what they need.
    func begin(shards: Int) { usage.withLock { $0.shards = shards } }

    /// Whether `sink` takes bundles out, or has what an earlier run with an outbox left for it; any where nobody has
    /// said who does.
    func gives(to sink: String) -> Bool {
        usage.withLock { usage in
            usage.direct != nil || usage.sinks.isEmpty
                || usage.sinks.contains { $0.map { IdentifierText($0) == IdentifierText(sink) } ?? false }
        }
    }

    /// Who takes bundles out.
    var sinks: [String] { usage.withLock { $0.sinks.compactMap { $0 } } }

    /// Waits until what brings bundles another way has brought all, and then as long as `commit` does.
    func waitUntilDelivered(then commit: () -> Void) {
        awaited.add(1, ordering: .relaxed)
        defer { awaited.subtract(1, ordering: .relaxed) }
        direct?.waitUntilDelivered()
        commit()
    }

    /// Whether any thread waits there.
    var areWaiting: Bool { awaited.load(ordering: .relaxed) > 0 }

    /// Whether `shard` waits for what brings bundles another way.
    func isWaitedFor(by shard: Int) -> Bool { direct?.waitingShards.contains(shard) ?? false }

    /// How many shards there are.
    var shards: Int { usage.withLock { $0.shards } }
}
