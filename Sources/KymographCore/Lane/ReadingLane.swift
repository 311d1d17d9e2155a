/// Everything a lane's thread does with bytes: map them, number their series, write them into the rings.
///
/// One lane per thread; the edges call it once per datagram or line and once per batch.
package struct ReadingLane: ~Copyable {
    private var mappers: SourceMappers
    private var output: LaneOutput
    private var limits: ScanLimits
    private var sourceCount: Int

    /// Makes a lane for `inputs`, whose places are the source numbers.
    package init(
        set: MappingSet, inputs: [LaneInput], limits: ScanLimits, router: consuming ReadingRouter,
        events: any LaneEvents
    ) {
        (self.limits, sourceCount) = (limits, inputs.count)
        mappers = SourceMappers(set: set, inputs: inputs, limits: limits)
        output = LaneOutput(
            router: router, events: events, set: set, inputs: inputs, byTemplate: events.readingCounts(for: set))
    }

    /// Maps with `set`, which continues the former one, from here on. `inputs` are the same sources, and others behind
    /// them; `generation` is what ``MappingExchange/announce(rings:)`` gave with it. Documents are read within
    /// `limits`, and new devices and series taken within `series`; with nil within the former ones.
    ///
    /// Every shard learns of it in order with the readings: what was mapped by a newer set comes after the mark.
    package mutating func adopt(
        _ set: MappingSet, generation: Int, inputs: [LaneInput], limits: ScanLimits? = nil, series: DeviceLimits? = nil
    ) {
        precondition(inputs.count >= sourceCount)
        let limits = limits ?? self.limits
        (self.limits, sourceCount) = (limits, inputs.count)
        mappers = SourceMappers(set: set, inputs: inputs, limits: limits)
        output.adopt(set, inputs)
        output.announceMappings(generation: generation)
        // Behind the mark, at which shards take them over.
        if let series { output.takeOver(series) }
    }

    /// Maps one line of a stream. `bytes` must be padded.
    package mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        output.begin(source: source, received: received)
        mappers[source].line(bytes, received: received, output: &output)
    }

    /// Maps the first line of `bytes`, and returns its length without its newline, where a source has sent lines of its
    /// shape before; nil when nothing has happened, and the line is still to be found. `bytes` must be padded.
    package mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? {
        output.begin(source: source, received: received)
        return mappers[source].knownLine(bytes, received: received, output: &output)
    }

    /// Maps one datagram. `bytes` must be padded.
    package mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {
        output.begin(source: source, received: received)
        mappers[source].datagram(bytes, received: received, output: &output)
    }

    /// Maps one line or datagram of `owner`. `bytes` must be padded.
    package mutating func payload(
        _ bytes: ByteView, isLine: Bool, of owner: PayloadOwner, source: Int, received: Instant
    ) {
        output.begin(source: source, received: received)
        output.bind(owner)
        mappers[source].payload(bytes, isLine: isLine, of: owner, received: received, output: &output)
        output.release()
    }

    /// Maps what `source` brings from here on by those of its templates alone that are numbered `templates`, up to the
    /// next call; nil for all of all sources.
    package mutating func narrow(_ source: Int, to templates: [Int]?) {
        mappers.narrow(source, to: templates)
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

    /// Whether what comes is a dead letter that comes again: its stamp is asked for, and of readings with the same one
    /// it was there first.
    package var isReturned: Bool {
        get { output.isReturned }
        set { output.isReturned = newValue }
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

    /// Takes the payloads that follow as parts of one document, up to ``endParts()``: what one of them retracts, a
    /// later one can bring back.
    package mutating func beginParts() { output.beginParts() }

    /// Ends the document.
    package mutating func endParts() { output.endParts() }

    /// Slots written to the ring of each shard so far: everything that came before the last ``batchEnd()``, and perhaps
    /// more. What is to be acknowledged asks after that.
    package var written: [UInt64] { output.written }

    /// Mappers that are kept: of sources that have templates, of others together, and of such that were narrowed.
    package var mapperCount: Int { mappers.count }

    /// Readings that were taken so far.
    package var taken: Int { output.taken }

    /// Begins to count what becomes of the readings that follow.
    package mutating func beginCount() { output.beginCount() }

    /// Ends the count; gives its number, by which ``ShardUnit/counts`` have it, and 0 when there are no readings to be
    /// told of. Nil when a ring was full as it began, and when the pipeline is ended by force.
    package mutating func endCount() -> Int? { output.endCount() }

    /// Begins a body, each item of which is counted by itself: of each, ``beginCount()`` begins the count and
    /// ``endItem()`` ends it.
    package mutating func beginItems() { output.beginItems() }

    /// Ends the count of the next item of the body; gives its number (``ItemNumber/init(count:)``), and 0 or nil as
    /// ``endCount()`` does. To be called at most ``ItemNumber/most`` times for a body.
    package mutating func endItem() -> Int? { output.endItem() }

    /// Publishes what was routed, wakes the shards and reports the counts.
    package mutating func batchEnd() {
        for place in 0..<mappers.count {
            guard let (source, notes, gaps) = mappers.takeNotes(at: place) else { continue }
            if !notes.isEmpty { output.note(notes, source: source) }
            if !gaps.isEmpty { output.miss(gaps, source: source) }
        }
        output.batchEnd()
    }
}
