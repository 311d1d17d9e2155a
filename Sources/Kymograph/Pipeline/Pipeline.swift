package import KymographCore
package import KymographTemplates
import Synchronization

/// Sources, lanes, rings, shards and a sink, wired together and run until they end or are told to.
///
/// Everything that can fail for a reason outside — addresses, files — is opened by
/// ``init(_:set:watch:notes:findings:)``, so that a pipeline that starts, runs.
package final class Pipeline: Sendable {
    /// How a run ended.
    package struct Outcome: Sendable {
        /// Exit code (``ExitStatus``).
        package var exitCode: Int32
        /// What to tell the operator, empty when there is no fault.
        package var message: String
        /// The final balance.
        package var summary: PipelineSummary
    }

    private let configuration: PipelineConfiguration
    private let auditing: PipelineAudit
    private let control: PipelineControl
    private let accounts: ReadingAccounts
    private let output: PipelineOutput
    private let workers: PipelineWorkers
    private let reloader: MappingReloader
    private let view: PipelineView
    private let admin: PipelineAdmin
    /// Answers commands. It listens before anyone is told that the pipeline does, so that nobody asks too early.
    private let commands: ControlServer?
    private let closing: PipelineClosing
    /// Whether ``end()`` was called, and nobody has looked.
    private let isAskedToEnd = Atomic(false)

    /// Opens everything. `notes` takes messages for the operator while the pipeline runs, and `findings` what is wrong
    /// with mappings that are loaded again; both from any thread. `watch` was made before `set` was loaded; without it,
    /// files are loaded again on SIGHUP only; `rereading` reads the settings then, which stay without it.
    /// `firstRejection` gets the first reading that is rejected; `logCounts` are those of the log that `notes` go to.
    ///
    /// - Throws: ``PipelineError`` when an address, a file or the store cannot be had.
    package convenience init(
        _ settings: PipelineSettings, set: MappingSet, watch: MappingWatch? = nil,
        rereading: ConfigurationRereading? = nil, firstRejection: FirstRejection? = nil, logCounts: LogCounts? = nil,
        notes: @escaping LogTaker, findings: (@Sendable ([Diagnostic]) -> Void)? = nil
    ) throws(PipelineError) {
        try self.init(
            settings, set: set, watch: watch, rereading: rereading, observer: firstRejection, logCounts: logCounts,
            notes: notes, findings: findings)
    }

    /// The same, for an `observer` of single readings.
    ///
    /// - Throws: ``PipelineError`` when an address, a file or the store cannot be had.
    init(
        _ settings: PipelineSettings, set: MappingSet, watch: MappingWatch?,
        rereading: ConfigurationRereading? = nil, observer: (any ReadingObserver)?, logCounts: LogCounts? = nil,
        notes: @escaping LogTaker, findings: (@Sendable ([Diagnostic]) -> Void)?
    ) throws(PipelineError) {
        let started = WallClock.now()
        let store = try PipelineOpening.store(settings, notes: notes)
        auditing = try PipelineAudit(settings, store, notes)
        let notes = auditing.notes
        if let store { try PipelineOpening.settleDeciders(settings, store, notes) }
        // A replay of letters, or of a file, says nothing of who reads topics.
        if !settings.readsOnlyWhatEnds { store?.positions.leave { settings.reads($0) } }
        let set = try PipelineOpening.continuing(store, settings, set, findings: findings)
        let stated = settings
        var settings = try PipelineOpening.numbered(settings, store)
        settings.rotation.seal = store?.seal
        settings.output = try PipelineOpening.output(settings, store, notes)
        try PipelineOpening.settleThreads(&settings)
        settings.windows.deviceGuard = settings.patients.book
        configuration = PipelineConfiguration(settings, set)
        for note in settings.strayPatterns(set) { notes(.warning(note)) }
        let pauses = PauseBook(store, settings, notes: notes)
        let flushes = FlushControl(shards: settings.shards)
        let ledger = PipelineLedger(sources: settings.sources.count)
        do throws(SystemError) { control = try PipelineControl(notes: notes) } catch { throw PipelineError(error) }
        let outputs = try OutputStages(settings, ledger: ledger, control: control)
        accounts = try ReadingAccounts(settings, ledger, observer)
        let live = LiveSources(mayGrow: rereading != nil)
        let lanes: [Lane]
        do throws(SourceError) { lanes = try PipelineOpening.lanes(settings, pauses.holds, live) } catch {
            throw PipelineError(error)
        }
        let adminListener = try PipelineOpening.adminListener(settings)
        let sessions = settings.console.isEnabled ? ConsoleSessions() : nil
        if store == nil {
            if sessions != nil { throw PipelineError.noStoreForConsole }
            if settings.search.peers != nil { throw PipelineError.noStoreForSearch }
        }
        let stage = try PipelineOpening.stage(store, outputs, configuration, control) { observer?.settled($0) }
        output = PipelineOutput(outputs, stage)
        workers = try PipelineWorkers(configuration, accounts, output, control, pauses, flushes, lanes)
        let sinks = SinkExchange(stage, outputs, flushes.point, control)
        do throws(SystemError) {
            reloader = try MappingReloader(
                stated, configuration.newSettings, SourceExchange(lanes, live, store, pauses, outputs),
                sinks, configuration.mappings, configuration.routings, watch: watch, rereading: rereading,
                ruleCounts: accounts.rules, notes: notes,
                findings: findings ?? { found in for diagnostic in found { notes(.warning(diagnostic.text)) } })
        } catch {
            throw PipelineError(error)
        }
        view = PipelineView(
            configuration, accounts, output, control, pauses, workers, reloader, auditing, logCounts,
            started: started)
        admin = PipelineAdmin(configuration, output, control, reloader, view, adminListener, sessions)
        closing = PipelineClosing(accounts, output, workers, control, auditing)
        let requests = PipelineRequests(
            configuration, accounts.taps, output, control, pauses, flushes, workers, reloader, view, admin)
        commands = requests.listen()
    }

    /// What is listened to, one line per source, with what the kernel granted.
    package var sourceDescriptions: [String] { view.sourceDescriptions }

    /// The addresses in use, by source.
    package var addresses: [any SourceAddress] { view.addresses }

    /// The balance at this moment.
    package var summary: PipelineSummary { view.summary }

    /// What of the log is to be written now.
    package var logLevel: LogLevel { configuration.present.log.level }

    /// Where metrics and health are served, such as `http://127.0.0.1:5790`, with the port that the kernel chose; nil
    /// for nowhere.
    package var adminURL: String? { admin.url }

    // MARK: Running

    /// Runs until all sources have ended, or a signal of `signals` asks to stop. `progress` is called about every
    /// second.
    ///
    /// The first SIGINT or SIGTERM stops receiving and delivers what is there, for at most
    /// ``PipelineSettings/drainLimit``; a second one ends at once. SIGHUP loads settings and mappings again. `service`
    /// tells a service manager of it, and `actions` are what the console can do.
    package func run(
        signals: SignalWatcher?, service: ServiceNotices? = nil, actions: ConsoleActions = ConsoleActions(),
        progress: ((PipelineSummary) -> Void)? = nil
    ) -> Outcome {
        let pages = admin.start(actions)
        defer { pages?.stop() }
        auditing.delivery?.start()
        auditing.log?.record(
            MappingDeeds.begin(configuration.mappings.current.files).map { AuditDeed(.mappingsBegin, $0) }
                + ListDeeds(configuration.settings).all.map { AuditDeed($0.kind, $0.text) })
        output.start()
        workers.start()
        WorkerThread.start("kymo-reload") { [reloader] in reloader.run() }
        defer { reloader.stop() }
        if let commands { WorkerThread.start("kymo-control") { commands.run() } }
        defer { commands?.stop() }
        let watch = view.startWatch()
        defer { watch?.stop() }
        var controller = RunController(drainLimit: configuration.settings.drainLimit)
        var service = service
        if let code = obey(
            signals, &controller, &service, progress, until: { [workers] in workers.threads.haveEnded })
        {
            return outcome(exitCode: code, "ended by a second signal")
        }
        // By force, lanes may still run.
        stop()
        service?.stopping()
        watch?.stop()
        // What it opens would not be closed, and what it ends is left to the next start.
        reloader.finish()
        closing.start { [pages, commands] in
            // Pages and commands are answered until everything else is closed. What they note waits to be written.
            pages?.stop()
            commands?.stop()
        }
        if let code = obey(signals, &controller, &service, progress, until: { [closing] in closing.isDone }) {
            return outcome(exitCode: code, "ended by a second signal")
        }
        let verdict = verdict
        if let delivery = auditing.delivery, !control.isForced {
            delivery.finish()
            _ = obey(signals, &controller, &service, nil, until: { delivery.isDone })
            delivery.close()
        }
        return verdict
    }

    /// Does what signals ask for until `isDone`; returns the exit code when a second one says to end at once.
    ///
    /// Once everything is to end by force it waits no longer than threads need to look up: one that the system holds,
    /// in a write that nobody reads, never will.
    private func obey(
        _ signals: SignalWatcher?, _ controller: inout RunController, _ service: inout ServiceNotices?,
        _ progress: ((PipelineSummary) -> Void)?, until isDone: () -> Bool
    ) -> Int32? {
        let clock = ContinuousClock()
        var forcedSince: ContinuousClock.Instant?
        while !isDone() {
            control.waitForChange(or: signals?.fileDescriptor ?? -1, milliseconds: control.isForced ? 10 : 200)
            controller.drainLimit = configuration.present.drainLimit
            while let signal = signals?.next() {
                switch controller.take(signal, now: MonotonicClock.instant) {
                case .nothing: break
                case .reload:
                    service?.reloading()
                    reloader.request()
                    output.stage?.forgetLookups()
                case .drain:
                    service?.stopping()
                    stop()
                case .endNow(let code): return code
                }
            }
            if isAskedToEnd.exchange(false, ordering: .relaxed),
                case .drain = controller.take(.terminate, now: MonotonicClock.instant)
            {
                service?.stopping()
                stop()
            }
            if controller.isOverdue(at: MonotonicClock.instant) { control.force() }
            output.noteKernelDrops(workers.droppedSockets)
            auditing.log?.settle()
            progress?(summary)
            if service != nil { service?.tell(view.look) }
            guard control.isForced else { continue }
            let since = forcedSince ?? clock.now
            forcedSince = since
            if since.duration(to: clock.now) > .milliseconds(500) { break }
        }
        return nil
    }

    /// Does what the first SIGTERM does: stops receiving, and delivers what is there for at most
    /// ``PipelineSettings/drainLimit``. Again it does nothing.
    func end() {
        isAskedToEnd.store(true, ordering: .relaxed)
        control.noteChange()
    }

    /// Stops receiving; ``run(signals:progress:)`` returns when everything is delivered.
    package func stop() { workers.stop() }

    // MARK: Ending

    /// How a run ended that no second signal cut.
    private var verdict: Outcome {
        if let failure = control.currentFailure { return outcome(exitCode: failure.exitCode, failure.message) }
        if control.isForced {
            let limit = DurationText.text(configuration.present.drainLimit)
            return outcome(
                exitCode: ExitStatus.drainCut, "draining took longer than its limit and was cut (drain: \(limit))")
        }
        if let message = closing.message { return outcome(exitCode: ExitStatus.ioError, message) }
        let inFlight = summary.inFlight
        guard inFlight == 0 else {
            let readings = CountText.of(inFlight, one: "reading is", many: "readings are")
            return outcome(exitCode: ExitStatus.software, "\(readings) unaccounted for: this is a bug")
        }
        return outcome(exitCode: ExitStatus.success, "")
    }

    /// How many letters the file of rejected readings has; 0 without one.
    package var rejectedInFile: UInt64 {
        configuration.settings.rejectedFile == nil ? 0 : accounts.deadLetters?.counts.taken ?? 0
    }

    private func outcome(exitCode: Int32, _ message: String) -> Outcome {
        let summary = summary
        guard exitCode != ExitStatus.success else { return Outcome(exitCode: exitCode, message: "", summary: summary) }
        let isKept = configuration.settings.store.keeping == .everything
        let loss = LossAtEnd(
            summary: summary, kept: isKept ? output.store?.keptInThisRun : nil,
            isDrained: control.currentFailure == nil && !control.isForced && closing.isDone
                && summary.inFlight == 0 && summary.undeliveredBundles == 0,
            directory: isKept ? configuration.settings.store.directory : nil)
        let texts = [message, loss.text].filter { !$0.isEmpty }
        return Outcome(exitCode: exitCode, message: texts.joined(separator: "; "), summary: summary)
    }
}
