import KymographCore
import KymographTemplates
import Synchronization

/// The lanes and shards of a pipeline, each on a thread of its own, and the rings between them.
final class PipelineWorkers: Sendable {
    private let configuration: PipelineConfiguration
    private let accounts: ReadingAccounts
    private let output: PipelineOutput
    private let control: PipelineControl
    private let pauses: PauseBook
    private let flushes: FlushControl
    let lanes: [Lane]
    /// `rings[lane][shard]`.
    let rings: [[Ring]]
    private let bells: [Doorbell]
    /// The clock of receive times.
    private let clock: ReceiveClock
    let threads: PipelineThreads
    /// Whether ``stop()`` was called.
    private let wasStopped = Atomic(false)

    /// Those that read `lanes`; `pauses` says what is paused, and `flushes` what is asked to close.
    init(
        _ configuration: PipelineConfiguration, _ accounts: ReadingAccounts, _ output: PipelineOutput,
        _ control: PipelineControl, _ pauses: PauseBook, _ flushes: FlushControl, _ lanes: [Lane]
    ) throws(PipelineError) {
        (self.configuration, self.accounts, self.output) = (configuration, accounts, output)
        (self.control, self.pauses, self.flushes, self.lanes) = (control, pauses, flushes, lanes)
        let settings = configuration.settings
        do throws(SystemError) { bells = try PipelineOpening.bells(settings.shards) } catch {
            throw PipelineError(error)
        }
        rings = lanes.map { _ in (0..<settings.shards).map { _ in Ring(capacity: settings.ringSlots) } }
        clock = output.store?.receiveClock ?? ReceiveClock()
        threads = PipelineThreads(lanes: lanes.count, shards: settings.shards)
    }

    /// Begins.
    func start() {
        startShards()
        startLanes()
    }

    /// Stops receiving.
    func stop() {
        wasStopped.store(true, ordering: .relaxed)
        for lane in lanes { lane.stop() }
    }

    /// Whether receiving was stopped.
    var areStopping: Bool { wasStopped.load(ordering: .relaxed) }

    /// The lane that reads source `number`, or the first of those that share it.
    func firstLane(of number: Int) -> Lane? { lanes.first { $0.numbers.contains(number) } }

    /// Whether the broker of source `number` has granted a session that keeps messages.
    func keepsMessages(source number: Int) -> Bool {
        lanes.contains { lane in
            lane.sources.indices.contains { place in
                lane.sources[place].configuration.number == number && !lane.sources[place].isGone
                    && lane.keepsMessages(place)
            }
        }
    }

    /// What the kernel has dropped, by socket.
    var droppedSockets: [KernelDropNotes.Socket] {
        // The sockets first: settings that are read later have all sources of them.
        let places = lanes.enumerated().flatMap { number, lane in
            lane.numbers.enumerated().map { place, source in
                (lane: number, place: place, source: source, total: Int(lane.counts(place).kernelDrops))
            }
        }
        let sources = configuration.present.sources
        return places.map {
            KernelDropNotes.Socket(
                lane: $0.lane, place: $0.place, number: sources[$0.source].ledgerNumber, total: $0.total)
        }
    }

    // MARK: Threads

    private func startLanes() {
        let settings = configuration.settings
        for index in lanes.indices {
            WorkerThread.start("kymo-lane-\(index)", on: settings.processor(at: index)) { [self] in
                runLane(index)
            }
        }
    }

    private func runLane(_ index: Int) {
        let pulse = threads.beginLane(index)
        let settings = configuration.settings
        let limits = settings.windows.limits
        let reporter = LaneReporter(
            number: index, set: configuration.set, sources: settings.sources, ledger: accounts.ledger,
            deadLetters: accounts.deadLetters,
            store: output.store,
            clock: clock, bells: bells, rings: rings[index], control: control,
            noticesMissingFrames: !settings.isReplay, wait: settings.wait,
            pulse: pulse,
            observer: accounts.observer, tap: LaneTap(configuration.set), counts: accounts.rules)
        let router = ReadingRouter(
            rings: rings[index], maxDevices: limits.maxDevices, maxSeries: limits.maxSeries)
        var consumer = LaneConsumer(
            settings, configuration.newSettings, first: configuration.set, configuration.mappings,
            router: router, reporter: reporter, number: index,
            store: output.store, taps: accounts.taps, pauses: pauses)
        threads.noteStarted()
        do throws(SourceError) {
            _ = try lanes[index].run(&consumer)
        } catch {
            control.fail(error.message, exitCode: ExitStatus.osError)
        }
        consumer.batchEnd()
        // It reads nothing more, whatever is paused.
        pauses.noteAdopted(.max, lane: index)
        threads.endLane(index)
        for bell in bells { bell.ring() }
        control.noteChange()
    }

    private func startShards() {
        let settings = configuration.settings
        for index in 0..<settings.shards {
            let worker = ShardWorker(
                number: index, stage: output.stage, rings: rings.map { $0[index] }, settings: settings,
                set: configuration.set,
                mappings: configuration.mappings, routings: configuration.routings,
                reporter: ShardReporter(
                    mappings: configuration.mappings, outputs: output.stages, ledger: accounts.ledger,
                    deadLetters: accounts.deadLetters,
                    observer: accounts.observer, taps: accounts.taps, ruleCounts: accounts.rules),
                newSettings: configuration.newSettings,
                outputs: output.stages, bell: bells[index], control: control, clock: clock,
                inputsEnded: threads.runningLanes,
                pulse: threads.pulse(ofShard: index), flushes: flushes.point,
                didStart: { [threads] in threads.noteStarted() })
            WorkerThread.start("kymo-shard-\(index)", on: settings.processor(at: lanes.count + index)) {
                [self] in
                threads.runShard(index, worker.run)
                control.noteChange()
            }
        }
    }
}
