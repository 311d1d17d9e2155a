import KymographCore
import Synchronization

/// The lane's side of the pipeline's bookkeeping: ledger, dead letters, doorbells.
final class LaneReporter: LaneEvents, Sendable {
    /// The set that the lane maps with, for the numbers in its rejections.
    private let set: Mutex<MappingSet>
    private let names: [String]
    private let ledger: PipelineLedger
    private let deadLetters: DeadLetterWriter?
    private let store: Store?
    private let clock: ReceiveClock
    /// Numbers of the sources in the store's ledger.
    private let numbers: [Int]
    /// Who sends what the lane reads now.
    private let peer = Mutex<Peer?>(nil)
    /// The receive time of the last payload that came a second time.
    private let returned = Mutex<Instant?>(nil)
    /// Rejections since the counts were reported last.
    private let rejections = Mutex(LaneRejections())
    private let bells: [Doorbell]
    private let rings: [Ring]
    private let control: PipelineControl
    private let noticesMissingFrames: Bool
    private let wait: WaitStrategy
    private let pulse: Pulse
    private let observer: (any ReadingObserver)?
    /// Number of the lane.
    private let number: Int

    init(
        number: Int, set: MappingSet, sources: [PipelineSettings.Source], ledger: PipelineLedger,
        deadLetters: DeadLetterWriter?,
        store: Store?, clock: ReceiveClock, bells: [Doorbell], rings: [Ring], control: PipelineControl,
        noticesMissingFrames: Bool, wait: WaitStrategy, pulse: Pulse, observer: (any ReadingObserver)?
    ) {
        self.number = number
        self.observer = observer
        self.set = Mutex(set)
        names = sources.map(\.name)
        numbers = sources.map(\.ledgerNumber)
        self.store = store
        self.clock = clock
        self.ledger = ledger
        self.deadLetters = deadLetters
        self.bells = bells
        self.rings = rings
        self.control = control
        self.noticesMissingFrames = noticesMissingFrames
        self.wait = wait
        self.pulse = pulse
    }

    func lead(at received: Instant) -> Int64 {
        // A time of a dead letter is of the clock already, and long gone.
        returned.withLock { $0 } == received ? 0 : clock.lead(at: received)
    }

    /// What comes next was received at `time`.
    func noteReturned(at time: Instant) { returned.withLock { $0 = time } }

    /// The lane maps with `set` from here on.
    func adopt(_ set: MappingSet) { self.set.withLock { $0 = set } }

    func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant, detail: RejectionDetail) {
        ledger.sources[source].reject(reason)
        guard deadLetters != nil || store != nil || observer != nil else { return }
        let text = describe(detail, reason)
        deadLetters?.append(reason: reason, source: names[source], receivedAt: received, bytes: bytes, detail: text)
        guard store != nil || observer != nil else { return }
        let letter = StoredDeadLetter(
            at: received, kind: .payload, reason: reason.name, source: names[source], detail: text, bytes: bytes.array)
        observer?.rejected(reason, letter, source: source)
        if store != nil { rejections.withLock { $0.add(letter, source: source) } }
    }

    /// What is known of a rejection: the rule, or the limit that no rule knows, and who sent the payload.
    private func describe(_ detail: RejectionDetail, _ reason: Rejection) -> String {
        var text = set.withLock { $0 }.describe(detail)
        let isTooLong = [.lineTooLong, .frameTooLong, .truncatedDatagram].contains(reason)
        if text.isEmpty, isTooLong { text = reason.explanation }
        guard let peer = peer.withLock({ $0 }) else { return text }
        return text.isEmpty ? peer.text : "\(text); \(peer.text)"
    }

    /// The lane reads what `peer` has sent from here on.
    func sender(_ peer: Peer?) { self.peer.withLock { $0 = peer } }

    /// Hands what was rejected to the store together with the count that it is among.
    func received(_ count: Int, source: Int) {
        ledger.sources[source].add(received: count)
        observer?.received(count, source: source)
        guard let store else { return }
        let hour = LedgerOutcome.hour(of: WallClock.now())
        let key = TallyKey(source: numbers[source], series: -1, hour: hour, outcome: LedgerOutcome.received)
        let letters = rejections.withLock { $0.take(source: source) }
        if letters.isEmpty { return store.book.add(count, to: key) }
        store.queue.waitForRoom { pulse.beat() }
        store.queue.add { batch in
            batch.tallies[key, default: 0] += count
            for letter in letters {
                let key = TallyKey(
                    source: numbers[source], series: -1, hour: LedgerOutcome.hour(of: letter.at),
                    outcome: letter.reason)
                batch.tallies[key, default: 0] += 1
            }
            batch.deadLetters += letters
            batch.byteCount += letters.reduce(0) { $0 + $1.bytes.count }
        }
    }

    /// Notes that the lane is at work, though there may be nothing to do.
    func noteAlive() { pulse.beat() }

    /// Gives dead letters to their file that wait to be written together: somebody may follow it.
    func showDeadLetters() {
        guard let deadLetters else { return }
        deadLetters.flush()
        if let error = deadLetters.takeError() { control.note(.error("\(error.message); trying again")) }
    }

    /// Tells the operator of a source.
    func note(_ text: String) { control.note(.warning(text)) }

    func noted(_ notes: MappingNotes, source: Int) { ledger.sources[source].note(notes) }

    func missed(_ gaps: [FrameGap], source: Int) {
        for gap in gaps where noticesMissingFrames {
            ledger.miss(gap)
            guard let store else { continue }
            let hour = LedgerOutcome.hour(of: WallClock.now())
            for (count, outcome) in LedgerOutcome.counts(of: gap) where count > 0 {
                let key = TallyKey(source: numbers[source], series: -1, hour: hour, outcome: outcome)
                store.book.add(count, to: key)
            }
        }
    }

    func routed(_ count: Int) { ledger.add(routed: count) }

    func wake(shard: Int) { bells[shard].ring() }

    func waitForRoom(shard: Int) -> Bool {
        let ring = rings[shard]
        ledger.addWait(lane: number, shard: shard)
        // Half empty before going on: a lane that wakes for every free slot would trade places with the shard all the
        // time. Not before the quickest shard can be there, at 100 ns a reading, and longer and longer sleeps, because
        // one that sends hundreds of windows takes milliseconds, and each look costs more than mapping ten readings.
        var microseconds = min(ring.capacity / 20, 400)
        while ring.usedSlots > ring.capacity / 2 {
            if control.isForced { return false }
            pulse.beat()
            guard wait == .sleep else {
                wait.relax()
                continue
            }
            bells[shard].ring()
            Wait.microseconds(microseconds)
            microseconds = min(microseconds * 2, 800)
        }
        return true
    }
}

/// What a lane has rejected since it reported its counts last.
struct LaneRejections {
    private var letters: [Int: [StoredDeadLetter]] = [:]

    mutating func add(_ letter: StoredDeadLetter, source: Int) { letters[source, default: []].append(letter) }

    mutating func take(source: Int) -> [StoredDeadLetter] { letters.removeValue(forKey: source) ?? [] }
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
        (set, generation) = mappings.announce(rings: settings.shards)
        reporter.adopt(set)
        lane.adopt(set, generation: generation, inputs: settings.laneInputs(set: set))
    }

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        lane.line(bytes, source: source, received: first(bytes, source) ?? received)
    }

    mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? {
        // Whether it is expected is seen when it is whole.
        guard settings.returning.isEmpty else { return nil }
        return lane.knownLine(bytes, source: source, received: received)
    }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {
        lane.datagram(bytes, source: source, received: first(bytes, source) ?? received)
    }

    /// When a dead letter with these bytes came, if they come again; nil otherwise.
    @inline(__always)
    private func first(_ bytes: ByteView, _ source: Int) -> Instant? {
        settings.returning.isEmpty ? nil : firstTime(bytes, source)
    }

    @inline(never)
    private func firstTime(_ bytes: ByteView, _ source: Int) -> Instant? {
        let time = settings.returning.time(of: bytes, from: settings.sources[source].name)
        if let time { reporter.noteReturned(at: time) }
        return time
    }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        lane.rejected(reason, bytes: bytes, source: source, received: received)
    }

    mutating func sender(_ peer: Peer?) { reporter.sender(peer) }

    mutating func idled() {
        reporter.noteAlive()
        reporter.showDeadLetters()
    }

    mutating func noted(_ text: String) { reporter.note(text) }

    mutating func batchEnd() { lane.batchEnd() }

    mutating func mark() -> DurableMark? {
        guard let store else { return nil }
        return DurableMark(positions: lane.written, changes: store.queue.changes)
    }

    mutating func isDurable(_ mark: DurableMark) -> Bool {
        store?.queue.isDurable(mark, lane: number) ?? false
    }
}
