/// What leaves a shard: Observations as entries, and readings as events, in blocks that end when they are full or old.
struct ShardOutput: ~Copyable {
    private var entries: RoutedEntries
    /// The events of readings for sinks that get those; empty without such a sink.
    private(set) var streams: EventStreams
    private let events: any ShardEvents
    /// Gives the rules for resources; nil without any.
    private var rules: (@Sendable () -> EntryRules)?
    /// The set whose templates entries are written by now.
    private var writing: MappingSet?
    /// Receive time of the oldest Observation in the unfinished blocks; nil when they have none.
    private var since: Instant?
    /// When the unfinished blocks of entries and of events were begun, on the clock that is never set.
    private var begun: (entries: Instant?, events: Instant?)

    /// Writes by `set` into blocks, which `events` get where there is no store.
    init(
        _ entries: consuming RoutedEntries, _ streams: consuming EventStreams, by set: MappingSet?,
        events: any ShardEvents
    ) {
        self.entries = entries
        self.streams = streams
        self.events = events
        writing = set
    }

    /// Whether any block has Observations.
    var isOpen: Bool { entries.isOpen }

    // MARK: Mappings, rules and sinks

    /// Makes events by `set` from here on.
    mutating func adopt(_ set: MappingSet) { streams.adopt(set.types, set.fhirTemplates) }

    /// Writes entries by the templates of `set` from here on; whether all blocks had to end for that.
    mutating func write(by set: MappingSet?, _ pending: inout PendingUnit) -> Bool {
        guard let set, set !== writing else { return false }
        let hasEnded = entries.isRouted
        if hasEnded { flush(&pending) }
        entries.adopt(types: set.types, templates: set.fhirTemplates)
        writing = set
        return hasEnded
    }

    /// Decides by the rules that `rules` gives what sinks get. `set` is that of the start.
    mutating func follow(_ set: MappingSet, rules: @escaping @Sendable () -> EntryRules) {
        if writing == nil { writing = set }
        self.rules = rules
    }

    /// Whether there are rules to ask.
    var hasRules: Bool { rules != nil && writing != nil }

    /// Asks for the rules again. All blocks must have ended: what waits was decided by former ones.
    mutating func adoptRules() {
        guard let rules, let writing else { return }
        report()
        entries.adopt(rules(), types: writing.types, templates: writing.fhirTemplates)
    }

    /// Gives to the sinks of `routing` from here on. All blocks must have ended.
    mutating func follow(_ routing: SinkRouting, _ set: MappingSet) {
        entries.follow(routing.router(writing ?? set), everyone: routing.everyone)
        streams = EventStreams(routing.eventSinks(set))
    }

    /// Reports what rules have decided.
    mutating func report() {
        let ruled = entries.takeRuleCounts()
        if !ruled.isEmpty { events.ruled(ruled) }
    }

    // MARK: Observations

    /// Adds what `content` shows of the machine's series `series` to the block where it belongs, and whether blocks
    /// have ended for it.
    @inline(__always)
    mutating func add(
        _ content: borrowing WindowContent, series: Int, now: Instant, _ pending: inout PendingUnit
    ) -> (outcome: RoutedEntries.Outcome, hasEnded: Bool) {
        let oldest = since ?? now
        var hasEnded = false
        let outcome = entries.add(content, series: series) { route, bytes in
            ShardOutput.handOver(bytes, route, oldest, &pending, events)
            hasEnded = true
        }
        if hasEnded { (since, begun.entries) = (nil, nil) }
        if case .added = outcome, since == nil { since = now }
        return (outcome, hasEnded)
    }

    /// Ends all blocks of Observations.
    mutating func flush(_ pending: inout PendingUnit) {
        let oldest = since ?? .distantPast
        entries.finish { route, bytes in ShardOutput.handOver(bytes, route, oldest, &pending, events) }
        (since, begun.entries) = (nil, nil)
    }

    /// Whether Observations wait for their block to end.
    var hasEntries: Bool { since != nil }

    // MARK: Events

    /// Makes an event of a reading of `identity`, the machine's series `series`: as
    /// ``EventStreams/append(_:_:series:_:formerTags:)``.
    mutating func append(
        _ record: Measurement, _ payload: ByteView, series: Int, _ identity: SeriesIdentity,
        formerTags: ByteView = ByteView("")
    ) -> Bool {
        streams.append(record, payload, series: series, identity, formerTags: formerTags)
    }

    /// Whether events wait for their block to end.
    var hasEvents: Bool { streams.since != nil }

    /// Hands over the events so far: with the journal that has their readings, where there is one.
    mutating func endEvents(_ pending: inout PendingUnit) {
        let oldest = streams.since ?? .distantPast
        begun.events = nil
        streams.finish { route, bytes in ShardOutput.handOver(bytes, route, oldest, &pending, events) }
    }

    // MARK: Ages

    /// Notes when blocks were begun that have something since, by a clock that is never set.
    mutating func noteBegun(_ steady: Instant) {
        if since != nil, begun.entries == nil { begun.entries = steady }
        if streams.since != nil, begun.events == nil { begun.events = steady }
    }

    /// Which blocks have waited `age` nanoseconds by now, on the same clock.
    func overdue(_ age: Int64, at steady: Instant) -> (entries: Bool, events: Bool) {
        func isOver(_ begun: Instant?) -> Bool { begun.map { $0.advanced(by: age) <= steady } ?? false }
        return (isOver(begun.entries), isOver(begun.events))
    }

    // MARK: Handing over

    /// Gives a block to who takes it: with the journal, where there is one.
    private static func handOver(
        _ block: ByteView, _ route: BundleRoute, _ since: Instant, _ pending: inout PendingUnit,
        _ events: any ShardEvents
    ) {
        if pending.isJournaled {
            pending.append(ShardUnit.Block(route: route, bytes: block.array, since: since))
        } else {
            events.block(block, for: route, since: since)
        }
    }
}
