import GRDB
import Glibc
import KymographCore
import Synchronization

/// What a running pipeline tells of itself.
final class PipelineView: Sendable {
    private let configuration: PipelineConfiguration
    private let accounts: ReadingAccounts
    private let output: PipelineOutput
    private let control: PipelineControl
    private let pauses: PauseBook
    private let workers: PipelineWorkers
    private let reloader: MappingReloader
    private let auditing: PipelineAudit
    /// What the log counts that notes go to; nil when that is not known.
    private let logCounts: LogCounts?
    /// When the pipeline was opened.
    let started: Instant

    /// What the given parts tell.
    init(
        _ configuration: PipelineConfiguration, _ accounts: ReadingAccounts, _ output: PipelineOutput,
        _ control: PipelineControl, _ pauses: PauseBook, _ workers: PipelineWorkers, _ reloader: MappingReloader,
        _ auditing: PipelineAudit, _ logCounts: LogCounts?, started: Instant
    ) {
        (self.configuration, self.accounts, self.output) = (configuration, accounts, output)
        (self.control, self.pauses, self.workers, self.reloader) = (control, pauses, workers, reloader)
        (self.auditing, self.logCounts, self.started) = (auditing, logCounts, started)
    }

    /// What is listened to, one line per source, with what the kernel granted.
    var sourceDescriptions: [String] {
        let sources = configuration.present.sources
        var lines: [String] = []
        for lane in workers.lanes {
            for (index, number) in lane.numbers.enumerated() where lane === workers.firstLane(of: number) {
                lines.append(describe(lane, index, sources[number]))
            }
        }
        return lines
    }

    private func describe(_ lane: Lane, _ index: Int, _ source: PipelineSettings.Source) -> String {
        let granted = lane.receiveBufferBytes(index)
        let mappings = configuration.settings.mappings(of: source).joined(separator: ", ")
        let text = "\(lane.address(index).name), mapping \(mappings)"
        guard granted > 0 else { return text }
        let asked = source.configuration.receiveBufferBytes
        let note = granted < asked ? " (asked for \(asked); raise net.core.rmem_max to get it)" : ""
        return text + ", receive buffer \(granted) bytes" + note
    }

    /// The addresses in use, by source.
    var addresses: [any SourceAddress] {
        configuration.settings.sources.indices.compactMap { number in
            guard let lane = workers.firstLane(of: number), let index = lane.numbers.firstIndex(of: number) else {
                return nil
            }
            return lane.address(index)
        }
    }

    // MARK: Numbers

    /// The balance at this moment.
    var summary: PipelineSummary {
        var sockets: [ReceivedSocket] = []
        for lane in workers.lanes {
            for (index, number) in lane.numbers.enumerated() {
                sockets.append(
                    ReceivedSocket(
                        source: number, name: lane.address(index).name, counts: lane.counts(index),
                        receiveBufferBytes: lane.receiveBufferBytes(index),
                        certificateExpiry: lane.certificateExpiry(index)))
            }
        }
        let present = configuration.present
        let sources = present.sources
        var summary = accounts.ledger.summary(sources.map(\.name), sockets)
        for (number, source) in sources.enumerated() { summary.sources[number].removedAt = source.removedAt }
        (summary.reloads, summary.refusedReload) = (reloader.counts, reloader.refusal)
        summary.rules = accounts.rules.facts
        summary.paused = pauses.current.count
        summary.patients = configuration.settings.patients.book?.facts
        summary.refusedLists = present.refusedLists
        summary.engine = accounts.ledger.engine(workers.rings)
        (summary.engine.mostDevices, summary.engine.mostSeries) =
            (present.windows.limits.maxDevices, present.windows.limits.maxSeries)
        summary.engine.laneSeconds = workers.threads.laneSeconds
        summary.engine.shardSeconds = workers.threads.shardSeconds
        summary.deliveries = output.deliverySummaries
        summary.engine.commits = output.store?.totals.commitTimes.withLock { $0 }
        summary.engine.durable = output.store?.totals.durableTimes.withLock { $0 }
        summary.outputs = output.stages.summaries
        summary.suppressedLogEntries = logCounts?.suppressed
        return summary
    }

    /// What is seen without looking at the disk.
    var facts: InstanceFacts {
        InstanceFacts(
            run: summary, deliveries: output.deliverySummaries,
            isStarting: workers.threads.areStarting, isStopping: workers.areStopping,
            isStoreFull: output.store?.isFull ?? false,
            audit: auditing.delivery?.facts, failure: control.currentFailure?.message)
    }

    /// What a service manager should know.
    var look: ServiceNotices.Look {
        ServiceNotices.Look(
            summary: summary, isReady: !workers.threads.areStarting, isReloaded: reloader.isSettled,
            threads: threadProgress)
    }

    /// What lanes, shards and the store's thread have done up to now.
    private var threadProgress: [ThreadProgress] {
        workers.threads.progress { output.isWaitedFor(by: $0) } + (output.stage.map { [$0.progress] } ?? [])
    }

    /// Begins to look for changes; without the event that this needs, the pipeline works all the same.
    func startWatch() -> StateWatch? {
        let looks = StateWatch.Looks(
            sinks: { [self] in output.deliverySummaries }, sources: { [self] in summary.sources },
            outboxAge: { [self] in output.store?.outboxAge(now: WallClock.now()) },
            disks: { [configuration] in DiskFacts.look(configuration.present.writtenDirectories) },
            introductions: { [self] in (accounts.ledger.introductions, configuration.present.windows.limits) })
        do throws(SystemError) {
            let watch = try StateWatch(looks, { [configuration] in configuration.present.log }, notes: auditing.notes)
            watch.start()
            return watch
        } catch {
            control.note(.error("\(error.message); changes of sinks, sources and the outbox are not written here"))
            return nil
        }
    }

    // MARK: Status

    /// What the database holds; nil without one, or when it cannot be read.
    var storedStatus: InstanceStatus? {
        guard let store = output.store else { return nil }
        // Without `Store.read`: whoever looks on must not end the process.
        return try? store.pool.read { try read(store, into: InstanceStatus(directory: store.directory.path), $0) }
    }

    private func read(_ store: Store, into status: InstanceStatus, _ db: Database) throws -> InstanceStatus {
        var status = status
        try status.read(db, nil, limitBytes: store.settings.maxBytes, now: WallClock.now())
        return status
    }

    /// The same with what has not come to `store` yet.
    func status(_ store: Store) -> InstanceStatus {
        var status = InstanceStatus(directory: store.directory.path)
        status.process = getpid()
        let summary = summary
        status.sources = zip(summary.sources, configuration.present.sources).filter { !$0.0.isRemoved }.map {
            counted, source in
            InstanceStatus.Source(
                counted, framing: configuration.settings.framingText(of: source),
                address: source.configuration.address.name)
        }
        status.started = started.text
        status.outputs = configuration.present.outgoingSinks.map(\.name)
        status.balance = summary.balance
        status.refusedReload = summary.refusedReload
        var answer = store.read { try read(store, into: status, $0) } ?? status
        for (sink, delivery) in output.deliverySummaries { answer.note(delivery, of: sink) }
        answer.count(summary, at: WallClock.now())
        return answer
    }
}
