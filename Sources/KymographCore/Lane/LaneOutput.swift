/// Where a lane's measurements go: those that are taken are stamped and put into rings, others are told.
struct LaneOutput: ~Copyable, MeasurementOutput {
    private var rings: LaneRings
    private var judge: ReadingJudge
    private var counts = RequestCounts()
    private let events: any LaneEvents
    /// Of each source, the mark of its readings, and ``LaneInput/dropsWhenFull``.
    private var marks: RawArray<UInt8>
    private var drops: [Bool]
    private var mark: UInt8 = 0
    private var received = Instant.distantPast
    /// The time for which ``lead`` was asked; of nothing that comes when it is to be asked again.
    private var asked = Instant.distantPast
    /// By how much readings are stamped later than ``received``: mapping goes by the wall clock, the order of what came
    /// does not.
    private var lead: Int64 = 0
    /// Whether readings are stamped later, or somebody decides on them: one question for all.
    private var isParticular = false
    /// Marks readings of dead letters that come again.
    private var returnedMark: UInt8 = 0
    /// Shards that have got retractions of the present document.
    private var retractionShards: Set<Int> = []
    /// What the present document has taken back, by hash: two of one hash only have a stamp each.
    private var retracted: Set<Int> = []
    /// Whether what comes is of one document, part by part.
    private var takesParts = false
    /// A retraction as shards get it.
    private var tombstone = ByteWriter(capacity: 256)

    /// Takes the readings of `inputs`, by the numbers of their sources; `byTemplate` counts those of each template.
    init(
        router: consuming ReadingRouter, events: any LaneEvents, set: MappingSet, inputs: [LaneInput],
        byTemplate: SharedCounts
    ) {
        rings = LaneRings(router: router, events: events, sourceCount: inputs.count, byTemplate: byTemplate)
        judge = ReadingJudge(set: set, events: events)
        self.events = events
        marks = LaneOutput.marks(inputs)
        drops = inputs.map(\.dropsWhenFull)
    }

    private static func marks(_ inputs: [LaneInput]) -> RawArray<UInt8> {
        var marks = RawArray<UInt8>(capacity: inputs.count)
        for input in inputs { marks.append(ReadingSource.mark(input.ledgerNumber)) }
        return marks
    }

    /// Takes the readings of the same sources, and of others behind them, as `set` maps them from here on.
    mutating func adopt(_ set: MappingSet, _ inputs: [LaneInput]) {
        marks = LaneOutput.marks(inputs)
        drops = inputs.map(\.dropsWhenFull)
        judge.adopt(set)
        rings.adopt(set, sourceCount: inputs.count)
    }

    mutating func begin(source: Int, received: Instant) {
        rings.source = source
        mark = marks[source] | returnedMark
        guard received != asked else { return }
        (self.received, asked) = (received, received)
        lead = events.lead(at: received)
        noteParticular()
    }

    /// Whether what comes is a dead letter that comes again: it has a stamp of its own, and came before all that has
    /// the same.
    var isReturned: Bool {
        get { returnedMark != 0 }
        set {
            returnedMark = newValue ? ReadingMark.returned : 0
            asked = .distantPast
        }
    }

    private mutating func noteParticular() { isParticular = lead != 0 || judge.judges != .none }

    // MARK: What decides

    /// Which readings are taken; nil for all.
    var admission: (any ReadingAdmission)? {
        get { judge.admission }
        set {
            judge.admission = newValue
            noteParticular()
        }
    }

    /// Takes no more than `limits` say.
    mutating func limit(by limits: IntakeLimits) {
        judge.limit(by: limits)
        noteParticular()
    }

    /// Takes what `rules` let through.
    mutating func decide(by rules: RuleDecider) {
        judge.decide(by: rules)
        noteParticular()
    }

    /// Gives readings the patient of their device by `rules`; nil to leave all as their messages say.
    mutating func attribute(by rules: PatientRules?) {
        judge.attribute(by: rules)
        noteParticular()
    }

    /// Refuses what names others than these, up to ``release()``.
    mutating func bind(_ owner: PayloadOwner) {
        judge.bind(owner)
        noteParticular()
    }

    /// Takes readings of all again.
    mutating func release() {
        judge.release()
        noteParticular()
    }

    // MARK: Readings

    @inline(__always)
    mutating func take(_ reading: PlainReading, key: ShortKey, template: Int32) -> Bool {
        var reading = reading
        if isParticular {
            // A reading that may be refused or changed is looked at as a whole.
            switch judge.judges {
            case .none: break
            case .rules: guard judge.takesAsIs(key, source: rings.source) else { return false }
            case .all: return false
            }
            reading.received = reading.received.advanced(by: lead)
        }
        return rings.stage(reading, mark: mark, key: key, template: template)
    }

    @inline(__always)
    mutating func accept(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        if isParticular { return acceptParticular(measurement, payload: payload, key: key, template: template) }
        return put(measurement, payload: payload, key: key, template: template)
    }

    /// Takes a reading that somebody decides on, or that is stamped later.
    @inline(never)
    private mutating func acceptParticular(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        var (measurement, payload, key) = (measurement, payload, key)
        if judge.judges != .none,
            let refusal = judge.refusal(&measurement, &payload, key: &key, source: rings.source)
        {
            return refusal
        }
        measurement.received = measurement.received.advanced(by: lead)
        return put(measurement, payload: payload, key: key, template: template)
    }

    @inline(__always)
    private mutating func put(
        _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        if payload.count == 0, rings.stage(measurement, mark: mark, key: key, template: template) { return nil }
        var measurement = measurement
        measurement.mark = mark
        return rings.route(
            measurement, payload: payload, key: key, template: template, dropsWhenFull: drops[rings.source])
    }

    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
        rings.noteRejected()
        events.rejected(reason, bytes: bytes, source: rings.source, received: received, lead: lead, detail: detail)
    }

    // MARK: Retractions

    /// Takes a retraction. Whose its reading is was decided when that was filed; where the map prevails over messages,
    /// what this one says of the patient counts for nothing.
    @inline(never)
    mutating func retract(_ record: Measurement, payload: ByteView, key: ByteView, template: Int32) -> Rejection? {
        if let refusal = judge.refusal(ofRetraction: record, key: key, source: rings.source) { return refusal }
        stampRetraction(of: key, payload)
        Tombstone.write(key, isNameless: judge.takesNoPatientOfRetractions, content: payload, into: &tombstone)
        var record = record
        record.kind = RecordKind.retraction.rawValue
        record.mark = mark
        record.payloadBytes = tombstone.count
        record.received = record.received.advanced(by: lead)
        if let refusal = rings.route(record, retraction: tombstone.view, template: template) { return refusal }
        retractionShards.insert(ReadingRouter.shard(ofKey: key, of: rings.shardCount))
        return nil
    }

    /// Gives a document with retractions a stamp of its own, by which all of it is known: what came before it is so by
    /// its receive time, too. A part that takes back what an earlier one has renewed begins another.
    private mutating func stampRetraction(of key: ByteView, _ content: ByteView) {
        var hasher = Hasher()
        hasher.combine(SeriesKey.type(of: key))
        hasher.combine(SeriesKey.device(of: key).array)
        hasher.combine(content.array)
        let isFirst = retracted.isEmpty
        guard retracted.insert(hasher.finalize()).inserted, !isFirst else {
            lead = events.ownLead(at: received)
            return noteParticular()
        }
    }

    /// Ends a document: its readings are behind its retractions, and what comes next is not of it.
    mutating func endRetractions() {
        guard !takesParts, !retracted.isEmpty else { return }
        // What comes next at the same time is later.
        asked = .distantPast
        retracted.removeAll()
        rings.routeStaged()
        for shard in retractionShards where !rings.endDocument(for: shard) { break }
        retractionShards.removeAll()
    }

    /// Takes the payloads that follow as parts of one document, up to ``endParts()``.
    mutating func beginParts() { takesParts = true }

    /// Ends the document.
    mutating func endParts() {
        takesParts = false
        endRetractions()
    }

    // MARK: Counts of requests

    /// As ``RequestCounts/begin(_:)``.
    mutating func beginCount() { counts.begin(&rings) }

    /// As ``RequestCounts/end(_:)``.
    mutating func endCount() -> Int? { counts.end(&rings) }

    /// Begins a body, each item of which is counted by itself.
    mutating func beginItems() { counts.beginItems() }

    /// As ``RequestCounts/endItem(_:)``.
    mutating func endItem() -> Int? { counts.endItem(&rings) }

    // MARK: The rings

    var written: [UInt64] { rings.written }

    var taken: Int { rings.taken }

    var isTapped: Bool { rings.isTapped }

    mutating func setTapped(_ isTapped: Bool) { rings.setTapped(isTapped) }

    /// Shows what waits to be looked up together, and routes it.
    mutating func showTapped() {
        if rings.isTapped { rings.routeStaged() }
    }

    /// Waits for room where a ring is full; gives up only when the pipeline is ended by force.
    mutating func announceMappings(generation: Int) { rings.announceMappings(generation: generation) }

    /// Takes over `limits` for devices and series that are new.
    mutating func takeOver(_ limits: DeviceLimits) { rings.takeOver(limits) }

    func note(_ notes: MappingNotes, source: Int) { events.noted(notes, source: source) }

    func miss(_ gaps: [FrameGap], source: Int) { events.missed(gaps, source: source) }

    mutating func batchEnd() {
        rings.routeStaged()
        judge.report()
        rings.publish()
    }
}
