import CKymographLinux
import KymographCore
import KymographTemplates
import Synchronization

/// The shard's side of the pipeline's bookkeeping: output, ledger, dead letters.
final class ShardReporter: ShardEvents, Sendable {
    private let mappings: MappingExchange
    private let outputs: OutputStages
    private let ledger: PipelineLedger
    private let deadLetters: DeadLetterWriter?
    private let observer: (any ReadingObserver)?
    private let taps: TapPoint
    private let ruleCounts: RuleCounts

    init(
        mappings: MappingExchange, outputs: OutputStages, ledger: PipelineLedger, deadLetters: DeadLetterWriter?,
        observer: (any ReadingObserver)?, taps: TapPoint, ruleCounts: RuleCounts
    ) {
        self.ruleCounts = ruleCounts
        self.observer = observer
        self.taps = taps
        self.mappings = mappings
        self.outputs = outputs
        self.ledger = ledger
        self.deadLetters = deadLetters
    }

    func block(_ block: ByteView, for route: BundleRoute, since: Instant) {
        outputs.write(block, for: route, since: since)
    }

    func handedOver(_ blocks: [ShardUnit.Block]) {
        guard taps.showsResources else { return }
        ResourceTap(taps.current.taps, mappings.current.types, now: WallClock.now()).show(blocks)
    }

    func counted(_ tally: ShardTally) { ledger.add(tally) }

    func ruled(_ counts: [(rule: String, count: Int)]) {
        for (rule, count) in counts { ruleCounts.ruled(count, by: rule) }
    }

    /// Notes what shard `number` keeps.
    func keeps(_ counters: WindowCounters, _ introductions: Introductions, shard number: Int) {
        ledger.note(counters, introductions, shard: number)
    }

    /// Writes to the file of dead letters. A store gets the reading with what makes its rejection durable.
    func rejected(_ reading: RejectedReading, payload: ByteView) {
        guard deadLetters != nil || observer != nil else { return }
        let letter = StoredDeadLetter(reading, payload, mappings.current.types)
        observer?.rejected(reading.reason, letter, source: nil)
        guard let deadLetters else { return }
        letter.bytes.withByteView { bytes in
            deadLetters.append(
                reason: reading.reason, source: letter.source, receivedAt: letter.at, bytes: bytes,
                detail: letter.detail)
        }
    }
}

/// The loop of a shard's thread.
struct ShardWorker {
    let number: Int
    /// What makes it durable; nil when nothing is.
    let stage: StoreStage?
    let rings: [Ring]
    let settings: PipelineSettings
    /// The set that lanes begin with.
    let set: MappingSet
    let mappings: MappingExchange
    let routings: RoutingExchange
    let reporter: ShardReporter
    /// The settings in use.
    let newSettings: SettingsExchange
    let outputs: OutputStages
    let bell: Doorbell
    let control: PipelineControl
    /// The clock that receive times are of.
    let clock: ReceiveClock
    /// Becomes true when no lane will put anything into the rings any more.
    let inputsEnded: RunningThreads
    /// Beats in each round.
    let pulse: Pulse
    /// Where somebody asks to close windows at once.
    let flushes: FlushPoint
    /// Called when everything is made that work needs.
    let didStart: @Sendable () -> Void

    /// Bytes of closed windows that stay in memory beside a store. What is kept of where they are is as much again
    /// where windows are small.
    private static let recentBytes = 12 << 20
    /// Most nanoseconds between two looks at the clock for idle windows and waiting bundles.
    private static let longestTick: Int64 = 50_000_000

    /// Readings since the last rest for which another one is worth it.
    private static let leastForRest = 10

    /// Whether bundles do not wait at all: what a step has written leaves with it.
    private var sendsAtOnce: Bool { settings.bundleAge == 0 }

    /// Nanoseconds between two looks at the clock: bundles must not wait for much longer than they may.
    private var tickInterval: Int64 {
        sendsAtOnce ? ShardWorker.longestTick : min(ShardWorker.longestTick, max(settings.bundleAge / 4, 1_000_000))
    }

    /// Works until the lanes have ended and everything is handed on, or until it is forced to stop.
    func run() {
        let encoder = ObservationEncoder(
            types: set.types, templates: set.fhirTemplates, options: settings.output, digest: .openSSL)
        let limits = BundleLimits(entries: settings.bundleEntries, bytes: settings.bundleBytes)
        let entries = EntryWriter(encoder, limits: limits)
        let routing = settings.routing
        let (router, eventSinks) = (routing.router(set), routing.eventSinks(set))
        var windows = settings.windows
        windows.memory = .mapped
        // Nothing would come after it.
        if settings.output.keepsFirstVersion { windows.limits.preliminaryEvery = 0 }
        guard let stage else {
            var shard = InMemoryShard(
                rings: rings, types: set.types, settings: windows, entries: entries, router: router,
                everyone: routing.everyone, eventSinks: eventSinks, events: reporter, mappings: mappings)
            follow(settings: &shard)
            return work(&shard)
        }
        windows.limits.archiveBytes = min(windows.limits.archiveBytes, ShardWorker.recentBytes)
        var shard = StoredShard(
            number: number, rings: rings, types: set.types, settings: windows, entries: entries, router: router,
            everyone: routing.everyone, eventSinks: eventSinks, events: reporter, mappings: mappings,
            routings: routings, store: stage.store)
        follow(settings: &shard)
        stage.note(StoreReplay(stage.store, shard: number, of: settings.shards).run(into: &shard))
        shard.beginReceiving(now: clock.time(at: WallClock.now()))
        work(&shard)
    }

    /// Has the shard ask for the limits and rules in use: with newer mappings, the rules also now, and whenever it is
    /// told to.
    private func follow(settings shard: inout some WorkingShard & ~Copyable) {
        shard.follow(limits: { [newSettings] in newSettings.current.windows.limits })
        guard settings.rules != nil || settings.entryInterceptor != nil || settings.batchWatcher != nil else { return }
        shard.follow(set) { [newSettings] in newSettings.current.entryRules }
    }

    /// Looks at the clocks and at what is due by them; when that was, by the one that is never set.
    private func tick(_ shard: inout some WorkingShard & ~Copyable) -> Instant {
        let (now, steady) = clock.look()
        shard.tick(now: now, steady: steady, bundleAge: settings.bundleAge)
        if stage == nil { outputs.tick(steady) }
        reporter.keeps(shard.counters, shard.introductions, shard: number)
        return steady
    }

    private func work(_ shard: inout some WorkingShard & ~Copyable) {
        didStart()
        var ruleGeneration = -1
        // Silence is measured from the first look on, which so comes before the first reading.
        var lastTick = tick(&shard)
        var takenSinceRest = 0
        var warmUp = WarmUp()
        var flushed = 0
        let tickInterval = self.tickInterval
        while !control.isForced {
            pulse.beat()
            // Read before the rings: what a lane wrote before it ended is then surely seen by the step.
            let isLast = inputsEnded.isZero
            let (now, steady) = (clock.time(at: WallClock.now()), MonotonicClock.instant)
            if settings.ruleGeneration != ruleGeneration {
                ruleGeneration = settings.ruleGeneration
                shard.adoptRules()
            }
            let taken = shard.step(now: now, steady: steady)
            if sendsAtOnce, taken > 0 { send(&shard, steady: steady) }
            if steady.nanoseconds - lastTick.nanoseconds >= tickInterval { lastTick = tick(&shard) }
            shard.stepEnded(steady: steady, isQuiet: taken == 0)
            if flushes.generation != flushed { flushed = flush(&shard, after: flushed) }
            takenSinceRest += taken
            // Once is enough: what is given back is the whole process's.
            if number == 0, warmUp.ends(with: taken) { kymo_memory_forget_unused() }
            if taken > 0 { continue }
            if isLast { break }
            if rests(takenSinceRest) {
                kymo_rest(settings.longestRest)
            } else {
                waitForReadings(milliseconds: Int32(tickInterval / 1_000_000))
            }
            takenSinceRest = 0
        }
        if control.isForced { return }
        // What lanes needed, who have ended, makes room for what the end needs.
        if number == 0 { kymo_memory_forget_unused() }
        shard.drain(now: clock.time(at: WallClock.now()))
    }

    /// Closes the windows that somebody asks for, with all that the rings held then, for requests after `generation`;
    /// the generation of the last.
    @inline(never)
    private func flush(_ shard: inout some WorkingShard & ~Copyable, after generation: Int) -> Int {
        let requests = flushes.requests(after: generation)
        let (now, steady) = (clock.time(at: WallClock.now()), MonotonicClock.instant)
        // More than that came later.
        var left = rings.reduce(0) { $0 + $1.capacity }
        while left > 0, case let taken = shard.step(now: now, steady: steady), taken > 0 { left -= taken }
        let closed = requests.map { shard.close($0.selection, now: now) }
        if stage == nil { outputs.tick(steady) }
        reporter.keeps(shard.counters, shard.introductions, shard: number)
        for (request, closed) in zip(requests, closed) {
            flushes.note(closed, shard: number, for: request.generation)
        }
        return requests.last?.generation ?? generation
    }

    private func waitForReadings(milliseconds: Int32) {
        if settings.wait == .sleep {
            bell.sleep(milliseconds: milliseconds) { hasWork }
        } else {
            settings.wait.busily(milliseconds: milliseconds) { control.isForced || hasWork }
        }
    }

    private var hasWork: Bool { inputsEnded.isZero || rings.contains { !$0.isEmpty } }

    /// Whether to let readings gather in the rings, after `taken` since the last time: being woken for each batch of a
    /// lane costs as much as taking dozens. Not so many that the rings might become full.
    private func rests(_ taken: Int) -> Bool {
        settings.wait == .sleep && settings.longestRest > 0
            && (ShardWorker.leastForRest...settings.ringSlots / 4).contains(taken)
    }

    /// Sends what waits. The busier the shard, the more a step takes, and the more leaves together.
    private func send(_ shard: inout some WorkingShard & ~Copyable, steady: Instant) {
        if shard.sendWaiting(), stage == nil { outputs.tick(steady) }
    }
}

/// What a shard's thread needs of a shard, once per batch.
protocol WorkingShard: ~Copyable {
    mutating func step(now: Instant, steady: Instant?) -> Int
    /// Decides by the rules that `rules` gives what sinks get; `set` is that of the start.
    mutating func follow(_ set: MappingSet, rules: @escaping @Sendable () -> EntryRules)
    /// Asks `limits` with newer mappings for the present ones.
    mutating func follow(limits: @escaping @Sendable () -> WindowLimits)
    /// The rules may be others.
    mutating func adoptRules()
    mutating func tick(now: Instant, steady: Instant?, bundleAge: Int64)
    mutating func sendWaiting() -> Bool
    mutating func drain(now: Instant)
    /// Closes the windows that `selection` has, and hands them over; how many they were.
    mutating func close(_ selection: WindowSelection, now: Instant) -> Int
    /// A step has ended; `isQuiet` when there was nothing to take.
    mutating func stepEnded(steady: Instant, isQuiet: Bool)
    /// What its windows hold.
    var counters: WindowCounters { get }
    /// The devices and series that it has met, and those that it may meet.
    var introductions: Introductions { get }
}

extension InMemoryShard: WorkingShard {
    mutating func stepEnded(steady: Instant, isQuiet: Bool) {}
}

extension StoredShard: WorkingShard {
    mutating func stepEnded(steady: Instant, isQuiet: Bool) { handOver(steady: steady, isQuiet: isQuiet) }
}

/// Tells when a shard has taken so many readings that it has done everything once: windows have ended, bundles and
/// files have been begun. Most of the code that this needed is not needed again.
struct WarmUp {
    /// Readings until then.
    private var left = WarmUp.readings

    private static let readings = 1 << 18

    /// Whether it ends with `taken` readings more; true once.
    @inline(__always)
    mutating func ends(with taken: Int) -> Bool {
        guard left > 0 else { return false }
        left -= taken
        return left <= 0
    }
}
