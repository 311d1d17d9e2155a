import KymographCore
import Synchronization

/// The lane's side of the pipeline's bookkeeping: ledger, dead letters, doorbells.
final class LaneReporter: LaneEvents, Sendable {
    /// What is told of rejections.
    private let context: Mutex<RejectionContext>
    /// What is known of a source.
    private struct Account {
        var name: String
        /// Its number in the store's ledger.
        var number: Int
        /// Whether it drops what has no room.
        var drops: Bool
        /// What dead letters keep of it.
        var context: LetterContext
        var ledger: SourceLedger
    }

    /// By the numbers of sources.
    private let accounts = Mutex<[Account]>([])
    private let ledger: PipelineLedger
    private let deadLetters: DeadLetterWriter?
    private let store: Store?
    private let clock: ReceiveClock
    private let counts: RuleCounts
    /// By how much readings of the present payload are stamped later, if that is a dead letter; nil for others.
    private let returnedLead = Mutex<Int64?>(nil)
    /// Rejections since the counts were reported last.
    private let rejections = Mutex(LaneRejections())
    /// Reasons of rejections since somebody asked for them, each once.
    private let reasons = Mutex<[Rejection]>([])
    private let hasReasons = Atomic(false)
    private let strangers = StrangerLetters()
    private let bells: [Doorbell]
    private let rings: [Ring]
    private let control: PipelineControl
    private let noticesMissingFrames: Bool
    private let wait: WaitStrategy
    private let pulse: Pulse
    private let observer: (any ReadingObserver)?
    /// What the lane shows to taps.
    let tap: LaneTap
    /// What keeps payloads as they came.
    private let keeper: PayloadKeeper
    /// Number of the lane.
    private let number: Int

    init(
        number: Int, set: MappingSet, sources: [PipelineSettings.Source], ledger: PipelineLedger,
        deadLetters: DeadLetterWriter?,
        store: Store?, clock: ReceiveClock, bells: [Doorbell], rings: [Ring], control: PipelineControl,
        noticesMissingFrames: Bool, wait: WaitStrategy, pulse: Pulse, observer: (any ReadingObserver)?,
        tap: LaneTap, counts: RuleCounts
    ) {
        self.counts = counts
        self.number = number
        self.tap = tap
        keeper = PayloadKeeper(set, store: store, ledger: ledger, pulse: pulse)
        self.observer = observer
        context = Mutex(RejectionContext(set))
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
        adopt(sources)
    }

    /// The lane reads `sources` from here on, by their numbers.
    func adopt(_ sources: [PipelineSettings.Source]) {
        let known = sources.enumerated().map { number, source in
            Account(
                name: source.name, number: source.ledgerNumber, drops: source.configuration.dropsWhenFull,
                context: source.letterContext, ledger: ledger.source(number))
        }
        accounts.withLock { $0 = known }
    }

    private func account(_ source: Int) -> Account { accounts.withLock { $0[source] } }

    func lead(at received: Instant) -> Int64 {
        // What the clock showed when a dead letter came is long gone.
        returnedLead.withLock { $0 } ?? clock.lead(at: received)
    }

    func ownLead(at received: Instant) -> Int64 {
        returnedLead.withLock { $0 } ?? clock.ownLead(at: received)
    }

    /// Rejections that the store was or will be told of: with a letter, and without.
    var rejected: (kept: Int, dropped: Int) { rejections.withLock { $0.totals } }

    func readingCounts(for set: MappingSet) -> SharedCounts { ledger.readings.counts(of: set, lane: number) }

    /// What comes next is a dead letter whose readings are stamped `lead` nanoseconds later than it came; with nil it
    /// is none.
    func noteReturned(lead: Int64?) { returnedLead.withLock { $0 = lead } }

    /// The lane maps `inputs`, by the numbers of their sources, with `set` from here on.
    func adopt(_ set: MappingSet, _ inputs: [LaneInput]) {
        context.withLock { $0.adopt(set, inputs) }
        tap.adopt(set)
        keeper.adopt(set)
    }

    /// Payloads are kept as `settings` say from here on; by how much the reasons for looking at each payload grow.
    func keepPayloads(by settings: StoreSettings) -> Int { keeper.follow(settings) }

    /// Whether readings are to be shown with their payloads, besides what `taps` want.
    func adopt(_ taps: [OpenTap]) -> Bool {
        let isTapped = tap.adopt(taps)
        return isTapped || keeper.isOn
    }

    /// A payload is about to be mapped.
    func payloadBegins() {
        tap.payloadBegins()
        keeper.payloadBegins()
    }

    /// The payload of source `source` was mapped, and its readings shown.
    func payloadEnded(_ bytes: ByteView, source: Int, received: Instant) {
        tap.payloadEnded(bytes, source: source, received: received)
        guard keeper.isOn else { return }
        let account = account(source)
        keeper.payloadEnded(bytes, source: account.number, received: received, drops: account.drops)
    }

    /// Gives the store the payloads that it is to keep.
    func handOverPayloads() { keeper.handOver() }

    func tapped(_ measurement: Measurement, payload: ByteView, key: ByteView, source: Int) {
        tap.measured(measurement, payload: payload, key: key, source: source)
        keeper.measured(measurement, key: key)
    }

    func rejected(
        _ reason: Rejection, bytes: ByteView, source: Int, received: Instant, lead: Int64, detail: RejectionDetail
    ) {
        let account = account(source)
        account.ledger.reject(reason)
        tap.rejected(reason)
        remember(reason)
        PeerAudit.note(reason, of: context.withLock { $0.peer }, source: account.name, to: control)
        if reason == .bufferFull || reason == .droppedByRule { return noteDropped(reason, source, received) }
        if reason.isUnproven, !strangers.keeps(reason, bytes, source: source) {
            return noteDropped(reason, source, received)
        }
        guard deadLetters != nil || store != nil || observer != nil else { return }
        let text = context.withLock { $0.text(detail, reason, bytes, source: source, received: received) }
        deadLetters?.append(reason: reason, source: account.name, receivedAt: received, bytes: bytes, detail: text)
        guard store != nil || observer != nil else { return }
        // Replayed, it is mapped by the wall clock, and has the place among others that its readings had.
        var context = account.context
        context.lead = lead
        let letter = StoredDeadLetter(
            at: received, kind: .payload, reason: reason.name, source: account.name, detail: text, bytes: bytes.array,
            context: context)
        observer?.rejected(reason, letter, source: source)
        if store != nil { rejections.withLock { $0.add(letter, source: source) } }
    }

    private func remember(_ reason: Rejection) {
        reasons.withLock { if !$0.contains(reason) { $0.append(reason) } }
        hasReasons.store(true, ordering: .relaxed)
    }

    /// Reasons of rejections since the last call, each once.
    func takeReasons() -> [Rejection] {
        guard hasReasons.load(ordering: .relaxed) else { return [] }
        hasReasons.store(false, ordering: .relaxed)
        return reasons.withLock { reasons in
            defer { reasons = [] }
            return reasons
        }
    }

    /// Counts a reading, and keeps no letter: one for which there was no room, whose bytes would wait for the same, or
    /// one that a rule drops.
    private func noteDropped(_ reason: Rejection, _ source: Int, _ received: Instant) {
        if store != nil { rejections.withLock { $0.add(reason: reason, source: source) } }
        guard let observer else { return }
        let letter = StoredDeadLetter(
            at: received, kind: .payload, reason: reason.name, source: account(source).name, detail: "",
            bytes: [])
        observer.rejected(reason, letter, source: source)
    }

    func limited(type: Int) { context.withLock { $0.limitedType = type } }

    func ruled(_ reason: Rejection, by rule: String, detail: String) {
        counts.refused(by: rule)
        context.withLock { $0.rule = detail.isEmpty ? rule : "\(rule): \(detail)" }
    }

    func rewrote(_ rewritten: [(rule: String, count: Int)], tagged: [(tags: [UInt8], count: Int)]) {
        for (rule, count) in rewritten { counts.rewrote(count, by: rule) }
        for (tags, count) in tagged { counts.tagged(count, with: tags) }
    }

    /// It is one of the list of peers, and has chosen `mapping` alone.
    func admit(_ admission: PeerAdmission?, mapping: IdentifierText?) {
        context.withLock { $0.admit(admission, mapping: mapping) }
    }

    /// A request of `peer` to source `source` was refused.
    func declined(_ peer: PeerAdmission?, _ reason: Rejection, source: Int) {
        PeerAudit.note(reason, of: peer?.name, source: account(source).name, to: control)
    }

    /// The lane reads what `peer` has sent from here on.
    func sender(_ peer: Peer?) { context.withLock { $0.sender = peer } }

    /// Hands what was rejected to the store together with the count that it is among.
    func received(_ count: Int, source: Int) {
        let account = account(source)
        account.ledger.add(received: count)
        observer?.received(count, source: source)
        guard let store else { return }
        let hour = LedgerOutcome.hour(of: WallClock.now())
        let key = TallyKey(source: account.number, series: -1, hour: hour, outcome: LedgerOutcome.received)
        let (letters, counts) = rejections.withLock { $0.take(source: source) }
        if letters.isEmpty, counts.isEmpty { return store.book.add(count, to: key) }
        var tallies = [key: count]
        for (reason, count) in counts {
            tallies[TallyKey(source: account.number, series: -1, hour: hour, outcome: reason.name)] = count
        }
        for letter in letters {
            let hour = LedgerOutcome.hour(of: letter.at)
            tallies[TallyKey(source: account.number, series: -1, hour: hour, outcome: letter.reason), default: 0] += 1
        }
        // A source that may not wait: what it has rejected is counted without its bytes.
        guard !letters.isEmpty, !account.drops || store.queue.hasRoom else { return store.book.add(tallies) }
        if !account.drops { store.queue.waitForRoom { pulse.beat() } }
        store.queue.add { batch in
            batch.tallies.merge(tallies) { $0 + $1 }
            batch.deadLetters += letters
            batch.byteCount += letters.reduce(0) { $0 + $1.weight }
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
    func note(_ text: String) { note(.warning(text)) }

    /// Tells the operator what the entry says.
    func note(_ entry: LogEntry) { control.note(entry) }

    func noted(_ notes: MappingNotes, source: Int) { account(source).ledger.note(notes) }

    func missed(_ gaps: [FrameGap], source: Int) {
        for gap in gaps where noticesMissingFrames {
            ledger.miss(gap)
            guard let store else { continue }
            let hour = LedgerOutcome.hour(of: WallClock.now())
            for (count, outcome) in LedgerOutcome.counts(of: gap) where count > 0 {
                let key = TallyKey(source: account(source).number, series: -1, hour: hour, outcome: outcome)
                store.book.add(count, to: key)
            }
        }
    }

    func routed(_ count: Int) { ledger.add(routed: count) }

    func met(_ introductions: Introductions) { ledger.note(introductions, lane: number) }

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
