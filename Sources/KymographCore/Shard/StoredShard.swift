/// A shard whose readings and closed windows a store makes durable.
///
/// Its owner calls ``replay(_:series:)`` for what an earlier run has left, then ``beginReceiving(now:)``, and from then
/// on ``handOver(steady:isQuiet:)`` after each step.
package struct StoredShard: ~Copyable {
    private var shard: WindowShard<StoredArchive>
    private let store: any ShardStore
    private let number: Int
    /// What the archive has of windows that replayed readings belong to.
    private var archivedThrough: [WindowName: JournalPlace?] = [:]
    /// When a block was handed over last, on the clock that is never set.
    private var handedOver: Instant?
    /// The oldest block needed as the last unit said.
    private var lastNeeded: Int64?
    private var lastTaken: [UInt64] = []
    private let mappings: MappingExchange?
    /// Readings taken from the journal of an earlier run that no archived window had.
    package private(set) var replayed = 0
    /// Those of ``replayed`` that no window took: they were rejected, as ``ShardEvents`` were told.
    package private(set) var replayRejected = 0

    /// Bytes of journal, and of rejected readings, at which a block ends.
    private static var blockBytes: Int { 256 << 10 }
    /// Longest time, in nanoseconds, that readings wait for their block to end.
    private static var blockAge: Int64 { 20_000_000 }

    /// Makes shard `number`, which reads `rings`, one per lane. Without `router` each block of entries is for
    /// `everyone`; `eventSinks` get readings as events.
    package init(
        number: Int, rings: [Ring], types: [MeasurementType], settings: WindowSettings,
        entries: consuming EntryWriter, router: BundleRouter? = nil, everyone: BundleRoute = .all,
        eventSinks: EventSinks = .none,
        events: any ShardEvents, mappings: MappingExchange? = nil, routings: RoutingExchange? = nil,
        store: any ShardStore
    ) {
        self.number = number
        self.store = store
        self.mappings = mappings
        let archive = StoredArchive(store, recentBytes: settings.limits.archiveBytes)
        let machine = WindowMachine(types: types, settings: settings, archive: archive)
        shard = WindowShard(
            rings: rings, machine: machine, entries: RoutedEntries(entries, router: router, everyone: everyone),
            streams: EventStreams(eventSinks), events: events, mappings: mappings, routings: routings, store: store)
    }

    // MARK: An earlier run

    /// Takes the readings of `block` that no archived window has yet, except those at the places `withdrawn`; for those
    /// at the places `superseding`, others have been rejected before. `series` gives the ``SeriesKey`` of a number,
    /// or nil when its readings belong to another shard. False when the block is damaged; what came before the damage
    /// has been taken.
    package mutating func replay(
        _ block: JournalBlock, except withdrawn: Set<Int> = [], superseding: Set<Int> = [], series: (Int) -> [UInt8]?
    ) -> Bool {
        defer { handOverRejections() }
        shard.machine.setReplaying(true)
        shard.machine.journal(from: block.number)
        return block.bytes.withByteView { bytes in
            guard var reader = JournalReader(bytes) else { return false }
            while var record = reader.next() {
                let place = JournalPlace(block: block.number, index: reader.read - 1)
                guard !withdrawn.contains(place.index) else { continue }
                if superseding.contains(place.index) { record.reading.mark |= ReadingMark.supersedes }
                if let key = series(record.series) { replay(record, key, place) }
            }
            return reader.isComplete && reader.read == block.count
        }
    }

    /// Gives the store many rejected readings of an earlier run at once: there may be more than fit in memory.
    private mutating func handOverRejections() {
        guard shard.pending.rejectedBytes >= StoredShard.blockBytes else { return }
        var unit = ShardUnit(shard: number)
        shard.pending.moveRejections(into: &unit)
        unit.retractions = shard.machine.retractions.takeChanges()
        store.submit(unit)
    }

    private mutating func replay(_ record: JournalReader.Record, _ key: [UInt8], _ place: JournalPlace) {
        let identity = key.withByteView { SeriesKey.identity($0) }
        let reading = record.reading
        guard let series = shard.machine.define(identity) else {
            // There is no room for its series, and it may need none.
            let grouping = shard.machine.types[identity.type].grouping
            if isArchived(record, place, start: grouping.archiveStart(around: reading.instant)) { return }
            if record.moves { return shard.undoMove(reading, identity, series: record.series, place: place) }
            replayed += 1
            replayRejected += 1
            return shard.withdraw(
                .tooManyDevices, reading, record.payload, identity, series: record.series, place: place)
        }
        if !shard.machine.isOpen(series: series, at: reading.instant) {
            let start = shard.machine.archiveStart(series: series, at: reading.instant)
            if isArchived(record, place, start: start) { return }
        }
        if record.moves {
            let isGone =
                record.retracts
                ? shard.machine.removeRetracted(series: series, reading, payload: record.payload)
                : shard.machine.remove(series: series, reading, payload: record.payload)
            if !isGone { shard.undoMove(reading, identity, series: record.series, place: place) }
            return
        }
        replayed += 1
        guard isWritten(identity.type) else {
            replayRejected += 1
            return shard.withdraw(
                .noFHIRTemplate, reading, record.payload, identity, series: record.series, place: place)
        }
        shard.replayedThrough = max(shard.replayedThrough, reading.received)
        switch shard.machine.add(series: series, reading, payload: record.payload) {
        case .rejected(let reason):
            replayRejected += 1
            shard.withdraw(reason, reading, record.payload, identity, series: record.series, place: place)
        case .conflict, .replaced:
            // Otherwise the earlier run has kept both, and the mapping has changed since.
            let isReturned = reading.mark & ReadingMark.returned != 0
            if isReturned { shard.sendReplacing(reading, record.payload, series: series) }
            guard !record.supersedes else { break }
            replayRejected += 1
            shard.rejectSuperseded(series: series, by: place)
        case .accepted where reading.mark & ReadingMark.returned != 0 && !shard.output.streams.isEmpty:
            // No run has made an event of it; those of others left with the journal.
            shard.send(reading, record.payload, series: series)
        case .accepted, .duplicate: break
        }
    }

    /// Whether the archive has the reading at `place` of the journal, in the window at `start`.
    private mutating func isArchived(_ record: JournalReader.Record, _ place: JournalPlace, start: Instant) -> Bool {
        let name = WindowName(series: record.series, start: start)
        let through = archivedThrough[name] ?? store.archivedThrough(series: record.series, windowStart: start)
        archivedThrough[name] = .some(through)
        return through.map { place < $0 } ?? false
    }

    /// Whether a template writes readings of `type`. Those of another run may be of types that this one has no template
    /// for: as letters they wait for one, while a window of them would be archived without an Observation.
    private func isWritten(_ type: Int) -> Bool {
        guard let templates = mappings?.current.fhirTemplates else { return true }
        return templates.indices.contains(type) && templates[type] != nil
    }

    /// Ends the replay: from here on windows close and leave.
    package mutating func beginReceiving(now: Instant) {
        archivedThrough = [:]
        shard.machine.setReplaying(false)
        shard.machine.journal(from: JournalWriter.noBlock)
        // Not the next number: the next run would give it again, to a block that comes later.
        shard.machine.archive.journalReached(JournalPlace(block: store.lastBlockAtStart, index: .max))
        shard.emit(now: now)
    }

    // MARK: Receiving

    /// Asks `limits` with newer mappings what may be introduced, opened and added from then on.
    package mutating func follow(limits: @escaping @Sendable () -> WindowLimits) { shard.follow(limits: limits) }

    /// Decides by the rules that `rules` gives now, and with each newer mapping set, what sinks get. `set` is that of
    /// the start.
    package mutating func follow(_ set: MappingSet, rules: @escaping @Sendable () -> EntryRules) {
        shard.follow(set, rules: rules)
    }

    /// Asks for the rules again.
    package mutating func adoptRules() { shard.adoptRules() }

    /// Takes what the rings hold, and writes what became due. Returns how many records there were; 0 means that the
    /// rings were empty. How long a block has waited is measured by `steady`, a clock that is never set.
    package mutating func step(now: Instant, steady: Instant? = nil) -> Int {
        // Before there is more that the store was not told of.
        shard.machine.forgetRetractions()
        return shard.step(now: now, steady: steady)
    }

    /// Closes windows of quiet series, ends a block that has waited `bundleAge` nanoseconds, and reports the counts.
    /// Both are measured by `steady`, see ``WindowMachine/tick(now:steady:)``.
    package mutating func tick(now: Instant, steady: Instant? = nil, bundleAge: Int64) {
        shard.tick(now: now, steady: steady, bundleAge: bundleAge)
    }

    /// Sends what waits for its block to fill; whether anything does.
    package mutating func sendWaiting() -> Bool { shard.sendWaiting() }

    /// Closes the windows that `selection` has, and hands them over; how many they were.
    package mutating func close(_ selection: WindowSelection, now: Instant) -> Int {
        defer { submit() }
        return shard.close(selection, now: now)
    }

    /// Closes everything and hands it over: the last step before the end.
    package mutating func drain(now: Instant) {
        shard.drain(now: now)
        submit()
    }

    /// Gives the store what must become durable: at once when the rings are empty (`isQuiet`), else in blocks of some
    /// size, or of some age by `steady`, a clock that is never set.
    package mutating func handOver(steady: Instant, isQuiet: Bool) {
        let age = handedOver.map { steady.nanoseconds &- $0.nanoseconds } ?? StoredShard.blockAge
        let isLarge = shard.pending.byteCount >= StoredShard.blockBytes
        guard isQuiet || isLarge || age >= StoredShard.blockAge else { return }
        handedOver = steady
        submit()
    }

    private mutating func submit() {
        var unit = ShardUnit(shard: number)
        unit.taken = shard.taken
        shard.endEvents()
        shard.pending.move(into: &unit)
        if !unit.blocks.isEmpty { shard.events.handedOver(unit.blocks) }
        unit.retractions = shard.machine.retractions.takeChanges()
        let isBlockOpen = shard.output.isOpen
        shard.machine.archive.moveReady(into: &unit, isBlockOpen: isBlockOpen)
        unit.journal = shard.takeJournal()
        // What is needed becomes durable later than the blocks that begin meanwhile, and must not end before them.
        let oldest = min(shard.machine.neededJournal(), shard.machine.archive.needed)
        unit.needed = min(oldest, store.upcomingBlock)
        // Even an empty unit may say that less is needed than before, or that more has been looked at.
        if unit.isEmpty, unit.needed == lastNeeded, unit.taken == lastTaken { return }
        (lastNeeded, lastTaken) = (unit.needed, unit.taken)
        store.submit(unit)
    }

    /// What the windows hold.
    package var counters: WindowCounters { shard.counters }

    /// The devices and series that it has met, and those that it may meet.
    package var introductions: Introductions { shard.introductions }
}

extension WindowShard where Archive == StoredArchive {
    /// Ends the present block of the journal.
    fileprivate mutating func takeJournal() -> JournalBlock? {
        let number = pending.journal.number
        guard let block = pending.journal.take() else { return nil }
        machine.archive.journalReached(JournalPlace(block: number, index: .max))
        return block
    }
}
