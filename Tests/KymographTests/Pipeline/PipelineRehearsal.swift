@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// The whole pipeline without threads, sockets or clock: lane, ring and shard take turns in the test.
struct PipelineRehearsal: ~Copyable {
    /// Keeps what lane and shard tell.
    final class Record: LaneEvents, ShardEvents {
        var bundles: [(route: BundleRoute, bytes: [UInt8])] = []
        var received = 0
        var routed = 0
        var tally = ShardTally()
        var laneRejected: [Rejection: Int] = [:]
        var notes = MappingNotes()
        /// By mapping and type.
        let readings = ReadingCounts()
        var isRoomWanted = false
        /// What stamps readings, if not the wall clock.
        var clock: ReceiveClock?

        func readingCounts(for set: MappingSet) -> SharedCounts { readings.counts(of: set, lane: 0) }

        func lead(at received: Instant) -> Int64 { clock?.lead(at: received) ?? 0 }

        func block(_ block: ByteView, for route: BundleRoute, since: Instant) {
            bundles.append((route, BundleText.of(block.array)))
        }

        /// Everything that was written.
        var output: [UInt8] { bundles.flatMap { $0.bytes + [0x0A] } }

        /// What a server holds that gets what sink `number` gets.
        func reader(of number: Int) throws -> BundleReader {
            var reader = BundleReader()
            for bundle in bundles where bundle.route.contains(number) { try reader.read(ndjson: bundle.bytes) }
            return reader
        }

        func counted(_ tally: ShardTally) { self.tally.add(tally) }

        /// What rules for resources have decided.
        var ruled = 0

        func ruled(_ counts: [(rule: String, count: Int)]) { ruled += counts.reduce(0) { $0 + $1.count } }

        func rejected(_ reading: RejectedReading, payload: ByteView) {}

        func rejected(
            _ reason: Rejection, bytes: ByteView, source: Int, received: Instant, lead: Int64, detail: RejectionDetail
        ) {
            laneRejected[reason, default: 0] += 1
        }

        func received(_ count: Int, source: Int) { received += count }

        func noted(_ notes: MappingNotes, source: Int) { self.notes.add(notes) }

        func routed(_ count: Int) { routed += count }

        func wake(shard: Int) {}

        /// The rehearsal empties the rings after each batch, so that a full one is a fault of the test.
        func waitForRoom(shard: Int) -> Bool {
            isRoomWanted = true
            return false
        }

        /// What the lane and the shard rejected.
        var rejected: Int { laneRejected.values.reduce(0, +) + tally.rejected.reduce(0, +) }

        /// What has ended somewhere.
        var accounted: Int { tally.accepted + tally.duplicate + tally.conflict + rejected }
    }

    static let reading = MappingSelection.load(["reading"]).set

    let record = Record()
    private let mappings: MappingExchange
    private let context: SourceContext
    private var lane: ReadingLane
    private var shard: InMemoryShard
    var now: Instant
    /// By how many nanoseconds the clock of receive times is ahead of what has passed since the beginning.
    var step: Int64 = 0
    /// The clock that is never set.
    private var steady: Instant { now.advanced(by: -step) }

    init(
        set: MappingSet, settings: WindowSettings, requiresPatient: Bool = false,
        now: Instant = Instant(seconds: 1_800_000_000), sources: Int = 1, filters: [SinkFilter] = [],
        eventSinks: [EventSinks.Sink] = []
    ) {
        self.now = now
        let ring = Ring(capacity: 4_096)
        let context = SourceContext(requiresPatient: requiresPatient)
        self.context = context
        mappings = MappingExchange(set)
        lane = ReadingLane(
            set: set,
            inputs: (0..<sources).map { source in
                var input = LaneInput(templates: set.templates(of: set.mappings), context: context)
                input.ledgerNumber = source + 1
                return input
            },
            limits: ScanLimits(),
            router: ReadingRouter(
                rings: [ring], maxDevices: settings.limits.maxDevices, maxSeries: settings.limits.maxSeries),
            events: record)
        let encoder = ObservationEncoder(
            types: set.types, templates: set.fhirTemplates, options: ObservationOptions(), digest: .openSSL)
        shard = InMemoryShard(
            rings: [ring], types: set.types, settings: settings,
            entries: EntryWriter(encoder, limits: BundleLimits(entries: 20)),
            router: BundleRouter(filters, types: set.types, templates: set.fhirTemplates),
            eventSinks: EventSinks(eventSinks, types: set.types, templates: set.fhirTemplates), events: record,
            mappings: mappings)
    }

    /// Maps with `set`, which continues the former one, from here on, with the mappings called `names`.
    mutating func adopt(_ set: MappingSet, names: [String]) {
        mappings.replace(with: set)
        lane.adopt(
            set, generation: mappings.announce(rings: 1).generation,
            inputs: [LaneInput(templates: set.templates(of: names), context: context)])
    }

    /// What comes from here on is what `rules` leave.
    mutating func decide(by rules: RuleDecider) { lane.decide(by: rules) }

    /// Sinks get what `rules` leave.
    mutating func follow(_ rules: EntryRules) { shard.follow(mappings.current) { rules } }

    /// Has the shard ask for the rules again.
    mutating func adoptRules() { shard.adoptRules() }

    /// Takes a datagram, and lets the shard work when `isBatchEnd`.
    mutating func take(_ bytes: [UInt8], source: Int = 0, isBatchEnd: Bool) {
        let storage = PaddedBytes(copying: bytes)
        lane.datagram(storage.view, source: source, received: now)
        if isBatchEnd { work() }
    }

    /// Lets the shard take what the lane has.
    mutating func work() {
        lane.batchEnd()
        while shard.step(now: now, steady: steady) > 0 {}
    }

    /// Lets the shard send what waits for its bundle to fill; whether anything did.
    mutating func sendWaiting() -> Bool { shard.sendWaiting() }

    /// Lets the shard take what it sees before the lane's batch has ended.
    mutating func workEarly() {
        while shard.step(now: now, steady: steady) > 0 {}
        shard.tick(now: now, steady: steady, bundleAge: .max)
    }

    /// Sets the clock of receive times.
    mutating func set(by nanoseconds: Int64) {
        now = now.advanced(by: nanoseconds)
        step += nanoseconds
    }

    /// Lets time pass without readings.
    mutating func pass(nanoseconds: Int64) {
        work()
        now = now.advanced(by: nanoseconds)
        shard.tick(now: now, steady: steady, bundleAge: 200_000_000)
    }

    /// Ends as the pipeline does; the Observations that a server would then hold.
    mutating func end() throws -> BundleReader {
        work()
        shard.drain(now: now)
        var reader = BundleReader()
        try reader.read(ndjson: record.output)
        return reader
    }
}
