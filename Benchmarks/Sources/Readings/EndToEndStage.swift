package import KymographCore

/// Everything between socket and sink, without threads: lane, ring, shard, entries, bundles.
package struct EndToEndStage: ~Copyable, Stage {
    /// Counts what comes out.
    private final class Events: LaneEvents, ShardEvents {
        var accepted = 0
        var bytes = 0
        private var assembler = BundleAssembler()

        func rejected(
            _ reason: Rejection, bytes: ByteView, source: Int, received: Instant, lead: Int64, detail: RejectionDetail
        ) {
            fatalError("the workload gives only good readings: \(reason)")
        }

        func rejected(_ reading: RejectedReading, payload: ByteView) {
            fatalError("the workload gives only good readings: \(reading.reason)")
        }

        func received(_ count: Int, source: Int) {}
        func noted(_ notes: MappingNotes, source: Int) {}
        func routed(_ count: Int) { accepted += count }
        func wake(shard: Int) {}
        func waitForRoom(shard: Int) -> Bool { fatalError("the ring is larger than a batch") }
        func block(_ block: ByteView, for route: BundleRoute, since: Instant) {
            guard let bundle = assembler.text(of: block) else { fatalError("the block cannot be read") }
            bytes += bundle.count
        }

        func counted(_ tally: ShardTally) {}
    }

    private let pool: LinePool
    private var lane: ReadingLane
    private var shard: InMemoryShard
    private let events = Events()
    private var next = 0

    /// Lines between two turns of the shard.
    private static let batch = 64

    /// Sends the lines of `pool`, from the first to the last, while `rules` decide on readings.
    package init(_ pool: LinePool, rules: [ReadingRule] = []) {
        self.pool = pool
        let set = Workload.mappings()
        let ring = Ring()
        lane = ReadingLane(
            set: set, inputs: [LaneInput(templates: set.templates(of: ["workload"]), context: SourceContext())],
            limits: ScanLimits(), router: ReadingRouter(rings: [ring], maxDevices: 10_000, maxSeries: 40_000),
            events: events)
        if !rules.isEmpty {
            lane.decide(by: RuleDecider(rules, sources: [RuleDecider.Source("probe")], types: set.types))
        }
        shard = InMemoryShard(
            rings: [ring], types: set.types, settings: WindowSettings(), entries: Workload.entries(set),
            events: events)
    }

    /// Sends the next `count` lines.
    package mutating func run(_ count: Int) {
        let lines = unsafe pool.lines
        let end = next + count
        precondition(end <= lines.count, "the pool is too small")
        while next < end {
            let stop = min(next + EndToEndStage.batch, end)
            while next < stop {
                lane.line(lines[next], source: 0, received: Workload.received)
                next += 1
            }
            lane.batchEnd()
            _ = shard.step(now: Workload.received)
        }
    }

    /// Closes all windows, and returns how many readings and bytes of bundles there were.
    package mutating func finish() -> (readings: Int, bytes: Int) {
        shard.drain(now: Workload.received)
        return (events.accepted, events.bytes)
    }
}
