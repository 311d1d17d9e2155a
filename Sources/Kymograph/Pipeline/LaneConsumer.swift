import KymographCore

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
    /// Readings that were taken before the present count.
    private var takenBefore = 0
    private var arrivals = LaneArrivals()

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
        adoptKeeping()
    }

    /// Keeps payloads as the settings say.
    private mutating func adoptKeeping() {
        let change = reporter.keepPayloads(by: settings.store)
        guard change != 0 else { return }
        attention.add(change)
        adoptTaps()
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
        lane.isTapped = reporter.adopt(open)
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
        let limits = settings.windows.limits
        lane.adopt(
            set, generation: generation, inputs: inputs, limits: settings.scan,
            series: DeviceLimits(devices: limits.maxDevices, series: limits.maxSeries))
        bounds.forgetTemplates()
        (self.set, types) = (set, set.types)
        adoptPatients()
        adoptRules()
        adoptPauses()
        adoptKeeping()
    }

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        guard mapsAtOnce(source) else { return attended(bytes, isLine: true, source, received) }
        lane.line(bytes, source: source, received: received)
    }

    mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? {
        // Who looks at payloads sees them when they are whole.
        guard mapsAtOnce(source) else { return nil }
        return lane.knownLine(bytes, source: source, received: received)
    }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {
        guard mapsAtOnce(source) else { return attended(bytes, isLine: false, source, received) }
        lane.datagram(bytes, source: source, received: received)
    }

    /// Whether nobody looks at single payloads of `source`. The mappings that its sender has chosen are in use then.
    @inline(__always)
    private mutating func mapsAtOnce(_ source: Int) -> Bool {
        guard attention.isNone, !bounds.asksOfEach else { return false }
        narrow(source)
        return true
    }

    /// Maps a payload that is looked at by itself: it may be a dead letter that comes again, taps may show it, and its
    /// sender may be bound.
    @inline(never)
    private mutating func attended(_ bytes: ByteView, isLine: Bool, _ source: Int, _ time: Instant) {
        let received = firstTime(bytes, source) ?? time
        defer { endArrival() }
        if isRejected(source) { return attendedRejection(.sourcePaused, bytes, source, received) }
        guard bounds.take(bytes.count) else { return attendedRejection(.rateLimited, bytes, source, received) }
        narrow(source)
        reporter.payloadBegins()
        if let owner = bounds.owner {
            lane.payload(bytes, isLine: isLine, of: owner, source: source, received: received)
        } else if isLine {
            lane.line(bytes, source: source, received: received)
        } else {
            lane.datagram(bytes, source: source, received: received)
        }
        lane.showTapped()
        reporter.payloadEnded(bytes, source: source, received: received)
    }

    private func isRejected(_ source: Int) -> Bool { !rejectsAll.isEmpty && rejectsAll[source] }

    /// When a dead letter with these bytes came, if they come again; nil otherwise.
    private mutating func firstTime(_ bytes: ByteView, _ source: Int) -> Instant? {
        guard !settings.returning.isEmpty else { return nil }
        guard let letter = settings.returning.take(bytes, from: settings.sources[source].name) else { return nil }
        reporter.noteReturned(lead: letter.lead)
        lane.isReturned = true
        if let number = letter.number { arrivals.begin(number, totals) }
        return letter.time
    }

    private var totals: LaneArrivals.Totals {
        let (rejected, dropped) = reporter.rejected
        return LaneArrivals.Totals(taken: lane.taken, rejected: rejected, dropped: dropped)
    }

    /// Notes what became of a payload, if it was a dead letter.
    private mutating func endArrival() {
        if lane.isReturned {
            reporter.noteReturned(lead: nil)
            lane.isReturned = false
        }
        if arrivals.isUnderWay { arrivals.end(totals) }
    }

    /// Has the store settle the letters that came again, once all that came of them is durable.
    private mutating func handOverArrivals() {
        let letters = arrivals.take(totals)
        guard let store, !letters.isEmpty else { return }
        let arrival = LetterArrival(letters: letters, lane: number, positions: lane.written)
        store.queue.add { $0.arrivals.append(arrival) }
    }

    mutating func datagram(
        _ bytes: ByteView, device: ByteView?, patient: ByteView?, source: Int, received: Instant
    ) {
        let isAttended = !attention.isNone
        let time = isAttended ? firstTime(bytes, source) ?? received : received
        defer { endArrival() }
        let owner = PayloadOwner(device: device?.array, patient: patient?.array)
        if isAttended, isRejected(source) { return attendedRejection(.sourcePaused, bytes, source, time) }
        if isAttended { reporter.payloadBegins() }
        lane.payload(bytes, isLine: false, of: owner, source: source, received: time)
        guard isAttended else { return }
        lane.showTapped()
        reporter.payloadEnded(bytes, source: source, received: time)
    }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        guard attention.isNone else { return attendedRejection(reason, bytes, source, received) }
        lane.rejected(reason, bytes: bytes, source: source, received: received)
    }

    @inline(never)
    private mutating func attendedRejection(
        _ reason: Rejection, _ bytes: ByteView, _ source: Int, _ received: Instant
    ) {
        reporter.payloadBegins()
        lane.rejected(reason, bytes: bytes, source: source, received: received)
        reporter.payloadEnded(bytes, source: source, received: received)
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

    var sequences: SequenceBook { store?.queue.sequences ?? .ofProcess }

    var positions: any PositionKeeper { store?.positions ?? NoPositions() }

    mutating func idled() {
        reporter.noteAlive()
        reporter.showDeadLetters()
    }

    mutating func noted(_ text: String) { reporter.note(text) }

    mutating func refusedClient(of source: String, _ reason: String) {
        reporter.note(PeerAudit.refusal(of: reason, source: source))
    }

    mutating func rereadList(_ text: String) { reporter.note(.rereadPeers(text)) }

    mutating func connection(of name: String, _ change: ConnectionChange, _ text: String) {
        reporter.note(change.entry(of: name, text))
    }

    mutating func batchEnd() {
        lane.batchEnd()
        // Behind what was rejected of them.
        if !arrivals.isEmpty { handOverArrivals() }
        reporter.handOverPayloads()
    }

    mutating func mark() -> DurableMark? {
        guard let store else { return nil }
        reporter.handOverPayloads()
        return DurableMark(positions: lane.written, changes: store.queue.changes)
    }

    mutating func beginCount() {
        guard store != nil else { return }
        lane.beginCount()
        takenBefore = lane.taken
    }

    mutating func endCount() -> ReadingCount? {
        guard store != nil, let number = lane.endCount() else { return nil }
        return ReadingCount(taken: lane.taken - takenBefore, number: number)
    }

    mutating func beginItems() { lane.beginItems() }

    mutating func beginParts() { lane.beginParts() }

    mutating func endParts() { lane.endParts() }

    mutating func endItem() -> ReadingCount? {
        guard store != nil, let number = lane.endItem() else { return nil }
        return ReadingCount(taken: lane.taken - takenBefore, number: number)
    }

    mutating func takeItems(of count: ReadingCount) -> [Int: ReadingOutcomes]? {
        ItemNumber(count: count.number).flatMap { store?.queue.takeItems(ofBody: $0.body, lane: number) }
    }

    mutating func takeOutcomes(of count: ReadingCount) -> ReadingOutcomes? {
        count.number == 0 ? ReadingOutcomes() : store?.queue.takeCount(count.number, lane: number)
    }

    mutating func takeRejections() -> [Rejection] { reporter.takeReasons() }

    func mappings(of source: Int) -> [String] { settings.mappings(of: settings.sources[source]) }

    mutating func isDurable(_ mark: DurableMark) -> Bool {
        store?.queue.isDurable(mark, lane: number) ?? false
    }
}
