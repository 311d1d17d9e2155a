/// A shard whose closed windows stay in memory.
///
/// A concrete type: the generic shard is specialised inside this module, which a call from outside would not be.
package struct InMemoryShard: ~Copyable {
    private var shard: WindowShard<MemoryArchive>

    /// Makes a shard that reads `rings`, one per lane. It follows `mappings` when lanes say that they do; without, they
    /// must not. Without `router` each block of entries is for `everyone`; `eventSinks` get readings as events.
    package init(
        rings: [Ring], types: [MeasurementType], settings: WindowSettings, entries: consuming EntryWriter,
        router: BundleRouter? = nil, everyone: BundleRoute = .all, eventSinks: EventSinks = .none,
        events: any ShardEvents,
        mappings: MappingExchange? = nil
    ) {
        let machine = WindowMachine<MemoryArchive>(types: types, settings: settings)
        shard = WindowShard(
            rings: rings, machine: machine, entries: RoutedEntries(entries, router: router, everyone: everyone),
            streams: EventStreams(eventSinks), events: events, mappings: mappings)
    }

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
    package mutating func step(now: Instant, steady: Instant? = nil) -> Int { shard.step(now: now, steady: steady) }

    /// Closes windows of quiet series, sends a block that has waited `bundleAge` nanoseconds, and reports the counts.
    /// Both are measured by `steady`, see ``WindowMachine/tick(now:steady:)``.
    package mutating func tick(now: Instant, steady: Instant? = nil, bundleAge: Int64) {
        shard.tick(now: now, steady: steady, bundleAge: bundleAge)
    }

    /// Sends what waits for its block to fill; whether anything does.
    package mutating func sendWaiting() -> Bool { shard.sendWaiting() }

    /// Closes the windows that `selection` has, and sends what they show; how many they were.
    package mutating func close(_ selection: WindowSelection, now: Instant) -> Int {
        shard.close(selection, now: now)
    }

    /// Closes and sends everything: the last step before the end.
    package mutating func drain(now: Instant) { shard.drain(now: now) }

    /// What the windows hold.
    package var counters: WindowCounters { shard.counters }

    /// The devices and series that it has met, and those that it may meet.
    package var introductions: Introductions { shard.introductions }
}
