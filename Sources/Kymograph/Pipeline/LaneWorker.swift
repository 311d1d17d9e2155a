import KymographCore
import Synchronization

/// The lane's side of the pipeline's bookkeeping: ledger, dead letters, doorbells.
final class LaneReporter: LaneEvents, Sendable {
    /// Describes rejections by what the lane maps with.
    private let templates: Mutex<NearestTemplates>
    /// What is known of a source.
    private struct Account {
        var name: String
        /// Its number in the store's ledger.
        var number: Int
        /// Whether it drops what has no room.
        var drops: Bool
        var ledger: SourceLedger
    }

    /// By the numbers of sources.
    private let accounts = Mutex<[Account]>([])
    private let ledger: PipelineLedger
    private let deadLetters: DeadLetterWriter?
    private let store: Store?
    private let clock: ReceiveClock
    /// Who sends what the lane reads now.
    private let peer = Mutex<Peer?>(nil)
    /// What the list of peers calls it, and whose its readings are; and the one mapping that its request has chosen.
    private let listed = Mutex<(name: String?, patient: FixedPatient, mapping: IdentifierText?)>((nil, .unknown, nil))
    /// The rule that has not let the last reading through, and why.
    private let rule = Mutex<String?>(nil)
    /// Names of types, and the number of that whose reading was last refused for it.
    private let types: Mutex<(names: [String], limited: Int)>
    private let counts: RuleCounts
    /// The receive time of the last payload that came a second time.
    private let returned = Mutex<Instant?>(nil)
    /// Rejections since the counts were reported last.
    private let rejections = Mutex(LaneRejections())
    /// Reasons of rejections since somebody asked for them, each once.
    private let reasons = Mutex<[Rejection]>([])
    private let hasReasons = Atomic(false)
    private let bells: [Doorbell]
    private let rings: [Ring]
    private let control: PipelineControl
    private let noticesMissingFrames: Bool
    private let wait: WaitStrategy
    private let pulse: Pulse
    private let observer: (any ReadingObserver)?
    /// What the lane shows to taps.
    let tap: LaneTap
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
        self.observer = observer
        templates = Mutex(NearestTemplates(set))
        types = Mutex((set.types.map(\.name), -1))
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
                ledger: ledger.source(number))
        }
        accounts.withLock { $0 = known }
    }

    private func account(_ source: Int) -> Account { accounts.withLock { $0[source] } }

    func lead(at received: Instant) -> Int64 {
        // A time of a dead letter is of the clock already, and long gone.
        returned.withLock { $0 } == received ? 0 : clock.lead(at: received)
    }

    func readingCounts(for set: MappingSet) -> SharedCounts { ledger.readings.counts(of: set, lane: number) }

    /// What comes next was received at `time`.
    func noteReturned(at time: Instant) { returned.withLock { $0 = time } }

    /// The lane maps `inputs`, by the numbers of their sources, with `set` from here on.
    func adopt(_ set: MappingSet, _ inputs: [LaneInput]) {
        templates.withLock { $0.adopt(set, templates: inputs.map(\.templates)) }
        types.withLock { $0 = (set.types.map(\.name), -1) }
        tap.adopt(set)
    }

    func tapped(_ measurement: Measurement, payload: ByteView, key: ByteView, source: Int) {
        tap.measured(measurement, payload: payload, key: key, source: source)
    }

    func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant, detail: RejectionDetail) {
        let account = account(source)
        account.ledger.reject(reason)
        tap.rejected(reason)
        remember(reason)
        PeerAudit.note(reason, of: listed.withLock { $0.name }, source: account.name, to: control)
        if reason == .bufferFull || reason == .droppedByRule { return noteDropped(reason, source, received) }
        guard deadLetters != nil || store != nil || observer != nil else { return }
        let text = describe(detail, reason, bytes, source, received)
        deadLetters?.append(reason: reason, source: account.name, receivedAt: received, bytes: bytes, detail: text)
        guard store != nil || observer != nil else { return }
        let letter = StoredDeadLetter(
            at: received, kind: .payload, reason: reason.name, source: account.name, detail: text, bytes: bytes.array)
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

    /// What is known of a rejection: the rule, or the limit that no rule knows, and who sent the payload.
    private func describe(
        _ detail: RejectionDetail, _ reason: Rejection, _ bytes: ByteView, _ source: Int, _ received: Instant
    ) -> String {
        var text = templates.withLock {
            $0.text(detail, reason, bytes: bytes, source: source, received: received)
        }
        let isTooLong = [.lineTooLong, .frameTooLong, .truncatedDatagram].contains(reason)
        if text.isEmpty, isTooLong { text = reason.explanation }
        if reason == .rejectedByRule || reason == .ruleFailed, let rule = rule.withLock({ $0 }) {
            text = text.isEmpty ? "rule \(rule)" : "rule \(rule), \(text)"
        }
        if [.typeNotAllowed, .afterStopDate, .typePaused].contains(reason) {
            let type = types.withLock { $0.names.indices.contains($0.limited) ? $0.names[$0.limited] : "" }
            text = "type \(type)" + (text.isEmpty ? "" : ", \(text)")
        }
        let (name, patient, mapping) = listed.withLock { $0 }
        // What is replayed comes by no connection.
        let isKnown = name != nil || mapping != nil
        guard let sender = peer.withLock({ $0?.text }) ?? (isKnown ? "it came again" : nil) else { return text }
        let who =
            sender + (mapping.map { "\(Peer.mappingText)\($0)" } ?? "")
            + (name.map { "\(Peer.listedText)\($0)\(patient.text)" } ?? "")
        return text.isEmpty ? who : "\(text); \(who)"
    }

    func limited(type: Int) { types.withLock { $0.limited = type } }

    func ruled(_ reason: Rejection, by rule: String, detail: String) {
        counts.refused(by: rule)
        self.rule.withLock { $0 = detail.isEmpty ? rule : "\(rule): \(detail)" }
    }

    func rewrote(_ rewritten: [(rule: String, count: Int)], tagged: [(tags: [UInt8], count: Int)]) {
        for (rule, count) in rewritten { counts.rewrote(count, by: rule) }
        for (tags, count) in tagged { counts.tagged(count, with: tags) }
    }

    /// It is one of the list of peers, and has chosen `mapping` alone.
    func admit(_ admission: PeerAdmission?, mapping: IdentifierText?) {
        listed.withLock { $0 = (admission?.name, admission?.fixedPatient ?? .unknown, mapping) }
    }

    /// A request of `peer` to source `source` was refused.
    func declined(_ peer: PeerAdmission?, _ reason: Rejection, source: Int) {
        PeerAudit.note(reason, of: peer?.name, source: account(source).name, to: control)
    }

    /// The lane reads what `peer` has sent from here on.
    func sender(_ peer: Peer?) { self.peer.withLock { $0 = peer } }

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
    func note(_ text: String) { control.note(.warning(text)) }

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
    /// Those without a letter, by reason.
    private var counts: [Int: [Rejection: Int]] = [:]

    mutating func add(_ letter: StoredDeadLetter, source: Int) { letters[source, default: []].append(letter) }

    mutating func add(reason: Rejection, source: Int) { counts[source, default: [:]][reason, default: 0] += 1 }

    mutating func take(source: Int) -> (letters: [StoredDeadLetter], counts: [Rejection: Int]) {
        (letters.removeValue(forKey: source) ?? [], counts.removeValue(forKey: source) ?? [:])
    }
}

/// Hands what a lane receives to the core, and follows the mappings between batches.
struct LaneConsumer: ~Copyable, PayloadConsumer {
    private var lane: ReadingLane
    private var settings: PipelineSettings
    private let newSettings: SettingsExchange
    private let mappings: MappingExchange
    private let reporter: LaneReporter
    /// Number of the lane, and what makes its readings durable.
    private let number: Int
    private let store: Store?
    private let taps: TapPoint
    /// Whether somebody looks at each payload.
    private let attention: PayloadAttention
    /// Of the set in use.
    private var generation: Int
    /// Of the taps in use.
    private var tapGeneration = 0
    /// Whose devices are, and the generation of the map in use; nil without a map.
    private let patients: PatientBook?
    private var patientGeneration = -1
    /// The generation of the rules in use.
    private var ruleGeneration = -1
    /// The set in use, and its types.
    private var set: MappingSet
    private var types: [MeasurementType]
    /// What is paused.
    private let pauses: PauseBook
    private var pausedTypes: Set<String> = []
    /// By the numbers of sources, whether all that they bring is rejected; empty when of none.
    private var rejectsAll: [Bool] = []
    /// Sources whose brokers keep nothing while they are paused, and such that are gone.
    private var rejected: Set<Int> = []
    /// Which readings are taken now; nil for all.
    private var admitted: PeerAdmission?
    /// What each payload of its sender is asked.
    private var bounds = PayloadBounds()

    /// Maps for `settings` with `first`, which the shards begin with too; `mappings` may have newer ones by now, and
    /// `newSettings` the settings that go with them.
    init(
        _ settings: PipelineSettings, _ newSettings: SettingsExchange, first set: MappingSet,
        _ mappings: MappingExchange, router: consuming ReadingRouter, reporter: LaneReporter, number: Int,
        store: Store?, taps: TapPoint, pauses: PauseBook
    ) {
        self.pauses = pauses
        self.number = number
        self.store = store
        self.taps = taps
        attention = settings.returning.attention
        let inputs = settings.laneInputs(set: set)
        reporter.adopt(set, inputs)
        lane = ReadingLane(set: set, inputs: inputs, limits: settings.scan, router: router, events: reporter)
        self.settings = settings
        patients = settings.patients.book
        (self.set, types) = (set, set.types)
        self.newSettings = newSettings
        self.mappings = mappings
        self.reporter = reporter
        generation = 0
        adoptPatients()
        adoptRules()
        adoptPauses()
    }

    mutating func pausesChanged(_ generation: Int) {
        attention.add(-rejected.count)
        rejected = []
        adoptPauses()
        pauses.noteAdopted(generation, lane: number)
    }

    mutating func rejectsAll(of source: Int) {
        guard rejected.insert(source).inserted else { return }
        adoptPauses()
        // Until pauses change: then the lane says again what is to be rejected.
        attention.add(1)
    }

    /// What comes from here on is taken, unless it is paused.
    private mutating func adoptPauses() {
        let paused = pauses.current
        pausedTypes = Set(paused.filter { $0.kind == .type }.map(\.name))
        let rejecting = settings.sources.enumerated().map { number, source in
            rejected.contains(number)
                || !source.configuration.canWait && paused.contains { $0.kind == .source && $0.isNamed(source.name) }
        }
        rejectsAll = rejecting.contains(true) ? rejecting : []
        limit()
    }

    /// Takes what sources are to take.
    private mutating func limit() {
        lane.limit(
            by: IntakeLimits(settings.sources.map(\.intake), pausedTypes: pausedTypes, types: types))
    }

    mutating func batchBegin() {
        if settings.ruleGeneration != ruleGeneration { adoptRules() }
        if let patients, patients.generation != patientGeneration { adoptPatients() }
        if mappings.generation != generation { adopt() }
        if taps.generation != tapGeneration { adoptTaps() }
    }

    @inline(never)
    private mutating func adoptTaps() {
        let open: [OpenTap]
        (open, tapGeneration) = taps.current
        lane.isTapped = reporter.tap.adopt(open)
    }

    /// What comes from here on is of whom the newest map says.
    @inline(never)
    private mutating func adoptPatients() {
        guard let patients else { return }
        let map: PatientMap
        (map, patientGeneration) = patients.current
        lane.attribute(by: PatientRules(map, settings.patientPolicy))
    }

    /// What comes from here on is taken by the newest rules.
    @inline(never)
    private mutating func adoptRules() {
        // Before the rules are read: those that come meanwhile are adopted with the next batch.
        ruleGeneration = settings.ruleGeneration
        lane.decide(by: settings.decider(of: settings.sources, types: types))
    }

    private mutating func adopt() {
        let set: MappingSet
        (set, generation) = mappings.announce(rings: settings.shards)
        settings = newSettings.settings(at: generation)
        let inputs = settings.laneInputs(set: set)
        reporter.adopt(settings.sources)
        reporter.adopt(set, inputs)
        lane.adopt(set, generation: generation, inputs: inputs)
        bounds.forgetTemplates()
        (self.set, types) = (set, set.types)
        adoptPatients()
        adoptRules()
        adoptPauses()
    }

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        guard attention.isNone, bounds.isNone else { return attended(bytes, isLine: true, source, received) }
        lane.line(bytes, source: source, received: received)
    }

    mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? {
        // Who looks at payloads sees them when they are whole.
        guard attention.isNone, bounds.isNone else { return nil }
        return lane.knownLine(bytes, source: source, received: received)
    }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {
        guard attention.isNone, bounds.isNone else { return attended(bytes, isLine: false, source, received) }
        lane.datagram(bytes, source: source, received: received)
    }

    /// Maps a payload that is looked at by itself: it may be a dead letter that comes again, taps may show it, and its
    /// sender may be bound.
    @inline(never)
    private mutating func attended(_ bytes: ByteView, isLine: Bool, _ source: Int, _ time: Instant) {
        let received = firstTime(bytes, source) ?? time
        if isRejected(source) { return attendedRejection(.sourcePaused, bytes, source, received) }
        guard bounds.take(bytes.count) else { return attendedRejection(.rateLimited, bytes, source, received) }
        narrow(source)
        reporter.tap.payloadBegins()
        if let owner = bounds.owner {
            lane.payload(bytes, isLine: isLine, of: owner, source: source, received: received)
        } else if isLine {
            lane.line(bytes, source: source, received: received)
        } else {
            lane.datagram(bytes, source: source, received: received)
        }
        lane.showTapped()
        reporter.tap.payloadEnded(bytes, source: source, received: received)
    }

    private func isRejected(_ source: Int) -> Bool { !rejectsAll.isEmpty && rejectsAll[source] }

    /// When a dead letter with these bytes came, if they come again; nil otherwise.
    private func firstTime(_ bytes: ByteView, _ source: Int) -> Instant? {
        guard !settings.returning.isEmpty else { return nil }
        let time = settings.returning.time(of: bytes, from: settings.sources[source].name)
        if let time { reporter.noteReturned(at: time) }
        return time
    }

    mutating func datagram(
        _ bytes: ByteView, device: ByteView?, patient: ByteView?, source: Int, received: Instant
    ) {
        let isAttended = !attention.isNone
        let time = isAttended ? firstTime(bytes, source) ?? received : received
        let owner = PayloadOwner(device: device?.array, patient: patient?.array)
        if isAttended, isRejected(source) { return attendedRejection(.sourcePaused, bytes, source, time) }
        if isAttended { reporter.tap.payloadBegins() }
        lane.payload(bytes, isLine: false, of: owner, source: source, received: time)
        guard isAttended else { return }
        lane.showTapped()
        reporter.tap.payloadEnded(bytes, source: source, received: time)
    }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        guard attention.isNone else { return attendedRejection(reason, bytes, source, received) }
        lane.rejected(reason, bytes: bytes, source: source, received: received)
    }

    @inline(never)
    private mutating func attendedRejection(
        _ reason: Rejection, _ bytes: ByteView, _ source: Int, _ received: Instant
    ) {
        reporter.tap.payloadBegins()
        lane.rejected(reason, bytes: bytes, source: source, received: received)
        reporter.tap.payloadEnded(bytes, source: source, received: received)
    }

    mutating func sender(_ peer: Peer?) { reporter.sender(peer) }

    mutating func admit(_ admission: PeerAdmission?, mapping: IdentifierText?) {
        guard admission !== admitted || bounds.mapping != mapping else { return }
        admitted = admission
        lane.admission = admission
        lane.narrow(-1, to: nil)
        bounds = PayloadBounds(admission, mapping: mapping)
        reporter.admit(admission, mapping: mapping)
    }

    mutating func declined(_ peer: PeerAdmission?, _ reason: Rejection, source: Int) {
        reporter.declined(peer, reason, source: source)
    }

    var taken: Int { lane.taken }

    /// Tries those mappings of `source` alone that the sender of what comes may use.
    private mutating func narrow(_ source: Int) {
        guard bounds.isToBeNarrowed(source) else { return }
        let names = bounds.mappings(of: mappings(of: source))
        lane.narrow(source, to: names.map { set.templates(of: $0) })
    }

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

    mutating func takeRejections() -> [Rejection] { reporter.takeReasons() }

    func mappings(of source: Int) -> [String] { settings.mappings(of: settings.sources[source]) }

    mutating func isDurable(_ mark: DurableMark) -> Bool {
        store?.queue.isDurable(mark, lane: number) ?? false
    }
}
