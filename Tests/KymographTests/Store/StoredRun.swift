@testable import Kymograph
import KymographCore
import KymographTestKit

/// A run of the durable pipeline on a real store, on the calling thread.
struct StoredRun: ~Copyable {
    let store: Store
    private var commit: StoreCommit
    private let outbox: StoredOutbox
    private var rehearsal: DurableRehearsal
    private(set) var replayed = StoreReplay.Outcome()
    /// What the sink was given.
    private(set) var delivered: [UInt8] = []

    /// Opens the store in `path`, repairing it if need be, and takes what is in its journal.
    init(_ path: String, set: MappingSet) throws(StoreError) {
        let store = try Store(path: path)
        // Before anything that cannot be copied: an initialiser that fails could not take it back.
        let outbox = try StoredOutbox(store, sink: "output")
        try store.begin(sinks: ["output"])
        store.begin(shards: 1)
        (self.store, self.outbox) = (store, outbox)
        commit = StoreCommit(store, MappingExchange(set))
        rehearsal = DurableRehearsal(set: set, store: store, settings: StoredRun.settings)
        var outcome = StoreReplay.Outcome()
        rehearsal.begin { [store] in outcome = StoreReplay(store, shard: 0, of: 1).run(into: &$0) }
        replayed = outcome
    }

    static let settings = WindowSettings(
        lateness: 30_000_000_000, idle: 0, limits: WindowLimits(archiveBytes: 4_000))

    var record: PipelineRehearsal.Record { rehearsal.record }

    /// Makes `lines` durable, a few at a time.
    mutating func take(_ lines: [[UInt8]], delivers: Bool) throws(StoreError) {
        // What replaying put into quarantine.
        try persist()
        for (number, line) in lines.enumerated() {
            rehearsal.take(line)
            guard number % 25 == 24 || number == lines.count - 1 else { continue }
            rehearsal.handOver()
            try persist()
            guard delivers else { continue }
            // The store waits for what was settled before it looks for a window.
            deliver()
            try persist()
        }
    }

    /// Ends as the pipeline does.
    mutating func end() throws(StoreError) {
        rehearsal.drain()
        try persist()
        deliver()
        try persist()
        store.close()
    }

    private mutating func persist() throws(StoreError) {
        let (batch, submitted) = store.queue.take()
        try commit.commit(batch, now: DurableRehearsal.start)
        store.queue.commit(batch, through: submitted)
    }

    private mutating func deliver() {
        while true {
            let rows = outbox.rows(after: outbox.settledThrough, bytes: 1 << 20, milliseconds: 0)
            guard let last = rows.last else { return }
            for row in rows { delivered += BundleText.of(row.body) }
            outbox.settle(through: last.number, receipts: [], undeliverable: [])
        }
    }
}
