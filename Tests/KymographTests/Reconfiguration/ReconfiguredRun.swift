@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// A run of several lanes and shards on a real store, on the calling thread: what a test tells it happens in that order.
/// It ends well by ``end()``; letting go of it is SIGKILL, as far as a store can tell.
final class ReconfiguredRun {
    private final class LaneBox {
        var lane: ReadingLane
        /// The variant that the lane maps by, and its set.
        var variant: MappingVariant
        var set: MappingSet

        init(_ lane: consuming ReadingLane, _ variant: MappingVariant, _ set: MappingSet) {
            self.lane = lane
            (self.variant, self.set) = (variant, set)
        }
    }

    private final class ShardBox {
        var shard: StoredShard

        init(_ shard: consuming StoredShard) { self.shard = shard }
    }

    let store: Store
    private let record = ReconfiguredRecord()
    private let mappings: MappingExchange
    private let outbox: StoredOutbox
    private var commit: StoreCommit
    private var lanes: [LaneBox] = []
    private var shards: [ShardBox] = []
    private var variant: MappingVariant
    /// A defect: see ``ReconfigurationSequence/Defect/followsFirstLane``.
    private let followsFirstLane: Bool
    private(set) var delivered: [UInt8] = []
    /// The same as the rows have it.
    private(set) var blocks: [[UInt8]] = []
    var now: Instant

    /// What is in memory of closed windows is little, so that most come back from the store.
    private static func settings(
        _ lateness: Int64, _ limits: WindowLimits, _ retractionsAtHand: Int, _ guarding: (any DeviceGuard)?
    ) -> WindowSettings {
        var settings = WindowSettings(lateness: lateness, idle: 0, limits: limits)
        settings.limits.archiveBytes = 2_000
        settings.retractionsAtHand = retractionsAtHand
        settings.deviceGuard = guarding
        return settings
    }

    /// Begins with `variant` on `store`, whose types `set` continues, and takes what is in the journal. `guarding` says
    /// which devices are of one patient at a time; with `forgetsSeries`, nothing says which series earlier runs had.
    init(
        _ store: Store, _ set: MappingSet, _ variant: MappingVariant, lanes: Int, shards: Int, lateness: Int64,
        now: Instant, followsFirstLane: Bool = false, limits: WindowLimits = WindowLimits(),
        retractionsAtHand: Int = 1 << 16,
        guarding: (any DeviceGuard)? = nil, forgetsSeries: Bool = false,
        resources: (@Sendable () -> EntryRules)? = nil
    ) throws {
        (self.store, self.variant, self.now) = (store, variant, now)
        self.followsFirstLane = followsFirstLane
        outbox = try StoredOutbox(store, sink: "output")
        try store.begin(sinks: ["output"])
        store.begin(shards: shards)
        store.noteRunBegan(now)
        mappings = MappingExchange(set)
        commit = StoreCommit(store, mappings)
        let rings = (0..<lanes).map { _ in (0..<shards).map { _ in Ring(capacity: 1 << 10) } }
        for own in rings {
            let router = ReadingRouter(rings: own, maxDevices: 100, maxSeries: 1_000)
            let lane = ReadingLane(
                set: set, inputs: Self.inputs(set), limits: ScanLimits(), router: router, events: record)
            self.lanes.append(LaneBox(lane, variant, set))
        }
        let settings = Self.settings(lateness, limits, retractionsAtHand, guarding)
        let known: any ShardStore = forgetsSeries ? ForgetfulStore(store) : store
        for number in 0..<shards { self.shards.append(shard(number, rings.map { $0[number] }, set, settings, known)) }
        if let resources { for box in self.shards { box.shard.follow(set, rules: resources) } }
        try begin()
    }

    private func shard(
        _ number: Int, _ rings: [Ring], _ set: MappingSet, _ settings: WindowSettings, _ store: any ShardStore
    ) -> ShardBox {
        let encoder = ObservationEncoder(types: set.types, templates: set.fhirTemplates, digest: .openSSL)
        return ShardBox(
            StoredShard(
                number: number, rings: rings, types: set.types, settings: settings,
                entries: EntryWriter(encoder, limits: BundleLimits(entries: 10)), events: record, mappings: mappings,
                store: store))
    }

    private static func inputs(_ set: MappingSet) -> [LaneInput] {
        [LaneInput(templates: set.templates(of: ["m"]), context: SourceContext())]
    }

    private func begin() throws {
        for (number, box) in shards.enumerated() {
            _ = StoreReplay(store, shard: number, of: shards.count).run(into: &box.shard)
            try persist()
            box.shard.beginReceiving(now: now)
        }
        try settle()
    }

    var laneCount: Int { lanes.count }

    // MARK: Readings

    /// Gives `payload` to a lane; the variant that the lane maps by.
    @discardableResult
    func take(_ payload: [UInt8], lane: Int, received: Instant) -> MappingVariant {
        let storage = PaddedBytes(copying: payload)
        lanes[lane].lane.line(storage.view, source: 0, received: received)
        return lanes[lane].variant
    }

    /// What a lane gets from here on is of whom `rules` say.
    func attribute(by rules: PatientRules, lane: Int) { lanes[lane].lane.attribute(by: rules) }

    /// What a lane gets from here on is what `rules` leave.
    func decide(by rules: RuleDecider, lane: Int) { lanes[lane].lane.decide(by: rules) }

    /// Lets a lane publish what it has.
    func publish(lane: Int) { lanes[lane].lane.batchEnd() }

    /// Lets a shard take what its rings have.
    func step(shard: Int) throws {
        try persist()
        _ = shards[shard % shards.count].shard.step(now: now)
    }

    /// Makes everything that was taken durable, and gives the sink what there is.
    func settle() throws {
        for lane in lanes { lane.lane.batchEnd() }
        handOverLetters()
        for box in shards {
            try persist()
            while box.shard.step(now: now) > 0 {}
            box.shard.tick(now: now, bundleAge: 0)
            box.shard.handOver(steady: now, isQuiet: true)
        }
        try persist()
        deliver()
        try persist()
    }

    // MARK: Mappings

    /// Loads another variant, as SIGHUP does; false when it is refused. Lanes follow one by one.
    func reload(_ variant: MappingVariant) -> Bool {
        guard let set = MappingLoader.load([variant.named], continuing: mappings.current).set else { return false }
        mappings.replace(with: set)
        self.variant = variant
        return true
    }

    /// Loads `named`, another mapping; false when it is refused.
    func reload(_ named: NamedMapping) -> Bool {
        guard let set = MappingLoader.load([named], continuing: mappings.current).set else { return false }
        mappings.replace(with: set)
        return true
    }

    /// Lets a lane follow to the newest mapping.
    func follow(lane: Int) {
        let (set, generation) = mappings.announce(rings: shards.count)
        lanes[lane].lane.adopt(set, generation: generation, inputs: Self.inputs(set))
        (lanes[lane].variant, lanes[lane].set) = (variant, set)
        guard followsFirstLane else { return }
        for other in lanes where other.set !== set {
            let (_, generation) = mappings.announce(rings: shards.count)
            other.lane.adopt(other.set, generation: generation, inputs: Self.inputs(other.set))
        }
    }

    // MARK: The end

    /// Ends as the pipeline does.
    func end() throws {
        for lane in lanes { lane.lane.batchEnd() }
        for box in shards {
            try persist()
            box.shard.drain(now: now)
        }
        handOverLetters()
        try persist()
        deliver()
        try persist()
        store.noteRunEnded(now)
        store.close()
    }

    /// Notes that letters were sent again.
    func noteReplayed(_ numbers: [Int64]) throws {
        store.queue.add { $0.letterChanges.append(.noteReplayed(numbers)) }
        try persist()
    }

    private func handOverLetters() {
        let (letters, received) = record.take()
        let hour = LedgerOutcome.hour(of: now)
        store.queue.add { batch in
            func add(_ count: Int, _ outcome: String) {
                let key = TallyKey(source: 0, series: -1, hour: hour, outcome: outcome)
                batch.tallies[key, default: 0] += count
            }
            if received > 0 { add(received, LedgerOutcome.received) }
            for letter in letters { add(1, letter.reason) }
            batch.deadLetters += letters
        }
    }

    private func persist() throws {
        let (batch, submitted) = store.queue.take()
        try commit.commit(batch, now: now)
        store.queue.commit(batch, through: submitted)
    }

    private func deliver() {
        while true {
            let rows = outbox.rows(after: outbox.settledThrough, bytes: 1 << 20, milliseconds: 0)
            guard let last = rows.last else { return }
            for row in rows { delivered += BundleText.of(row.body) }
            blocks += rows.map(\.body)
            outbox.settle(through: last.number, receipts: [], undeliverable: [])
        }
    }
}

/// What lanes and shards tell in a ``ReconfiguredRun``.
final class ReconfiguredRecord: LaneEvents, ShardEvents {
    private var letters: [StoredDeadLetter] = []
    private var count = 0

    func take() -> (letters: [StoredDeadLetter], received: Int) {
        defer { (letters, count) = ([], 0) }
        return (letters, count)
    }

    func rejected(
        _ reason: Rejection, bytes: ByteView, source: Int, received: Instant, lead: Int64, detail: RejectionDetail
    ) {
        letters.append(
            StoredDeadLetter(
                at: received, kind: .payload, reason: reason.name, source: "test", detail: "", bytes: bytes.array))
    }

    func received(_ count: Int, source: Int) { self.count += count }
    func noted(_ notes: MappingNotes, source: Int) {}
    func routed(_ count: Int) {}
    func wake(shard: Int) {}
    func waitForRoom(shard: Int) -> Bool { preconditionFailure("the test settles before a ring is full") }
    func block(_ block: ByteView, for route: BundleRoute, since: Instant) {}
    func rejected(_ reading: RejectedReading, payload: ByteView) {}
    func counted(_ tally: ShardTally) {}
}
