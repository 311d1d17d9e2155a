/// Decides which readings of a lane are taken, whose they are, and which tags they have: by the topic that a payload
/// came by, limits of sources, the patient map, the list of a sender, and rules, in this order.
struct ReadingJudge: ~Copyable {
    /// Who decides on readings.
    enum Judges {
        case none
        /// Nobody but rules.
        case rules
        /// A map, a sender's list, limits or a topic, perhaps rules among them.
        case all
    }

    private let events: any LaneEvents
    /// Which readings are taken; nil for all.
    var admission: (any ReadingAdmission)? {
        didSet {
            senderTags = admission?.tags ?? []
            noteJudges()
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
    private(set) var judges = Judges.none

    /// Takes everything, as it is mapped by `set`.
    init(set: MappingSet, events: any LaneEvents) {
        lengthSlots = set.lengthSlots
        self.events = events
    }

    /// Takes what `set` maps from here on.
    mutating func adopt(_ set: MappingSet) { lengthSlots = set.lengthSlots }

    /// Takes no more than `limits` say.
    mutating func limit(by limits: IntakeLimits) {
        intake = limits
        noteJudges()
    }

    /// Takes what `rules` let through.
    mutating func decide(by rules: RuleDecider) {
        self.rules = rules
        plainKeys.reset(isKept: rules.isOn)
        noteJudges()
    }

    /// Gives readings the patient of their device by `rules`; nil to leave all as their messages say.
    mutating func attribute(by rules: PatientRules?) {
        patients.rules = rules
        noteJudges()
    }

    /// Refuses what names others than these, up to ``release()``.
    mutating func bind(_ owner: PayloadOwner) {
        bound = owner
        noteJudges()
    }

    /// Takes readings of all again.
    mutating func release() {
        bound = PayloadOwner(device: nil, patient: nil)
        noteJudges()
    }

    private mutating func noteJudges() {
        judges = admission != nil || isBound || isDecidedByOthers ? .all : rules.isOn ? .rules : .none
    }

    private var isBound: Bool { bound.device != nil || bound.patient != nil }

    private var isDecidedByOthers: Bool { patients.isOn || intake.isOn || !senderTags.isEmpty }

    // MARK: Readings

    /// Whether no rule is about plain readings of the series `key` from `source`.
    @inline(__always)
    mutating func takesAsIs(_ key: ShortKey, source: Int) -> Bool {
        plainKeys.isPlain(key, source: source) ?? askRules(key, source: source)
    }

    @inline(never)
    private mutating func askRules(_ key: ShortKey, source: Int) -> Bool {
        plainKey.removeAll()
        key.append(to: &plainKey)
        let isPlain = rules.takesAsIs(key: plainKey.view, source: source)
        plainKeys.note(key, source: source, isPlain: isPlain)
        return isPlain
    }

    /// Why the reading of the series `key` is not taken; where it is, makes of it what is to be filed, which is valid
    /// until the next one.
    ///
    /// What its sender may bring is asked of the patient that it has then, and so are rules; whom a topic binds it to,
    /// of the message.
    mutating func refusal(
        _ measurement: inout Measurement, _ payload: inout ByteView, key: inout ByteView, source: Int
    ) -> Rejection? {
        if let refusal = boundRefusal(key) { return refusal }
        guard isDecidedByOthers || rules.isOn else { return admission?.refusal(of: key) }
        let type = SeriesKey.type(of: key)
        let isLong = patients.isOn || intake.hasEnds
        let length = isLong ? measurement.length(lengthSlots[type], payload) : 0
        if let refusal = intakeRefusal(type: type, source: source, at: measurement.instant, length: length) {
            return refusal
        }
        switch patients.attribute(key, at: measurement.instant, length: length) {
        case .rejected(let reason): return reason
        case .unchanged: break
        case .changed: key = patients.key
        }
        return admission?.refusal(of: key) ?? ruleRefusal(&measurement, &payload, key: key, source: source)
    }

    private mutating func ruleRefusal(
        _ measurement: inout Measurement, _ payload: inout ByteView, key: ByteView, source: Int
    ) -> Rejection? {
        let tags = givenTags()
        guard rules.isOn || tags.count > 0 else { return nil }
        let decision = rules.decide(&measurement, payload, key: key, source: source, tags: tags)
        if let refusal = decision.refusal {
            events.ruled(refusal, by: decision.rule ?? "tags", detail: decision.detail)
            return refusal
        }
        if decision.isRewritten { payload = rules.payload }
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

    /// Why a reading whose message names the series `key` is of somebody else than it must be.
    private func boundRefusal(_ key: ByteView) -> Rejection? {
        if let device = bound.device, !SeriesKey.device(of: key).equals(device) { return .deviceNotAllowed }
        if let patient = bound.patient, !(SeriesKey.patient(of: key)?.equals(patient) ?? false) {
            return .patientNotAllowed
        }
        return nil
    }

    private func intakeRefusal(type: Int, source: Int, at instant: Instant, length: Int64) -> Rejection? {
        guard intake.isOn,
            let refusal = intake.refusal(type: type, source: source, at: instant, length: length)
        else { return nil }
        events.limited(type: type)
        return refusal
    }

    // MARK: Retractions

    /// Why the retraction `record` of the series `key` is not taken. Whose its reading is was decided when that was
    /// filed, and the map has no say in it now.
    func refusal(ofRetraction record: Measurement, key: ByteView, source: Int) -> Rejection? {
        // Of one by its id the time is not known, and its receive time stands for it.
        boundRefusal(key)
            ?? intakeRefusal(type: SeriesKey.type(of: key), source: source, at: record.instant, length: 0)
            ?? admission?.refusal(of: key)
    }

    /// Whether what a retraction's message says of the patient counts for nothing: where the map prevails over
    /// messages.
    var takesNoPatientOfRetractions: Bool {
        admission == nil && !isBound && patients.rules?.policy.conflict == .map
    }

    // MARK: Counts

    /// Tells what rules have done since the last time.
    mutating func report() {
        guard rules.hasCounts else { return }
        let (rewritten, tagged) = rules.takeCounts()
        events.rewrote(rewritten, tagged: tagged)
    }
}
