/// Accumulates readings into windows, says when a window is due to become an Observation, and says it again with the
/// full content when late readings change it.
///
/// A pure state machine: readings and ticks in, emissions out; no clock and no I/O. One thread owns a machine and holds
/// it in a local variable. After each batch of readings, take what is due:
///
///     while let emission = machine.nextEmission() {
///         encode(machine.content(of: emission))
///         machine.settle(emission)
///     }
///
/// What a window contains never depends on when it was emitted, nor on the order in which its readings came.
package struct WindowMachine<Archive: WindowArchive & ~Copyable>: ~Copyable {
    // First, so that its place is known where this generic code is not specialised.
    var table: WindowTable
    private(set) var types: [MeasurementType]
    var registry = SeriesRegistry()
    /// A block of the archive, for the moment.
    var block = ByteWriter(capacity: 1024)
    private var damagedWindows = 0
    /// Whether readings of an earlier run are being taken.
    private(set) var isReplaying = false
    /// Where the readings are that their senders name.
    var ids = ReadingIds()
    /// Series that may not have the same readings.
    var siblings: SeriesSiblings
    /// Readings that were taken back.
    var retractions: RetractionBook
    /// Whether readings may need a look at others first.
    private(set) var needsLooks: Bool
    var archive: Archive

    /// Makes a machine without readings. A series' type is an index into `types`.
    package init(types: [MeasurementType], settings: WindowSettings, archive: consuming Archive) {
        table = WindowTable(settings: settings)
        siblings = SeriesSiblings(settings.deviceGuard)
        retractions = RetractionBook(
            keepsChanges: Archive.keepsRetractions, most: settings.retractionsAtHand)
        needsLooks = siblings.isOn
        self.types = types
        self.archive = archive
        // Asked last: to ask the archive before it is in its place ends in a second release of it (Swift 6.3).
        if self.archive.hasRetractions { beginRetractions() }
    }

    /// The number of a series, from 0 in order of introduction; the same identity always has the same number. Nil when
    /// it, or its device, is over the limit: reject its readings as ``Rejection/tooManyDevices``.
    package mutating func define(_ identity: SeriesIdentity) -> Int? {
        if let known = registry.number(of: identity) { return known }
        guard let number = introduce(identity, limits: limits(for: identity)) else { return nil }
        if needsLooks, siblings.isOn { noteSiblings(of: number) }
        return number
    }

    /// Numbers `identity`, which has no number yet, and makes room for it; nil when it, or its device, is over a limit.
    mutating func introduce(_ identity: SeriesIdentity, limits: WindowLimits?) -> Int? {
        guard let number = registry.introduce(identity, limits: limits) else { return nil }
        table.append(types[identity.type])
        archive.introduce(series: number, identity: identity)
        if retractions.isOn { noteRetractable(number) }
        return number
    }

    /// Numbers a series that an earlier run has left, without a limit: nobody else would know what it holds. Nil when
    /// it has a number, of this run's own, or since a sibling of it was introduced before.
    mutating func introduceFormer(_ identity: SeriesIdentity) -> Int? {
        registry.number(of: identity) == nil ? introduce(identity, limits: nil) : nil
    }

    /// Looks at readings before they are added, from here on.
    mutating func beginRetractions() {
        retractions.turnOn()
        needsLooks = true
    }

    /// What is added next comes from ring `ring`.
    @inline(never)
    mutating func beginLook(ring: Int) {
        retractions.ring = ring
        if siblings.isOn { lookAtGuard() }
    }

    /// What a series number stands for.
    package func identity(of series: Int) -> SeriesIdentity {
        registry.identities[series]
    }

    /// The number of the type of series `series`. It changes nothing, see ``WindowTable``.
    mutating func type(of series: Int) -> Int { registry.identities[series].type }

    /// Takes a reading of a series that was defined. `payload` holds its ``Measurement/payloadBytes`` bytes of value
    /// records; its ring fields are ignored.
    @inline(__always)
    package mutating func add(series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        precondition(payload.count == reading.payloadBytes)
        return table.appendNext(series: series, reading)
            ? .accepted : addWithLook(series: series, reading, payload: payload)
    }

    /// The reading whose place the last one has taken (``ReadingOutcome/replaced``), and its payload.
    package var superseded: (reading: Measurement, payload: [UInt8]) {
        (table.inserter.superseded.reading, table.inserter.superseded.payload.view.array)
    }

    /// Takes a plain reading if that is simply the next one in an open window; false, and nothing is done, when it
    /// needs a look: then it is to be added as any other.
    @inline(__always)
    mutating func appendNext(series: Int, _ reading: PlainReading) -> Bool {
        table.appendNext(series: series, reading)
    }

    /// Adds a reading that needs a look at its window.
    @inline(never)
    private mutating func addWithLook(series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        needsLooks
            ? addLooked(series: series, reading, payload: payload)
            : addToItsWindow(series: series, reading, payload: payload)
    }

    /// Adds a reading that may have been taken back, or filed for another patient.
    @inline(never)
    private mutating func addLooked(series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        mayBeRetracted(series)
            ? addUnlessRetracted(series: series, reading, payload: payload)
            : addAmongAny(series: series, reading, payload: payload)
    }

    /// Adds a reading, whatever was taken back.
    mutating func addAmongAny(series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        siblings.hasAny(series)
            ? addAmongSiblings(series: series, reading, payload: payload)
            : addToItsWindow(series: series, reading, payload: payload)
    }

    /// Adds a reading to the window that it belongs to, whatever siblings of the series have.
    mutating func addToItsWindow(series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        let key = table.windows.series[series].rules.key
        if key.hasIds, let id = key.id(of: ReadingKey.Content(reading: reading, payload: payload)) {
            return addNamed(id, series: series, reading, payload: payload)
        }
        return addUnnamed(series: series, reading, payload: payload)
    }

    /// Adds a reading, whatever its sender calls it.
    mutating func addUnnamed(series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        if let outcome = table.addToOpen(series: series, reading, payload) { return outcome }
        switch window(series: series, at: reading.instant, received: reading.received) {
        case .rejected(let reason): return .rejected(reason)
        case .window(let window): return table.add(reading, payload, to: window, of: series)
        }
    }

    /// The window of `series` around `instant`, opened if it is not open, because of a reading received at `received`.
    mutating func window(series: Int, at instant: Instant, received: Instant) -> WindowOpening {
        if let window = table.find(series: series, at: instant) { return .window(window) }
        let span = table.windows.series[series].span(around: instant)
        guard table.windows.count < table.limits.maxOpenWindows || isReplaying else {
            return .rejected(.tooManyWindows)
        }
        let opening = open(series: series, span: span)
        if case .window(let window) = opening {
            if isReplaying { table.windows[window].noteDoubt() }
            table.expectMore(in: window, after: received)
        }
        return opening
    }

    /// Prefetches the series of `record`, which is a number of this machine.
    @inline(__always)
    mutating func prefetchSeries(_ record: NextRecord) { table.prefetchSeries(record) }

    /// Prefetches the memory where `record` will be put; that of its series should be at hand.
    @inline(__always)
    mutating func prefetchReading(_ record: NextRecord) { table.prefetchReading(record) }

    /// Opens a window with its archived content, or empty; neither when it may have had content that is lost.
    private mutating func open(series: Int, span: WindowSpan) -> WindowOpening {
        block.removeAll()
        switch archive.load(series: series, windowStart: span.key, into: &block) {
        case .found:
            if let window = table.restore(series: series, span: span, block: block.view) { return .window(window) }
            damagedWindows += 1
            return .rejected(.archiveDamaged)
        case .damaged:
            damagedWindows += 1
            return .rejected(.archiveDamaged)
        case .absent: break
        }
        if let evicted = archive.evictedThrough(series: series), evicted >= span.key {
            return .rejected(.archiveEvicted)
        }
        return .window(table.open(series: series, span: span, room: 0, isStored: false))
    }

    /// Closes the windows of series that have received nothing for the idle time. `now` is on the clock of
    /// ``Measurement/received``, and `steady` the same moment on a clock that is never set, by which silence is
    /// measured; without, the clock of receive times is taken for one.
    package mutating func tick(now: Instant, steady: Instant? = nil) {
        forgetIds()
        table.closeQuiet(at: now, steady: steady ?? now)
    }

    /// Readings go into block `number` of the journal from here on.
    mutating func journal(from number: Int64) { table.journal.block = number }

    /// The oldest block of the journal with readings of windows that are open.
    mutating func neededJournal() -> Int64 { table.neededJournal() }

    /// Whether a window of `series` around `instant` is open.
    mutating func isOpen(series: Int, at instant: Instant) -> Bool { table.find(series: series, at: instant) != nil }

    /// The start under which the archive keeps the window of `series` around `instant`.
    func archiveStart(series: Int, at instant: Instant) -> Instant {
        table.windows.series[series].span(around: instant).key
    }

    /// Holds any number of windows while `isReplaying`: they were within the limits when they were opened.
    mutating func setReplaying(_ isReplaying: Bool) {
        self.isReplaying = isReplaying
        table.forgetLateReadings()
        if !isReplaying { settleSiblings() }
    }

    /// Closes all windows: everything becomes due.
    package mutating func drain() {
        table.closeAll()
    }

    /// Takes over `limits` for what comes; what it holds already stays.
    mutating func takeOver(_ limits: WindowLimits) {
        table.takeOver(limits)
        registry.forgetRefusals()
    }

    /// Knows `types` from here on: the former ones, whose grouping stays, and perhaps more.
    mutating func adopt(types: [MeasurementType]) {
        precondition(types.starts(with: self.types) { $0.grouping == $1.grouping })
        self.types = types
        for series in 0..<table.windows.series.count {
            table.adopt(types[registry.identities[series].type], of: series)
        }
    }

    /// Closes the windows that `selection` has: they become due. How many they were.
    mutating func flush(_ selection: WindowSelection) -> Int {
        let (identities, types) = (registry.identities, types)
        return table.flush { series in
            selection.contains(identities[series], type: types[identities[series].type].name)
        }
    }

    /// Closes the windows of the series whose type is not in use: nothing is coming that could fill them.
    mutating func closeUnused(typesInUse: [Bool]) {
        for series in 0..<table.windows.series.count where table.windows.series[series].head != noWindow {
            if !typesInUse[registry.identities[series].type] { table.closeAll(series: series, .unused) }
        }
    }

    /// What is due first, or nil. The same again until it is settled. The order depends only on what was added.
    package mutating func nextEmission() -> Emission? {
        while true {
            switch table.due() {
            case .nothing: return nil
            case .emission(let emission):
                prefetchDue()
                return emission
            case .retirement(let window): retire(window)
            }
        }
    }

    /// Prefetches what the next emissions will need beside their windows: nobody has looked at the identities of their
    /// series since they were introduced.
    private mutating func prefetchDue() {
        if let later = table.dueWindow(behindFirst: 2) { registry.prefetch(Int(later.series)) }
        if let next = table.dueWindow(behindFirst: 1) {
            registry.prefetchDevice(of: Int(next.series))
            archive.prefetch(series: Int(next.series), windowStart: next.span.key)
        }
    }

    /// What `emission` shows, borrowed: valid until the machine is next changed.
    package mutating func content(of emission: Emission) -> WindowContent {
        WindowContent(
            series: registry.identities[emission.series], start: emission.start, end: emission.end,
            status: emission.status, readings: table.readings(of: emission),
            former: table.formerSources(of: emission), table.formerTags(of: emission),
            hasPayloads: table.hasBlocks(emission), mayHaveBeenSeen: table.mayHaveBeenSeen(emission))
    }

    /// Notes that the Observation of `emission`, which is not settled yet, is in a block for `route`.
    @inline(__always)
    mutating func leaves(_ emission: Emission, by route: BundleRoute) { table.leaves(emission, by: route) }

    /// Notes that the content of `emission`, the last that ``nextEmission()`` gave, has been encoded, or that rules
    /// keep it from all sinks (`isVetoed`): of what no sink has got, none hears that it was an error. A closed window
    /// goes to the archive and leaves memory. If readings were added in between, what they changed is due again.
    package mutating func settle(_ emission: Emission, isVetoed: Bool = false) {
        table.settle(emission, isVetoed: isVetoed)
        if case .retirement(let window) = table.due() { retire(window) }
    }

    /// Archives the first window of the queue, unless the archive still has the same content, and forgets it.
    private mutating func retire(_ index: Int) {
        table.unpack(index)
        let window = table.windows[index]
        let series = Int(window.series)
        let isEvicted = archive.evictedThrough(series: series).map { $0 >= window.span.key } ?? false
        if isEvicted || window.archiveCopy != .same {
            block.removeAll()
            table.pack(index, into: &block)
            var facts = facts(of: index)
            facts.isRestamped = !isEvicted && window.archiveCopy == .olderReceipts
            siblings.filed = nil
            archive.store(series: series, windowStart: window.span.key, facts: facts, block: block.view)
            // Of a window whose content it has, the archive knows the ids.
            if Archive.keepsIds, !facts.isRestamped { archiveIds(of: index) }
        } else if window.duplicates > 0 || window.conflicts > 0 {
            archive.note(series: series, windowStart: window.span.key, facts: facts(of: index))
        }
        table.dequeue()
        table.discard(index)
    }

    @inline(__always)
    private mutating func facts(of index: Int) -> WindowFacts {
        Archive.readsFacts ? table.facts(of: index) : .unread
    }

    /// What was closed, and how many readings were late, since the last call.
    mutating func takeCounts() -> (closings: WindowClosings, lateReadings: Int) { table.takeCounts() }

    /// What the machine holds now.
    package var counters: WindowCounters {
        WindowCounters(
            series: table.windows.series.count + retractions.reservedSeries,
            devices: registry.deviceCount + retractions.reservedDeviceCount, openWindows: table.windows.count,
            readingsHeld: table.runs.count, readingBytes: table.runs.byteCount, archivedBytes: archive.storedBytes,
            evictedWindows: archive.evictedWindows, damagedWindows: damagedWindows)
    }

    /// The devices and series that were introduced, and those that may be.
    package var introductions: Introductions {
        let (limits, refuses) = (table.limits, registry.refuses)
        return Introductions(
            devices: LimitFill(
                met: registry.deviceCount + retractions.reservedDeviceCount, limit: limits.maxDevices,
                refuses: refuses.devices),
            series: LimitFill(
                met: registry.identities.count + retractions.reservedSeries, limit: limits.maxSeries,
                refuses: refuses.series))
    }
}

/// What became of the wish for a window that is not open.
enum WindowOpening {
    case window(Int)
    case rejected(Rejection)
}

extension WindowMachine where Archive == MemoryArchive {
    /// Makes a machine whose archive is in memory and as large as the limits say.
    package init(types: [MeasurementType], settings: WindowSettings) {
        self.init(types: types, settings: settings, archive: MemoryArchive(bytes: settings.limits.archiveBytes))
    }
}

/// What a window machine holds at a moment, and what it has lost.
package struct WindowCounters: Equatable, Sendable {
    /// Series introduced, and devices and types that only retractions have named.
    package var series: Int
    /// Devices introduced, and those that only retractions have named.
    package var devices: Int
    /// Windows in memory: filling, or waiting to be emitted.
    package var openWindows: Int
    /// Readings of the windows in memory.
    package var readingsHeld: Int
    /// Bytes of memory of the readings in windows: in use, or left by windows that have ended and used again.
    package var readingBytes: Int
    /// Bytes that the archive keeps.
    package var archivedBytes: Int
    /// Closed windows that the archive had to drop to stay within its limit.
    package var evictedWindows: Int
    /// Archived windows that could not be read back.
    package var damagedWindows: Int
}
