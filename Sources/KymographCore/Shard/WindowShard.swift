/// Everything a shard's thread does: take readings from its rings, keep their windows, encode what is due as entries.
///
/// It has no clock and does not wait; its owner gives it the time and decides when to sleep.
struct WindowShard<Archive: WindowArchive & ~Copyable>: ~Copyable {
    var inputs: OwnedList<ShardInput>
    var machine: WindowMachine<Archive>
    private(set) var output: ShardOutput
    var tally = ShardTally()
    /// Readings that were accepted as of the last report.
    private(set) var accepted = 0
    /// Gives the present limits; nil when they stay.
    private var limits: (@Sendable () -> WindowLimits)?
    /// What waits to be handed over to the store, where there is one.
    var pending: PendingUnit
    /// What will be needed by the records behind those that are being taken; nothing between two rings.
    private var upcoming = UpcomingRecords()
    let events: any ShardEvents
    private let mappings: MappingExchange?
    /// The newest set that a lane uses, and the generation that it has; what is due is written by its templates.
    private var newest: (set: MappingSet?, generation: Int)
    private let routings: RoutingExchange?
    /// Whether each reading is looked at as a whole: it goes into a journal, or becomes an event.
    private let takesWhole: Bool
    /// Identities of series that were refused, for the dead letters of their readings.
    private var refused: [SeriesIdentity] = []
    /// Receive time of the latest reading that was taken from the journal of an earlier run. What this run receives is
    /// later.
    var replayedThrough = Instant.distantPast

    /// Readings taken from one ring before the others have their turn.
    private static var burst: Int { 4_096 }

    /// Makes a shard that reads `rings`, one per lane.
    package init(
        rings: [Ring], machine: consuming WindowMachine<Archive>, entries: consuming RoutedEntries,
        streams: consuming EventStreams, events: any ShardEvents, mappings: MappingExchange?,
        routings: RoutingExchange? = nil,
        store: (any ShardStore)? = nil
    ) {
        pending = PendingUnit(store)
        takesWhole = store != nil || !streams.isEmpty
        inputs = OwnedList(count: rings.count) { ShardInput(rings[$0], mappings?.first) }
        self.machine = machine
        newest = (mappings?.first, 0)
        output = ShardOutput(entries, streams, by: mappings?.first, events: events)
        self.events = events
        (self.mappings, self.routings) = (mappings, routings)
    }

    /// Takes what the rings hold, and writes what became due. Returns how many records there were; 0 means that the
    /// rings were empty. How long a block has waited is measured by `steady`, a clock that is never set.
    package mutating func step(now: Instant, steady: Instant? = nil) -> Int {
        var taken = 0
        for index in 0..<inputs.count { taken += take(from: index, now: now) }
        if taken > 0 { emit(now: now) }
        output.noteBegun(steady ?? now)
        return taken
    }

    private mutating func take(from index: Int, now: Instant) -> Int {
        if inputs[index].generation == newest.generation { return takeRecords(from: index, now: now) }
        return takeFormer(from: index, now: now)
    }

    /// Takes what a lane has mapped before others went on to a newer set: what becomes due by it is written by the
    /// templates of its own set.
    @inline(never)
    private mutating func takeFormer(from index: Int, now: Instant) -> Int {
        emit(now: now)
        let taken = takeRecords(from: index, now: now)
        if taken > 0, inputs[index].generation != newest.generation { emit(now: now, by: inputs[index].set) }
        return taken
    }

    private mutating func takeRecords(from index: Int, now: Instant) -> Int {
        var taken = 0
        var place = inputs[index].ring.taken
        while upcoming.advance(&inputs[index], from: &place, mayLook: taken < WindowShard.burst) {
            // Behind the look at the ring: what a lane has put there by another map finds its devices guarded.
            if machine.needsLooks { machine.beginLook(ring: index) }
            for number in 0..<upcoming.laterCount { machine.prefetchSeries(upcoming.later[number]) }
            for number in 0..<upcoming.nextCount { machine.prefetchReading(upcoming.next[number]) }
            for _ in 0..<upcoming.nowCount { takeNext(from: index, now: now) }
            taken += upcoming.nowCount
        }
        inputs[index].ring.release()
        return taken
    }

    @inline(__always)
    private mutating func takeNext(from index: Int, now: Instant) {
        if !takesWhole && appendPlain(from: index) { return }
        if let record = inputs[index].ring.next() { take(record, input: index, now: now) }
    }

    /// Puts the next record into its window without a copy of it, if it is a plain reading that is simply the next one
    /// there, as nearly all are; false, and nothing is done, when it is not. A journal, and sinks of events, want the
    /// whole record.
    @inline(__always)
    private mutating func appendPlain(from index: Int) -> Bool {
        guard let reading = inputs[index].ring.plainReading() else { return false }
        let series = inputs[index].series(Int(reading.series))
        guard series >= 0, machine.appendNext(series: series, reading) else { return false }
        inputs[index].ring.skipPlainReading()
        tally.accepted &+= 1
        return true
    }

    /// Follows a lane to the mapping set of its mark.
    ///
    /// What other lanes have mapped by an older one may still be in their rings: its types and slots are in the newest
    /// too, at the same numbers. Windows of types that are no longer in use are closed at each lane's mark; after the
    /// last one none can be opened.
    private mutating func adoptMappings(generation: Int, input: Int, now: Instant) {
        guard let set = mappings?.takeAnnounced(generation: generation) else { return }
        // What is due by now was mapped for the templates before the mark.
        emit(now: now, by: inputs[input].set)
        (inputs[input].set, inputs[input].generation) = (set, generation)
        if generation > newest.generation {
            let routing = routings?.routing(at: generation, after: newest.generation)
            newest = (set, generation)
            if let routing { follow(routing, set) }
            output.adopt(set)
            machine.adopt(types: set.types)
            if let limits { takeOver(limits()) }
            // With the sources that came with it.
            adoptRules()
        }
        let typesInUse = newest.set?.typesInUse ?? []
        if typesInUse.contains(false) { machine.closeUnused(typesInUse: typesInUse) }
    }

    /// Asks `limits` with newer mappings what may be introduced, opened and added from then on.
    mutating func follow(limits: @escaping @Sendable () -> WindowLimits) { self.limits = limits }

    /// Decides by the rules that `rules` gives what sinks get. `set` is that of the start.
    mutating func follow(_ set: MappingSet, rules: @escaping @Sendable () -> EntryRules) {
        output.follow(set, rules: rules)
        adoptRules()
    }

    /// Asks for the rules again: what waits was decided by former ones.
    mutating func adoptRules() {
        guard output.hasRules else { return }
        flush()
        output.adoptRules()
    }

    /// Hands over what was made for the sinks that there were, and gives to those of `routing` from here on.
    private mutating func follow(_ routing: SinkRouting, _ set: MappingSet) {
        assert(pending.isJournaled, "without a journal readings that become no events are not looked at")
        flush()
        endEvents()
        output.follow(routing, set)
    }

    @inline(__always)
    private mutating func take(_ record: Measurement, input: Int, now: Instant) {
        if record.kind == RecordKind.measurement.rawValue {
            add(record, input: input)
        } else if record.kind == RecordKind.definition.rawValue {
            define(inputs[input].ring.payload(of: record), input: input)
        } else if record.kind == RecordKind.mappings.rawValue {
            adoptMappings(generation: Int(record.received.nanoseconds), input: input, now: now)
        } else if record.kind == RecordKind.retraction.rawValue {
            inputs[input].outcomes.retractions += 1
            retract(record, input: input)
        } else if record.kind == RecordKind.countEnd.rawValue {
            endCount(Int(record.received.nanoseconds), input: input)
        } else {
            machine.retractions.endDocument(of: input)
        }
    }

    /// Tells what became of a lane's readings since its last count under `number`, or with 0 nobody.
    @inline(never)
    private mutating func endCount(_ number: Int, input: Int) {
        if number != 0 {
            pending.append(CountedReadings(lane: input, number: number, outcomes: inputs[input].outcomes))
        }
        inputs[input].outcomes = ReadingOutcomes()
    }

    private mutating func define(_ key: ByteView, input: Int) {
        let identity = SeriesKey.identity(key)
        if let number = machine.define(identity) {
            inputs[input].introduce(number)
        } else {
            refused.append(identity)
            inputs[input].introduce(-refused.count)
        }
    }

    /// Takes over `limits`: series that were refused may have room now.
    private mutating func takeOver(_ limits: WindowLimits) {
        machine.takeOver(limits)
        for input in 0..<inputs.count {
            for (place, series) in inputs[input].refused {
                guard let number = machine.define(refused[-series - 1]) else { continue }
                inputs[input].admit(place, as: number)
            }
        }
    }

    @inline(__always)
    private mutating func add(_ record: Measurement, input: Int) {
        let series = inputs[input].series(Int(record.series))
        let payload = inputs[input].ring.payload(of: record)
        guard series >= 0 else {
            inputs[input].outcomes.reject(.tooManyDevices)
            return reject(.tooManyDevices, record, payload, refused[-series - 1], series: -1)
        }
        beginBlock()
        switch machine.add(series: series, record, payload: payload) {
        case .accepted:
            tally.accepted += 1
            if !output.streams.isEmpty { send(record, payload, series: series) }
        case .duplicate:
            tally.duplicate += 1
            inputs[input].outcomes.duplicate += 1
        case .conflict, .replaced: return replace(record, payload, series: series, input: input)
        case .rejected(let reason):
            inputs[input].outcomes.reject(reason)
            return reject(
                reason, record, payload, machine.identity(of: series), series: machine.archive.number(of: series))
        }
        if pending.isJournaled {
            var record = record
            // The journal is in the order in which all came.
            record.mark &= ReadingMark.source
            pending.journal.append(series: machine.archive.number(of: series), record, payload)
        }
    }

    /// Makes an event of a reading that was accepted.
    @inline(never)
    mutating func send(_ record: Measurement, _ payload: ByteView, series: Int) {
        guard output.append(record, payload, series: series, machine.identity(of: series)) else { return }
        endEvents()
    }

    /// Makes an event of a reading that took the place of another, unless it is the one that was rejected: of two that
    /// merge, that is the one that was received first, whichever came first. Sinks that got the other one for a tag get
    /// it, too.
    mutating func sendReplacing(_ record: Measurement, _ payload: ByteView, series: Int) {
        guard !output.streams.isEmpty, !isSuperseded(record, payload) else { return }
        let isFull = machine.superseded.payload.withByteView {
            output.append(
                record, payload, series: series, machine.identity(of: series), formerTags: ReadingTags.list(in: $0))
        }
        if isFull { endEvents() }
    }

    /// Whether the reading that was rejected for the one that was taken last is this one itself.
    private func isSuperseded(_ record: Measurement, _ payload: ByteView) -> Bool {
        let (former, bytes) = machine.superseded
        return former.instant == record.instant && bytes.withByteView { former.says(as: record, $0, payload) }
    }

    /// Hands over the events so far: with the journal that has their readings, where there is one.
    mutating func endEvents() { output.endEvents(&pending) }

    /// Takes note of a reading that has taken the place of another, which is rejected now: as many are accepted as
    /// before. The journal says so, and when it is replayed, that is not done again.
    @inline(never)
    private mutating func replace(_ record: Measurement, _ payload: ByteView, series: Int, input: Int) {
        let isRejected = isSuperseded(record, payload)
        if isRejected { inputs[input].outcomes.reject(.superseded) } else { inputs[input].outcomes.conflict += 1 }
        rejectSuperseded(series: series)
        guard takesWhole else { return }
        sendReplacing(record, payload, series: series)
        guard pending.isJournaled else { return }
        var record = record
        // What a dead letter brings has lost, also where both have one stamp: without its mark it has to be earlier.
        if isRejected, record.mark & ReadingMark.returned != 0 { record.received = record.received.advanced(by: -1) }
        record.mark &= ReadingMark.source
        let (former, bytes) = machine.superseded
        let number = machine.archive.number(of: series)
        guard former.instant != record.instant else {
            return pending.journal.append(superseding: record, payload, series: number)
        }
        bytes.withByteView { pending.journal.append(moved: former, $0, series: number) }
        let tags = bytes.withByteView { ReadingTags.list(in: $0).array }
        guard !tags.isEmpty else { return pending.journal.append(series: number, record, payload) }
        // When the journal is replayed, the former reading is gone, and its tags with it.
        var whole = ByteWriter(capacity: payload.count + 64)
        tags.withByteView { ReadingTags.append(payload, keeping: $0, to: &whole) }
        record.payloadBytes = whole.count
        pending.journal.append(series: number, record, whole.view)
    }

    /// Rejects the reading whose place another has taken; of an earlier run, the one at `place` in its journal.
    @inline(never)
    mutating func rejectSuperseded(series: Int, by place: JournalPlace? = nil) {
        let (former, bytes) = machine.superseded
        bytes.withByteView {
            reject(
                .superseded, former, $0, machine.identity(of: series), series: machine.archive.number(of: series),
                place: place)
        }
        if place != nil { pending.noteReplacedFrom() }
    }

    /// Notes that what a reading of an earlier run was rejected for has not taken its place, or not taken it out:
    /// `record`, at `place` in the journal, says that it did.
    mutating func undoMove(_ record: Measurement, _ identity: SeriesIdentity, series: Int, place: JournalPlace) {
        let isRetracted = record.mark & ReadingMark.retracts == ReadingMark.retracts
        let reading = RejectedReading(
            reason: isRetracted ? .retracted : .superseded, measurement: record, identity: identity, series: series,
            isInWindow: false)
        pending.appendUndone(reading, at: place)
    }

    /// Begins a block of the journal where there is to be one and none is open.
    @inline(__always)
    mutating func beginBlock() {
        if let number = pending.beginBlock() { machine.journal(from: number) }
    }

    mutating func reject(
        _ reason: Rejection, _ record: Measurement, _ payload: ByteView, _ identity: SeriesIdentity, series: Int,
        place: JournalPlace? = nil
    ) {
        if place == nil { tally.reject(reason) } else { tally.withdrawn += 1 }
        var rejected = RejectedReading(
            reason: reason, measurement: record, identity: identity, series: series, isInWindow: false)
        if reason == .retracted { rejected.form = machine.retractions.lastForm }
        events.rejected(rejected, payload: payload)
        pending.append(rejected, payload, at: place)
    }

    /// Rejects a reading, at `place` in the journal, that an earlier run has accepted, and counted so: the counts of
    /// this run have nothing of it.
    mutating func withdraw(
        _ reason: Rejection, _ record: Measurement, _ payload: ByteView, _ identity: SeriesIdentity, series: Int,
        place: JournalPlace
    ) {
        reject(reason, record, payload, identity, series: series, place: place)
        if record.mark & ReadingMark.supersedes != 0 { pending.noteUndone() }
    }

    /// Closes windows of quiet series, sends a block that has waited `bundleAge` nanoseconds, and reports the counts.
    /// Both are measured by `steady`, see ``WindowMachine/tick(now:steady:)``.
    package mutating func tick(now: Instant, steady: Instant? = nil, bundleAge: Int64) {
        let steady = steady ?? now
        machine.tick(now: now, steady: steady)
        emit(now: now)
        output.noteBegun(steady)
        let overdue = output.overdue(bundleAge, at: steady)
        if overdue.entries { flush() }
        if !pending.isJournaled, overdue.events { endEvents() }
        report()
    }

    /// Sends what waits for its block to fill; whether anything does.
    mutating func sendWaiting() -> Bool {
        let hasEvents = output.hasEvents
        if hasEvents { endEvents() }
        guard output.hasEntries else { return hasEvents }
        flush()
        return true
    }

    /// Closes the windows that `selection` has, and sends what they show with all that waits; how many they were.
    mutating func close(_ selection: WindowSelection, now: Instant) -> Int {
        let closed = machine.flush(selection)
        emit(now: now)
        flush()
        endEvents()
        report()
        return closed
    }

    /// Closes and sends everything: the last step before the end.
    package mutating func drain(now: Instant) {
        while step(now: now) > 0 {}
        machine.drain()
        emit(now: now)
        flush()
        endEvents()
        report()
    }

    /// Slots of each lane's ring whose records have been taken.
    var taken: [UInt64] { (0..<inputs.count).map { inputs[$0].ring.taken } }

    /// What the windows hold.
    package var counters: WindowCounters { machine.counters }

    /// The devices and series that it has met, and those that it may meet.
    package var introductions: Introductions { machine.introductions }

    private mutating func report() {
        output.report()
        (tally.closings, tally.lateReadings) = machine.takeCounts()
        events.counted(tally)
        accepted += tally.accepted
        tally = ShardTally()
    }

    // MARK: Emission

    mutating func emit(now: Instant) { emit(now: now, by: newest.set) }

    /// Writes what is due by the templates of `set`, a former one perhaps: what that does not know, by those of the
    /// newest.
    private mutating func emit(now: Instant, by set: MappingSet?) {
        if pending.journal.count > 0 { machine.archive.journalReached(pending.journal.place) }
        let typeCount = set?.types.count ?? .max
        while let emission = machine.nextEmission() {
            let templates = machine.type(of: emission.series) < typeCount ? set : newest.set
            if output.write(by: templates, &pending) { machine.archive.blocksEnded() }
            let isVetoed = write(emission, now: now)
            machine.settle(emission, isVetoed: isVetoed)
        }
    }

    /// Adds what `emission` shows to the block where it belongs; whether rules keep it from all sinks.
    private mutating func write(_ emission: Emission, now: Instant) -> Bool {
        // Borrowed once: nothing of it changes before the emission is settled.
        let content = machine.content(of: emission)
        let (outcome, hasEnded) = output.add(content, series: emission.series, now: now, &pending)
        if hasEnded { machine.archive.blocksEnded() }
        switch outcome {
        case .nowhere: pass(emission)
        case .vetoed:
            veto(emission)
            return true
        case .skipped(let reason): skip(emission, reason)
        case .added(let addition, let route):
            machine.leaves(emission, by: route)
            note(addition)
            count(emission)
        }
        return false
    }

    private mutating func note(_ addition: EntryWriter.Addition) {
        // A summary is several.
        if addition.isResource { tally.resources += 1 } else { tally.observations += addition.contents }
        tally.condensed += addition.condensedValues
        // Nearly all say everything.
        if addition.losses != ObservationLosses() { tally.losses.add(addition.losses) }
    }

    private mutating func count(_ emission: Emission) {
        switch emission.status {
        case .amended, .enteredInError: tally.amended += 1
        case .preliminary, .final: tally.windows += 1
        }
    }

    /// No sink wants the Observation: the window is archived like any other.
    private mutating func pass(_ emission: Emission) {
        count(emission)
        tally.filtered += 1
    }

    /// Rules keep the Observation from all sinks: the window is archived like any other.
    private mutating func veto(_ emission: Emission) {
        count(emission)
        tally.vetoed += 1
    }

    /// The window gives no Observation: its readings count as rejected, not as accepted. A preliminary one may still
    /// give one; of a changed one the Observation that was sent stays, and the change is counted.
    private mutating func skip(_ emission: Emission, _ reason: Rejection) {
        switch emission.status {
        case .preliminary: return
        case .amended, .enteredInError: return tally.withheld += 1
        case .final: break
        }
        let content = machine.content(of: emission)
        for index in 0..<content.readings.count {
            let reading = content.readings.measurement(index)
            // A reading of an earlier run that came again has the time of that.
            if reading.received <= replayedThrough || accepted + tally.accepted == 0 {
                tally.withdrawn += 1
            } else {
                tally.accepted -= 1
                tally.reject(reason)
            }
            let rejected = RejectedReading(
                reason: reason, measurement: reading, identity: content.series,
                series: machine.archive.number(of: emission.series), isInWindow: true)
            let payload = content.readings.payload(index)
            events.rejected(rejected, payload: payload)
            guard pending.isJournaled else { continue }
            let start = machine.archiveStart(series: emission.series, at: reading.instant)
            machine.archive.hold(KeptRejection(reading: rejected, payload: payload.array), windowStart: start)
        }
    }

    /// Ends all blocks of Observations.
    private mutating func flush() {
        output.flush(&pending)
        machine.archive.blocksEnded()
    }
}
