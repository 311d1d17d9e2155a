import KymographCore

/// The lane's side of the pipeline's bookkeeping: ledger, dead letters, doorbells.
final class LaneReporter: LaneEvents, Sendable {
    private let set: MappingSet
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
        self.set = set
        self.names = names
        self.ledger = ledger
        self.deadLetters = deadLetters
        self.bells = bells
        self.rings = rings
        self.control = control
    }

    func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant, detail: RejectionDetail) {
        ledger.sources[source].reject(reason)
        guard let deadLetters else { return }
        let text = set.describe(detail)
        deadLetters.append(reason: reason, source: names[source], receivedAt: received, bytes: bytes, detail: text)
    }

    func received(_ count: Int, source: Int) { ledger.sources[source].add(received: count) }

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

/// Hands what a lane receives to the core.
struct LaneConsumer: ~Copyable, PayloadConsumer {
    private var lane: ReadingLane

    init(_ lane: consuming ReadingLane) {
        self.lane = lane
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
}
