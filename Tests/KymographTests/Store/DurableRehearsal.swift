@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// The durable pipeline without threads, sockets or clock: lane, shard, store and sink take turns in the test.
struct DurableRehearsal: ~Copyable {
    let record = PipelineRehearsal.Record()
    let store: any ShardStore
    private var lane: ReadingLane
    private var shard: StoredShard
    private let now: Instant

    static let start = Instant(seconds: 1_900_000_000)

    /// With `sources` sources, numbered from 0, and sinks that get what `filters` say.
    init(
        set: MappingSet, store: any ShardStore, settings: WindowSettings = WindowSettings(), sources: Int = 1,
        filters: [SinkFilter] = [], eventSinks: [EventSinks.Sink] = []
    ) {
        self.store = store
        now = DurableRehearsal.start
        let ring = Ring(capacity: 1 << 14)
        lane = ReadingLane(
            set: set,
            inputs: (0..<sources).map { source in
                var input = LaneInput(templates: set.templates(of: set.mappings), context: SourceContext())
                input.ledgerNumber = source
                return input
            },
            limits: ScanLimits(), router: ReadingRouter(rings: [ring], maxDevices: 1_000, maxSeries: 1_000),
            events: record)
        let encoder = ObservationEncoder(
            types: set.types, templates: set.fhirTemplates, options: ObservationOptions(), digest: .openSSL)
        shard = StoredShard(
            number: 0, rings: [ring], types: set.types, settings: settings,
            entries: EntryWriter(encoder, limits: BundleLimits(entries: 20)),
            router: BundleRouter(filters, types: set.types, templates: set.fhirTemplates),
            eventSinks: EventSinks(eventSinks, types: set.types, templates: set.fhirTemplates), events: record,
            store: store)
    }

    /// Takes what an earlier run has left with `replay`, and begins to receive.
    mutating func begin(_ replay: (inout StoredShard) -> Void) {
        replay(&shard)
        shard.beginReceiving(now: now)
    }

    /// Takes a line.
    mutating func take(_ line: [UInt8], source: Int = 0) {
        let storage = PaddedBytes(copying: line)
        lane.datagram(storage.view, source: source, received: now)
    }

    /// Takes `lines`, received so many `seconds` after the start, and counts what becomes of them; the lane's number for
    /// them, nil when nobody will know.
    mutating func count(_ lines: [[UInt8]], after seconds: Int64) -> Int? {
        lane.beginCount()
        for line in lines {
            let storage = PaddedBytes(copying: line)
            lane.datagram(storage.view, source: 0, received: now.advanced(by: seconds * 1_000_000_000))
        }
        return lane.endCount()
    }

    /// Hands over what was taken, which is durable then.
    mutating func handOver() {
        lane.batchEnd()
        while shard.step(now: now) > 0 {}
        shard.tick(now: now, bundleAge: 0)
        shard.handOver(steady: now, isQuiet: true)
    }

    /// Closes and hands over everything.
    mutating func drain() {
        lane.batchEnd()
        shard.drain(now: now)
    }
}
