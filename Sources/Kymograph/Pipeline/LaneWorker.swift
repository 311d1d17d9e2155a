import KymographCore
import Synchronization

/// The lane's side of the pipeline's bookkeeping: ledger, dead letters, doorbells.
final class LaneReporter: LaneEvents, Sendable {
    /// The set that the lane maps with, for the numbers in its rejections.
    private let set: Mutex<MappingSet>
    private let names: [String]
    private let ledger: PipelineLedger
    private let deadLetters: DeadLetterWriter?
    private let bells: [Doorbell]
    private let rings: [Ring]
    private let control: PipelineControl

    init(
        set: MappingSet, names: [String], ledger: PipelineLedger, deadLetters: DeadLetterWriter?, bells: [Doorbell],
        rings: [Ring], control: PipelineControl
    ) {
        self.set = Mutex(set)
        self.names = names
        self.ledger = ledger
        self.deadLetters = deadLetters
        self.bells = bells
        self.rings = rings
        self.control = control
    }

    /// The lane maps with `set` from here on.
    func adopt(_ set: MappingSet) { self.set.withLock { $0 = set } }

    func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant, detail: RejectionDetail) {
        ledger.sources[source].reject(reason)
        guard let deadLetters else { return }
        let text = set.withLock { $0 }.describe(detail)
        deadLetters.append(reason: reason, source: names[source], receivedAt: received, bytes: bytes, detail: text)
    }

    func received(_ count: Int, source: Int) { ledger.sources[source].add(received: count) }

    func noted(_ notes: MappingNotes, source: Int) { ledger.sources[source].note(notes) }

    func routed(_ count: Int) { ledger.add(routed: count) }

    func wake(shard: Int) { bells[shard].ring() }

    func waitForRoom(shard: Int) -> Bool {
        let ring = rings[shard]
        // Half empty before going on: a lane that wakes for every free slot would trade places with the shard all the
        // time. Longer and longer sleeps, because a shard that sends hundreds of windows takes milliseconds, and each
        // look costs more than mapping ten readings.
        var microseconds = 50
        while ring.usedSlots > ring.capacity / 2 {
            if control.isForced { return false }
            bells[shard].ring()
            Wait.microseconds(microseconds)
            microseconds = min(microseconds * 2, 800)
        }
        return true
    }
}

/// Hands what a lane receives to the core, and follows the mappings between batches.
struct LaneConsumer: ~Copyable, PayloadConsumer {
    private var lane: ReadingLane
    private let settings: PipelineSettings
    private let mappings: MappingExchange
    private let reporter: LaneReporter
    /// Number of the lane, and what makes its readings durable.
    private let number: Int
    private let store: Store?
    /// Of the set in use.
    private var generation: Int

    /// Maps for `settings` with `first`, which the shards begin with too; `mappings` may have newer ones by now.
    init(
        _ settings: PipelineSettings, first set: MappingSet, _ mappings: MappingExchange,
        router: consuming ReadingRouter, reporter: LaneReporter, number: Int, store: Store?
    ) {
        self.number = number
        self.store = store
        lane = ReadingLane(
            set: set, inputs: settings.laneInputs(set: set), limits: settings.scan, router: router, events: reporter)
        self.settings = settings
        self.mappings = mappings
        self.reporter = reporter
        generation = 0
    }

    mutating func batchBegin() {
        if mappings.generation != generation { adopt() }
    }

    private mutating func adopt() {
        let set: MappingSet
        (set, generation) = mappings.latest
        reporter.adopt(set)
        lane.adopt(set, inputs: settings.laneInputs(set: set))
    }

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        lane.line(bytes, source: source, received: received)
    }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {
        lane.datagram(bytes, source: source, received: received)
    }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        lane.rejected(reason, bytes: bytes, source: source, received: received)
    }

    mutating func batchEnd() { lane.batchEnd() }

    mutating func mark() -> DurableMark? {
        guard let store else { return nil }
        return DurableMark(positions: lane.written, changes: store.queue.changes)
    }

    mutating func isDurable(_ mark: DurableMark) -> Bool {
        store?.queue.isDurable(mark, lane: number) ?? false
    }
}
