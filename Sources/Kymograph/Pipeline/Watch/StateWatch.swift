import KymographCore
import Synchronization

/// Looks at sinks, outbox, sources and limits of a running pipeline, and tells the operator what has changed, once.
///
/// On a thread of its own: the outbox is asked by a query, and a disk that hangs must not keep signals waiting.
final class StateWatch: Sendable {
    /// Where it looks; each is called on its thread.
    struct Looks: Sendable {
        /// How delivery goes to each sink that takes entries by itself.
        var sinks: @Sendable () -> [(sink: String, summary: DeliverySummary)]
        /// The sources, in their order.
        var sources: @Sendable () -> [PipelineSummary.Source]
        /// Age of the oldest bundle of the outbox in seconds, 0 when none waits; nil when that is unknown.
        var outboxAge: @Sendable () -> Double?
        /// The file systems that are written to.
        var disks: @Sendable () -> [DiskFacts]
        /// What lanes and shards have met, and the limits in use.
        var introductions: @Sendable () -> (met: [Introductions], limits: WindowLimits)
    }

    private let looks: Looks
    /// The settings in use.
    private let settings: @Sendable () -> LogSettings
    private let notes: LogTaker
    private let bell: Doorbell
    private let isStopped = Atomic(false)
    private let running = RunningThreads(1)

    /// Milliseconds between two looks; looks between two at the outbox, and between two at file systems.
    private static let (interval, outboxInterval, diskInterval): (Int32, Int, Int) = (250, 8, 40)

    /// Nothing is looked at before ``start()``.
    init(
        _ looks: Looks, _ settings: @escaping @Sendable () -> LogSettings, notes: @escaping LogTaker
    ) throws(SystemError) {
        self.looks = looks
        self.settings = settings
        self.notes = notes
        bell = try Doorbell()
    }

    /// Begins.
    func start() {
        WorkerThread.start("kymo-watch") { [self] in
            run()
            running.leave()
        }
    }

    /// Ends, after a last look; waits for that up to a second.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        bell.ring()
        var left = 200
        while !running.isZero, left > 0 {
            Wait.milliseconds(5)
            left -= 1
        }
    }

    private func run() {
        var sinks: [IdentifierText: SinkWatch] = [:]
        var outbox = OutboxWatch(limit: settings().outboxAge)
        var (devices, series) = (LimitWatch(.devices), LimitWatch(.series))
        var sources: [SourceWatch] = []
        var disks: [IdentifierText: DiskWatch] = [:]
        var turn = 0
        var isLast = false
        while !isLast {
            bell.sleep(milliseconds: Self.interval) { isStopped.load(ordering: .relaxed) }
            isLast = isStopped.load(ordering: .relaxed)
            let present = looks.sinks()
            for (name, summary) in present {
                sinks[IdentifierText(name), default: SinkWatch(name)].entries(summary, at: .now).forEach(notes)
            }
            // One that comes back under the name of one that has gone recovers from nothing.
            let names = Set(present.map { IdentifierText($0.sink) })
            sinks = sinks.filter { names.contains($0.key) }
            let (met, most) = looks.introductions()
            devices.entries(met.map(\.devices), limit: most.maxDevices).forEach(notes)
            series.entries(met.map(\.series), limit: most.maxSeries).forEach(notes)
            if isLast { return }
            let limits = settings()
            outbox.follow(limit: limits.outboxAge)
            for (index, source) in looks.sources().enumerated() {
                if index == sources.count { sources.append(SourceWatch(source.name, silentAfter: 0)) }
                guard !source.isRemoved else { continue }
                sources[index].follow(silentAfter: limits.silentAfter)
                sources[index].entries(source, at: .now, time: WallClock.now()).forEach(notes)
            }
            if turn % Self.outboxInterval == 0, let age = looks.outboxAge() { outbox.entry(age: age).map(notes) }
            if turn % Self.diskInterval == 0 {
                for disk in looks.disks() {
                    disks[IdentifierText(disk.directory), default: DiskWatch(disk.directory)].entry(disk).map(notes)
                }
            }
            turn += 1
        }
    }
}
