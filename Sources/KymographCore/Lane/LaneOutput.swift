/// Routes a lane's measurements and counts them.
struct LaneOutput: ~Copyable, MeasurementOutput {
    private var router: ReadingRouter
    private let events: any LaneEvents
    private var counts: RawArray<Int>
    /// Readings of each template of the set in use.
    private var byTemplate: SharedCounts
    private var marks: RawArray<UInt8>
    /// Of each source, ``LaneInput/dropsWhenFull``.
    private var drops: [Bool]
    /// Readings that were routed since the last report, and before.
    private var (routed, routedBefore) = (0, 0)
    private var source = 0
    private var mark: UInt8 = 0
    private var received = Instant.distantPast
    /// By how much readings are stamped later than ``received``: mapping goes by the wall clock, the order of what came
    /// does not.
    private var lead: Int64 = 0
    /// Which readings are taken; nil for all.
    var admission: (any ReadingAdmission)? {
        didSet {
            senderTags = admission?.tags ?? []
            noteParticular()
        }
    }
    /// The tags that readings get for their sender.
    private var senderTags: [UInt8] = []
    /// Those, and those of the map.
    private var tagUnion = ByteWriter(capacity: 64)
    /// Device and patient of which readings must be, each nil where they may be of any.
    private var bound = PayloadOwner(device: nil, patient: nil)
    /// Says whose readings are, where there is a map.
    private var patients = PatientAttribution()
    /// By type, as ``MappingSet/lengthSlots``.
    private var lengthSlots: [Int]
    /// Says what is taken, where there are rules, and which tags readings have.
    private var rules = RuleDecider()
    private var plainKeys = PlainKeys()
    /// The key of a plain reading, while rules look at it.
    private var plainKey = ByteWriter(capacity: 64)
    /// Says what of each source is taken, where not all is.
    private var intake = IntakeLimits()
    /// Whether readings are stamped later, may be refused, must be of somebody, get a patient or are decided on by
    /// rules: one question for all.
    private var isParticular = false
    private var judges = Judges.none
    /// Whether each reading is shown to a tap: when it is routed, so that it costs nothing when it is staged.
    private(set) var isTapped = false
    /// Shards that have got retractions of the present document.
    private var retractionShards: Set<Int> = []
    /// A retraction as shards get it.
    private var tombstone = ByteWriter(capacity: 256)
    /// Slots of each shard's ring when a count of its readings last ended; nothing before the first.
    private var counted: [UInt64] = []
    /// The number of the last count of all readings of a request, and the last item that was counted by itself.
    private var (lastCount, lastItem) = (0, ItemNumber())
    /// Whether every ring knows where the present count begins.
    private var isCounting = false

    /// Takes the readings of `inputs`, by the numbers of their sources; `byTemplate` counts those of each template.
    init(
        router: consuming ReadingRouter, events: any LaneEvents, set: MappingSet, inputs: [LaneInput],
        byTemplate: SharedCounts
    ) {
        lengthSlots = set.lengthSlots
        drops = inputs.map(\.dropsWhenFull)
        self.router = router
        self.events = events
        self.byTemplate = byTemplate
        counts = RawArray(repeating: 0, count: inputs.count)
        marks = LaneOutput.marks(inputs)
    }

    private static func marks(_ inputs: [LaneInput]) -> RawArray<UInt8> {
        var marks = RawArray<UInt8>(capacity: inputs.count)
        for input in inputs { marks.append(ReadingSource.mark(input.ledgerNumber)) }
        return marks
    }

    /// Takes the readings of the same sources, and of others behind them, as `set` maps them from here on.
    mutating func adopt(_ set: MappingSet, _ inputs: [LaneInput]) {
        while counts.count < inputs.count { counts.append(0) }
        marks = LaneOutput.marks(inputs)
        drops = inputs.map(\.dropsWhenFull)
        lengthSlots = set.lengthSlots
        byTemplate = events.readingCounts(for: set)
    }

    mutating func begin(source: Int, received: Instant) {
        self.source = source
        mark = marks[source]
        guard received != self.received else { return }
        self.received = received
        lead = events.lead(at: received)
        noteParticular()
    }

    private mutating func noteParticular() {
        let isJudged = admission != nil || isBound || patients.isOn || intake.isOn || !senderTags.isEmpty
        judges = isJudged ? .all : rules.isOn ? .rules : .none
        isParticular = lead != 0 || judges != .none
    }

    /// Who decides on readings.
    private enum Judges {
        case none
        /// Nobody but rules.
        case rules
        /// A map, a sender's list, limits or a topic, perhaps rules among them.
        case all
    }

    /// Whether a map, rules or limits of sources decide on each reading.
    private var isDecided: Bool { patients.isOn || rules.isOn || intake.isOn || !senderTags.isEmpty }

    /// Takes no more than `limits` say.
    mutating func limit(by limits: IntakeLimits) {
        intake = limits
        noteParticular()
    }

    /// Takes what `rules` let through.
    mutating func decide(by rules: RuleDecider) {
        self.rules = rules
        plainKeys.reset(isKept: rules.isOn)
        noteParticular()
    }

    /// Gives readings the patient of their device by `rules`; nil to leave all as their messages say.
    mutating func attribute(by rules: PatientRules?) {
        patients.rules = rules
        noteParticular()
    }

    /// Refuses what names others than these, up to ``release()``.
    mutating func bind(_ owner: PayloadOwner) {
        bound = owner
        noteParticular()
    }

    /// Takes readings of all again.
    mutating func release() {
        bound = PayloadOwner(device: nil, patient: nil)
        noteParticular()
    }

    private var isBound: Bool { bound.device != nil || bound.patient != nil }

    /// Why a reading of the series `key` is not taken.
    @inline(never)
    private func refusal(_ key: ByteView) -> Rejection? { boundRefusal(key) ?? admission?.refusal(of: key) }

    /// Why a reading whose message names the series `key` is of somebody else than it must be.
    private func boundRefusal(_ key: ByteView) -> Rejection? {
        if let device = bound.device, !SeriesKey.device(of: key).equals(device) { return .deviceNotAllowed }
        if let patient = bound.patient, !(SeriesKey.patient(of: key)?.equals(patient) ?? false) {
            return .patientNotAllowed
        }
        return nil
    }

    mutating func setTapped(_ isTapped: Bool) {
        routeStaged()
        self.isTapped = isTapped
    }

    /// Shows what waits to be looked up together, and routes it.
    mutating func showTapped() {
        if isTapped { routeStaged() }
    }

    @inline(__always)
    mutating func take(_ reading: PlainReading, key: ShortKey, template: Int32) -> Bool {
        var reading = reading
        if isParticular {
            // A reading that may be refused or changed is looked at as a whole.
            switch judges {
            case .none: break
            case .rules: guard plainKeys.isPlain(key, source: source) ?? askRules(key) else { return false }
            case .all: return false
            }
            reading.received = reading.received.advanced(by: lead)
        }
        guard router.stage(reading, mark: mark, key: key) else { return false }
        countStaged(template)
        return true
    }

    /// Whether no rule is about plain readings of this series.
    @inline(never)
    private mutating func askRules(_ key: ShortKey) -> Bool {
        plainKey.removeAll()
        key.append(to: &plainKey)
        let isPlain = rules.takesAsIs(key: plainKey.view, source: source)
        plainKeys.note(key, source: source, isPlain: isPlain)
        return isPlain
    }

    @inline(__always)
    mutating func accept(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        var measurement = measurement
        if isParticular {
            if isDecided { return acceptDecided(measurement, payload: payload, key: key, template: template) }
            if let refusal = refusal(key) { return refusal }
            measurement.received = measurement.received.advanced(by: lead)
        }
        guard payload.count == 0, router.stage(measurement, mark: mark, key: key) else {
            return acceptAtOnce(measurement, payload: payload, key: key, template: template)
        }
        countStaged(template)
        return nil
    }

    /// Takes a reading for the patient of its device, if rules let it through. What its sender may bring is asked of
    /// the patient that it has then, and so are rules; whom a topic binds it to, of the message.
    @inline(never)
    private mutating func acceptDecided(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        if let refusal = boundRefusal(key) { return refusal }
        let filed: ByteView
        let type = SeriesKey.type(of: key)
        let isLong = patients.isOn || intake.hasEnds
        let length = isLong ? measurement.length(lengthSlots[type], payload) : 0
        if intake.isOn,
            let refusal = intake.refusal(type: type, source: source, at: measurement.instant, length: length)
        {
            events.limited(type: type)
            return refusal
        }
        switch patients.attribute(key, at: measurement.instant, length: length) {
        case .rejected(let reason): return reason
        case .unchanged: filed = key
        case .changed: filed = patients.key
        }
        if let refusal = admission?.refusal(of: filed) { return refusal }
        var (measurement, payload) = (measurement, payload)
        let tags = givenTags()
        if rules.isOn || tags.count > 0 {
            let decision = rules.decide(&measurement, payload, key: filed, source: source, tags: tags)
            if let refusal = decision.refusal {
                events.ruled(refusal, by: decision.rule ?? "tags", detail: decision.detail)
                return refusal
            }
            if decision.isRewritten { payload = rules.payload }
        }
        measurement.received = measurement.received.advanced(by: lead)
        guard payload.count == 0, router.stage(measurement, mark: mark, key: filed) else {
            return acceptAtOnce(measurement, payload: payload, key: filed, template: template)
        }
        countStaged(template)
        return nil
    }

    /// The tags of the sender and of the map's period; valid until the next reading.
    private mutating func givenTags() -> ByteView {
        if senderTags.isEmpty { return patients.tags }
        tagUnion.removeAll()
        let others = patients.tags
        senderTags.withByteView { ReadingTags.appendUnion($0, others, to: &tagUnion) }
        return tagUnion.view
    }

    /// All that is staged is of one source: a batch ends before another source is read.
    private func show(_ measurement: Measurement, _ payload: ByteView, _ key: ByteView) {
        events.tapped(measurement, payload: payload, key: key, source: source)
    }

    @inline(never)
    private func showStaged() {
        router.withStaged { [events, source] in events.tapped($0, payload: ByteView(""), key: $1, source: source) }
    }

    @inline(__always)
    private mutating func countStaged(_ template: Int32) {
        counts[source] &+= 1
        byTemplate.add(Int(template))
        routed &+= 1
        if router.isStageFull { routeStaged() }
    }

    /// Routes what waits to be looked up together.
    private mutating func routeStaged() {
        if isTapped { showStaged() }
        guard router.routeStaged() else { return }
        report()
        router.publishQuietly()
    }

    @inline(never)
    private mutating func acceptAtOnce(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        routeStaged()
        var marked = measurement
        marked.mark = mark
        while true {
            switch router.route(marked, payload: payload, key: key) {
            case .written(let isDue):
                if isTapped { show(marked, payload, key) }
                noteRouted(template, isDue)
                return nil
            case .refused(let reason): return reason
            case .full(let shard):
                if drops[source] { return dropped(by: shard) }
                publish { [events] in events.wake(shard: $0) }
                if !events.waitForRoom(shard: shard) { return .shutdown }
            }
        }
    }

    /// Counts a record of `template` that is in a ring; reports when it is due.
    private mutating func noteRouted(_ template: Int32, _ isDue: Bool) {
        counts[source] += 1
        byTemplate.add(Int(template))
        routed += 1
        guard isDue else { return }
        report()
        router.publishQuietly()
    }

    /// Takes a retraction. Whose its reading is was decided when that was filed; the map has no say in it now, and
    /// where it prevails over messages, what this one says of the patient counts for nothing.
    @inline(never)
    mutating func retract(_ record: Measurement, payload: ByteView, key: ByteView, template: Int32) -> Rejection? {
        if let refusal = boundRefusal(key) { return refusal }
        let type = SeriesKey.type(of: key)
        // Of one by its id the time is not known, and its receive time stands for it.
        if intake.isOn,
            let refusal = intake.refusal(type: type, source: source, at: record.instant, length: 0)
        {
            events.limited(type: type)
            return refusal
        }
        if let refusal = admission?.refusal(of: key) { return refusal }
        routeStaged()
        let isNameless = admission == nil && !isBound && patients.rules?.policy.conflict == .map
        Tombstone.write(key, isNameless: isNameless, content: payload, into: &tombstone)
        var record = record
        record.kind = RecordKind.retraction.rawValue
        record.mark = mark
        record.payloadBytes = tombstone.count
        record.received = record.received.advanced(by: lead)
        while true {
            switch router.route(record, retraction: tombstone.view) {
            case .written(let isDue):
                retractionShards.insert(ReadingRouter.shard(ofKey: key, of: router.shardCount))
                noteRouted(template, isDue)
                return nil
            case .refused(let reason): return reason
            case .full(let shard):
                publish { [events] in events.wake(shard: $0) }
                if !events.waitForRoom(shard: shard) { return .shutdown }
            }
        }
    }

    /// Ends a document: its readings are behind its retractions, and what comes next is not of it.
    mutating func endRetractions() {
        guard !retractionShards.isEmpty else { return }
        routeStaged()
        for shard in retractionShards {
            while !router.endDocument(for: shard) {
                publish { [events] in events.wake(shard: $0) }
                if !events.waitForRoom(shard: shard) { return retractionShards.removeAll() }
            }
        }
        retractionShards.removeAll()
    }

    /// Begins to count what becomes of the readings that follow. It waits for no ring: the readings may go to others,
    /// and a count is not worth what other sources of the lane would wait for it.
    mutating func beginCount() {
        if counted.isEmpty { counted = Array(repeating: 0, count: router.shardCount) }
        routeStaged()
        isCounting = true
        for shard in counted.indices where router.written(to: shard) != counted[shard] {
            guard router.endCount(0, for: shard) else { return isCounting = false }
            counted[shard] = router.written(to: shard)
        }
    }

    /// Ends the count; gives its number, by which shards tell it, and 0 when there are no readings to be told of. Nil
    /// when a ring was full as it began, and when the pipeline is ended by force.
    mutating func endCount() -> Int? {
        guard isCounting else { return nil }
        let number = endCount(as: lastCount + 1)
        if number != 0 { lastCount += 1 }
        return number
    }

    /// Begins a body, each item of which is counted by itself.
    mutating func beginItems() { lastItem.nextBody() }

    /// Ends the count of the next item of the body, as ``endCount()`` does.
    mutating func endItem() -> Int? {
        guard isCounting else { return nil }
        var next = lastItem
        next.nextItem()
        let number = endCount(as: next.count)
        if number != 0 { lastItem = next }
        return number
    }

    /// Ends the count, and calls it `name`.
    private mutating func endCount(as name: Int) -> Int? {
        routeStaged()
        var number = 0
        for shard in counted.indices where router.written(to: shard) != counted[shard] {
            number = name
            while !router.endCount(number, for: shard) {
                publish { [events] in events.wake(shard: $0) }
                if !events.waitForRoom(shard: shard) { return nil }
            }
            counted[shard] = router.written(to: shard)
        }
        return number
    }

    /// What has no room in the ring to `shard` is dropped; the shard hears once of what came before it.
    private mutating func dropped(by shard: Int) -> Rejection {
        if routed > 0 || router.hasUnseen(shard) { publish { [events] in events.wake(shard: $0) } }
        return .bufferFull
    }

    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
        counts[source] += 1
        events.rejected(reason, bytes: bytes, source: source, received: received, detail: detail)
    }

    var written: [UInt64] { router.written }

    var taken: Int { routedBefore + routed }

    /// Waits for room where a ring is full; gives up only when the pipeline is ended by force.
    mutating func announceMappings(generation: Int) {
        routeStaged()
        for shard in 0..<router.shardCount {
            while !router.announceMappings(generation: generation, to: shard) {
                publish { [events] in events.wake(shard: $0) }
                if !events.waitForRoom(shard: shard) { return }
            }
        }
        publish { [events] in events.wake(shard: $0) }
    }

    /// Takes over `limits` for devices and series that are new.
    mutating func takeOver(_ limits: DeviceLimits) { router.takeOver(limits) }

    func note(_ notes: MappingNotes, source: Int) { events.noted(notes, source: source) }

    func miss(_ gaps: [FrameGap], source: Int) { events.missed(gaps, source: source) }

    /// Counts first: nobody must see more readings leave the rings than were put in and received.
    private mutating func publish(wake: (Int) -> Void) {
        report()
        router.publish(wake: wake)
    }

    mutating func batchEnd() {
        routeStaged()
        publish { [events] in events.wake(shard: $0) }
    }

    private mutating func report() {
        if rules.hasCounts {
            let (rewritten, tagged) = rules.takeCounts()
            events.rewrote(rewritten, tagged: tagged)
        }
        if let introductions = router.takeIntroductions() { events.met(introductions) }
        if routed > 0 { events.routed(routed) }
        (routed, routedBefore) = (0, routedBefore + routed)
        for source in 0..<counts.count where counts[source] > 0 {
            events.received(counts[source], source: source)
            counts[source] = 0
        }
    }
}
