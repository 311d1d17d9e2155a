/// What a lane tells its owner. Called per batch and per rejected reading; per good one only while a tap is open.
package protocol LaneEvents: AnyObject {
    /// A reading of `source` was rejected.
    func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant, detail: RejectionDetail)
    /// `count` readings of `source` were received since the last time; rejected ones are among them.
    func received(_ count: Int, source: Int)
    /// Something happened to readings of `source` since the last time that their owner should know.
    func noted(_ notes: MappingNotes, source: Int)
    /// Numbers of a bridge's frames to `source` were passed over since the last time, or have come late.
    func missed(_ gaps: [FrameGap], source: Int)
    /// `count` readings were put into rings since the last time.
    func routed(_ count: Int)
    /// Nanoseconds by which readings received at `received`, by the wall clock, are to be stamped later, so that what
    /// comes later never has an earlier receive time. Asked once for all that came at the same time.
    func lead(at received: Instant) -> Int64
    /// Where the readings of each template of `set` are counted from here on, by the template's number.
    func readingCounts(for set: MappingSet) -> SharedCounts
    /// The ring to `shard` has something new.
    func wake(shard: Int)
    /// The ring to `shard` is full and everything in it is published: block until it may have room. False when the
    /// pipeline is being ended by force and the reading must be given up.
    func waitForRoom(shard: Int) -> Bool
    /// The reading that is rejected next is rejected by `rule`.
    func ruled(by rule: ReadingRule)
    /// The reading that is rejected next is of type number `type`, of which its source takes nothing now.
    func limited(type: Int)
    /// A reading of `source` was mapped and routed, while ``ReadingLane/isTapped``. `payload` and `key` (a
    /// ``SeriesKey``) are valid during the call, which must not block.
    func tapped(_ measurement: Measurement, payload: ByteView, key: ByteView, source: Int)
}

extension LaneEvents {
    /// Default: ignored.
    package func tapped(_ measurement: Measurement, payload: ByteView, key: ByteView, source: Int) {}

    /// Default: ignored.
    package func ruled(by rule: ReadingRule) {}

    /// Default: ignored.
    package func limited(type: Int) {}

    /// None: the wall clock is trusted.
    package func lead(at received: Instant) -> Int64 { 0 }

    /// Nobody reads them.
    package func readingCounts(for set: MappingSet) -> SharedCounts { SharedCounts(count: set.templates.count) }

    /// Forgets it.
    package func missed(_ gaps: [FrameGap], source: Int) {}
}

/// One source as a lane sees it.
package struct LaneInput: Sendable {
    /// Templates that apply, as numbers of the mapping set.
    package var templates: [Int]
    /// What the source contributes.
    package var context: SourceContext
    /// The source's number for the ledger (``ReadingSource``).
    package var ledgerNumber = 0
    /// Whether readings that find a ring full are rejected; otherwise the lane waits for room, and its sources with it.
    package var dropsWhenFull = false
    /// Whether payloads like others before are read without a scan; the readings are the same.
    package var usesFastPath = true

    /// Makes an input.
    package init(templates: [Int], context: SourceContext) {
        self.templates = templates
        self.context = context
    }
}

/// Of whom a payload is, by what is not in it; each nil where that is not told.
package struct PayloadOwner: Sendable {
    /// The device of readings that name none; one that names another is rejected.
    package var device: [UInt8]?
    /// The patient, in the same way.
    package var patient: [UInt8]?

    /// An owner.
    package init(device: [UInt8]?, patient: [UInt8]?) { (self.device, self.patient) = (device, patient) }
}

/// Everything a lane's thread does with bytes: map them, number their series, write them into the rings.
///
/// One lane per thread; the edges call it once per datagram or line and once per batch.
package struct ReadingLane: ~Copyable {
    /// The sources by their numbers, and behind them those that were narrowed.
    private var sources: OwnedList<MappedSource>
    private var output: LaneOutput
    private let limits: ScanLimits
    private var set: MappingSet
    private var inputs: [LaneInput]
    /// Which source each of those behind ``inputs`` is, and with which templates alone.
    private var narrowed: [(source: Int, templates: [Int])] = []
    /// The source that is narrowed now, and its place in ``sources``.
    private var narrow: (source: Int, place: Int) = (-1, -1)

    /// Makes a lane for `inputs`, whose places are the source numbers.
    package init(
        set: MappingSet, inputs: [LaneInput], limits: ScanLimits, router: consuming ReadingRouter,
        events: any LaneEvents
    ) {
        self.limits = limits
        (self.set, self.inputs) = (set, inputs)
        sources = OwnedList(count: inputs.count) { MappedSource(set: set, input: inputs[$0], limits: limits) }
        output = LaneOutput(
            router: router, events: events, set: set, inputs: inputs, byTemplate: events.readingCounts(for: set))
    }

    /// Maps with `set`, which continues the former one, from here on. `inputs` are the same sources, and others behind
    /// them; `generation` is what ``MappingExchange/announce(rings:)`` gave with it.
    ///
    /// Every shard learns of it in order with the readings: what was mapped by a newer set comes after the mark.
    package mutating func adopt(_ set: MappingSet, generation: Int, inputs: [LaneInput]) {
        precondition(inputs.count >= self.inputs.count)
        let limits = self.limits
        (self.set, self.inputs, narrowed, narrow) = (set, inputs, [], (-1, -1))
        sources = OwnedList(count: inputs.count) { MappedSource(set: set, input: inputs[$0], limits: limits) }
        output.adopt(set, inputs)
        output.announceMappings(generation: generation)
    }

    /// Maps one line of a stream. `bytes` must be padded.
    package mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        output.begin(source: source, received: received)
        sources[place(source)].line(bytes, received: received, output: &output)
    }

    /// Maps the first line of `bytes`, and returns its length without its newline, where a source has sent lines of its
    /// shape before; nil when nothing has happened, and the line is still to be found. `bytes` must be padded.
    package mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? {
        output.begin(source: source, received: received)
        return sources[place(source)].knownLine(bytes, received: received, output: &output)
    }

    /// Maps one datagram. `bytes` must be padded.
    package mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {
        output.begin(source: source, received: received)
        sources[place(source)].datagram(bytes, received: received, output: &output)
    }

    /// Maps one line or datagram of `owner`. `bytes` must be padded.
    package mutating func payload(
        _ bytes: ByteView, isLine: Bool, of owner: PayloadOwner, source: Int, received: Instant
    ) {
        output.begin(source: source, received: received)
        output.bind(owner)
        sources[place(source)].payload(bytes, isLine: isLine, of: owner, received: received, output: &output)
        output.release()
    }

    /// Where source `source` is mapped.
    @inline(__always)
    private func place(_ source: Int) -> Int { source == narrow.source ? narrow.place : source }

    /// Maps what `source` brings from here on by those of its templates alone that are numbered `templates`, up to the
    /// next call; nil for all of all sources.
    package mutating func narrow(_ source: Int, to templates: [Int]?) {
        guard let templates else { return narrow = (-1, -1) }
        if let known = narrowed.firstIndex(where: { $0.source == source && $0.templates == templates }) {
            return narrow = (source, inputs.count + known)
        }
        var input = inputs[source]
        input.templates = templates
        sources.append(MappedSource(set: set, input: input, limits: limits))
        narrowed.append((source, templates))
        narrow = (source, sources.count - 1)
    }

    /// Counts and reports bytes that never became a payload.
    package mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        output.begin(source: source, received: received)
        output.reject(reason, bytes: bytes, detail: RejectionDetail())
    }

    /// Whether ``LaneEvents/tapped(_:payload:key:source:)`` is called for each reading. Without, that costs nothing.
    package var isTapped: Bool {
        get { output.isTapped }
        set { output.setTapped(newValue) }
    }

    /// Which readings are taken from here on; nil for all. To be set between batches.
    package var admission: (any ReadingAdmission)? {
        get { output.admission }
        set { output.admission = newValue }
    }

    /// Gives readings the patient of their device from here on; nil to leave all as their messages say. To be set
    /// between batches.
    package mutating func attribute(by rules: PatientRules?) { output.attribute(by: rules) }

    /// Takes what `rules` let through from here on; those without rules let all. To be set between batches.
    package mutating func decide(by rules: RuleDecider) { output.decide(by: rules) }

    /// Takes no more of its sources, by their numbers, than `limits` say from here on. To be set between batches.
    package mutating func limit(by limits: IntakeLimits) { output.limit(by: limits) }

    /// Shows the readings of all payloads so far, some of which wait to be routed together.
    package mutating func showTapped() { output.showTapped() }

    /// Slots written to the ring of each shard so far: everything that came before the last ``batchEnd()``, and perhaps
    /// more. What is to be acknowledged asks after that.
    package var written: [UInt64] { output.written }

    /// Readings that were taken so far.
    package var taken: Int { output.taken }

    /// Publishes what was routed, wakes the shards and reports the counts.
    package mutating func batchEnd() {
        for place in 0..<sources.count {
            let source = place < inputs.count ? place : narrowed[place - inputs.count].source
            let notes = sources[place].takeNotes()
            if !notes.isEmpty { output.note(notes, source: source) }
            let gaps = sources[place].takeGaps()
            if !gaps.isEmpty { output.miss(gaps, source: source) }
        }
        output.batchEnd()
    }
}

/// A source's mapper and what the source contributes, in one place: lending a context out of an array counts
/// references, twice for every reading.
struct MappedSource: ~Copyable {
    private var mapper: Mapper
    private let context: SourceContext

    init(set: MappingSet, input: LaneInput, limits: ScanLimits) {
        mapper = Mapper(
            set, templates: input.templates, limits: limits, usesFastPath: input.usesFastPath)
        context = input.context
    }

    mutating func takeNotes() -> MappingNotes { mapper.takeNotes() }

    mutating func takeGaps() -> [FrameGap] { mapper.takeGaps() }

    @inline(__always)
    mutating func line(_ bytes: ByteView, received: Instant, output: inout LaneOutput) {
        mapper.mapLine(bytes, context: context, received: received, output: &output)
    }

    @inline(__always)
    mutating func knownLine(_ bytes: ByteView, received: Instant, output: inout LaneOutput) -> Int? {
        mapper.mapKnownLine(bytes, context: context, received: received, output: &output)
    }

    @inline(__always)
    mutating func datagram(_ bytes: ByteView, received: Instant, output: inout LaneOutput) {
        mapper.mapDatagram(bytes, context: context, received: received, output: &output)
    }

    /// Of `owner` in place of the context's own, where it is told.
    @inline(never)
    mutating func payload(
        _ bytes: ByteView, isLine: Bool, of owner: PayloadOwner, received: Instant, output: inout LaneOutput
    ) {
        var context = context
        if let device = owner.device { context.defaultDevice = device }
        if let patient = owner.patient { context.defaultPatient = patient }
        if isLine {
            mapper.mapLine(bytes, context: context, received: received, output: &output)
        } else {
            mapper.mapDatagram(bytes, context: context, received: received, output: &output)
        }
    }
}

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
    var admission: (any ReadingAdmission)? { didSet { noteParticular() } }
    /// Device and patient of which readings must be, each nil where they may be of any.
    private var bound = PayloadOwner(device: nil, patient: nil)
    /// Says whose readings are, where there is a map.
    private var patients = PatientAttribution()
    /// By type, as ``MappingSet/lengthSlots``.
    private var lengthSlots: [Int]
    /// Says what is taken, where there are rules.
    private var rules = RuleDecider()
    /// Says what of each source is taken, where not all is.
    private var intake = IntakeLimits()
    /// Whether readings are stamped later, may be refused, must be of somebody, get a patient or are decided on by
    /// rules: one question for all.
    private var isParticular = false
    /// Whether each reading is shown to a tap: when it is routed, so that it costs nothing when it is staged.
    private(set) var isTapped = false
    /// Shards that have got retractions of the present document.
    private var retractionShards: Set<Int> = []
    /// A retraction as shards get it.
    private var tombstone = ByteWriter(capacity: 256)

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
        isParticular = lead != 0 || admission != nil || isBound || isDecided
    }

    /// Whether a map, rules or limits of sources decide on each reading.
    private var isDecided: Bool { patients.isOn || rules.isOn || intake.isOn }

    /// Takes no more than `limits` say.
    mutating func limit(by limits: IntakeLimits) {
        intake = limits
        noteParticular()
    }

    /// Takes what `rules` let through.
    mutating func decide(by rules: RuleDecider) {
        self.rules = rules
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
            // A reading that may be refused is looked at as a whole.
            if isBound || admission != nil || isDecided { return false }
            reading.received = reading.received.advanced(by: lead)
        }
        guard router.stage(reading, mark: mark, key: key) else { return false }
        countStaged(template)
        return true
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
        if rules.isOn, let rule = rules.rule(for: measurement, payload, key: filed, source: source),
            let refusal = rule.action.rejection
        {
            events.ruled(by: rule)
            return refusal
        }
        var measurement = measurement
        measurement.received = measurement.received.advanced(by: lead)
        guard payload.count == 0, router.stage(measurement, mark: mark, key: filed) else {
            return acceptAtOnce(measurement, payload: payload, key: filed, template: template)
        }
        countStaged(template)
        return nil
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
                counts[source] += 1
                byTemplate.add(Int(template))
                routed += 1
                if isTapped { show(marked, payload, key) }
                if isDue {
                    report()
                    router.publishQuietly()
                }
                return nil
            case .refused(let reason): return reason
            case .full(let shard):
                if drops[source] { return dropped(by: shard) }
                publish { [events] in events.wake(shard: $0) }
                if !events.waitForRoom(shard: shard) { return .shutdown }
            }
        }
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
                counts[source] += 1
                byTemplate.add(Int(template))
                routed += 1
                if isDue {
                    report()
                    router.publishQuietly()
                }
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
        if routed > 0 { events.routed(routed) }
        (routed, routedBefore) = (0, routedBefore + routed)
        for source in 0..<counts.count where counts[source] > 0 {
            events.received(counts[source], source: source)
            counts[source] = 0
        }
    }
}
