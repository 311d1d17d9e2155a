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

    let settings: PipelineSettings
    /// What lanes and shards begin with.
    private let set: MappingSet
    let mappings: MappingExchange
    let newSettings: SettingsExchange
    private let routings = RoutingExchange()
    /// Where `kymo tap` looks in.
    let taps: TapPoint
    /// What is paused.
    let pauses: PauseBook
    /// Where `kymo flush` asks.
    let flushes: FlushControl
    let reloader: MappingReloader
    private let lanes: [Lane]
    /// `rings[lane][shard]`.
    private let rings: [[Ring]]
    private let bells: [Doorbell]
    private let ledger: PipelineLedger
    private let deadLetters: DeadLetterWriter?
    private let outputs: OutputStages
    /// What makes readings durable; nil when nothing is.
    let stage: StoreStage?
    private let dropNotes: KernelDropNotes?
    private let notes: LogTaker
    /// Where `notes` write what is for the audit; nil without a store.
    private let audit: AuditedLog?
    /// What brings the audit trail to a server; nil without one.
    private let auditDelivery: AuditDelivery?
    /// What metrics and health are asked from; nil when that is nothing.
    private let adminListener: HTTPServer?
    /// Who uses the console; nil when it is not served.
    let consoleSessions: ConsoleSessions?
    /// Whether ``stop()`` was called.
    private let isStopping = Atomic(false)
    /// When the pipeline was opened.
    let started = WallClock.now()
    let control: PipelineControl
    /// What rules have decided.
    private let ruleCounts = RuleCounts()
    private let observer: (any ReadingObserver)?
    /// What the log counts that `notes` go to; nil when that is not known.
    private let logCounts: LogCounts?
    /// Whether ``end()`` was called, and nobody has looked.
    private let isAskedToEnd = Atomic(false)
    /// The clock of receive times.
    private let clock: ReceiveClock
    private let threads: PipelineThreads
    private let runningClosing = RunningThreads(1)
    /// Why the dead letters are not complete, if so.
    private let closingMessage = Mutex<String?>(nil)

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
        self.observer = observer
        self.logCounts = logCounts
        let store = try Pipeline.openStore(settings, notes: notes)
        let audit = store.map { AuditedLog(AuditTrail(dataDirectory: $0.directory.path), notes: notes) }
        let notes = audit.map { $0.take } ?? notes
        (self.audit, self.notes) = (audit, notes)
        auditDelivery = try Pipeline.openAuditDelivery(settings, store, notes)
        if let store { try Pipeline.settleDeciders(settings, store, notes) }
        // A replay of letters, or of a file, says nothing of who reads topics.
        if !settings.readsOnlyWhatEnds { store?.positions.leave { settings.reads($0) } }
        let set = try Pipeline.continuing(store, settings, set, findings: findings)
        let stated = settings
        var settings = try Pipeline.numbered(settings, store)
        settings.rotation.seal = store?.seal
        try Pipeline.settleThreads(&settings)
        settings.windows.deviceGuard = settings.patients.book
        self.settings = settings
        self.set = set
        for note in settings.strayPatterns(set) { notes(.warning(note)) }
        mappings = MappingExchange(set)
        newSettings = SettingsExchange(settings)
        taps = TapPoint(settings.returning.attention)
        pauses = PauseBook(store, settings, notes: notes)
        flushes = FlushControl(shards: settings.shards)
        ledger = PipelineLedger(sources: settings.sources.count)
        do throws(SystemError) { control = try PipelineControl(notes: notes) } catch { throw PipelineError(error) }
        outputs = try OutputStages(settings, ledger: ledger, control: control)
        do throws(SinkError) { deadLetters = try DeadLetterWriter.writer(settings) } catch {
            throw PipelineError(error)
        }
        let assignment = Pipeline.assignment(settings)
        let live = LiveSources(mayGrow: rereading != nil)
        do throws(SourceError) { lanes = try Pipeline.openLanes(settings, assignment, pauses.holds, live) } catch {
            throw PipelineError(error)
        }
        do throws(SystemError) { bells = try Pipeline.bells(settings.shards) } catch { throw PipelineError(error) }
        adminListener = try Pipeline.openAdmin(settings)
        consoleSessions = settings.console.isEnabled ? ConsoleSessions() : nil
        if store == nil {
            if consoleSessions != nil { throw PipelineError.noStoreForConsole }
            if settings.search.peers != nil { throw PipelineError.noStoreForSearch }
        }
        rings = lanes.map { _ in (0..<settings.shards).map { _ in Ring(capacity: settings.ringSlots) } }
        stage = try Pipeline.openStage(store, settings, newSettings, outputs, mappings, control) {
            observer?.settled($0)
        }
        let sinks = SinkExchange(stage, outputs, flushes.point, control)
        do throws(SystemError) {
            reloader = try MappingReloader(
                stated, newSettings, SourceExchange(lanes, live, store, pauses, outputs),
                sinks, mappings, routings, watch: watch, rereading: rereading, notes: notes,
                findings: findings ?? { found in for diagnostic in found { notes(.warning(diagnostic.text)) } })
        } catch {
            throw PipelineError(error)
        }
        clock = store?.receiveClock ?? ReceiveClock()
        dropNotes = stage.map { KernelDropNotes($0.store) }
        threads = PipelineThreads(lanes: lanes.count, shards: settings.shards)
    }

    /// What is listened to, one line per source, with what the kernel granted.
    package var sourceDescriptions: [String] {
        let sources = newSettings.current.sources
        var lines: [String] = []
        for lane in lanes {
            for (index, number) in lane.numbers.enumerated() where lane === firstLane(of: number) {
                lines.append(describe(lane, index, sources[number]))
            }
        }
        return lines
    }

    private func firstLane(of number: Int) -> Lane? { lanes.first { $0.numbers.contains(number) } }

    private func describe(_ lane: Lane, _ index: Int, _ source: PipelineSettings.Source) -> String {
        let granted = lane.receiveBufferBytes(index)
        let mappings = settings.mappings(of: source).joined(separator: ", ")
        let text = "\(lane.address(index).name), mapping \(mappings)"
        guard granted > 0 else { return text }
        let asked = source.configuration.receiveBufferBytes
        let note = granted < asked ? " (asked for \(asked); raise net.core.rmem_max to get it)" : ""
        return text + ", receive buffer \(granted) bytes" + note
    }

    /// What of the log is to be written now.
    package var logLevel: LogLevel { newSettings.current.log.level }

    /// Where metrics and health are served, such as `http://127.0.0.1:5790`, with the port that the kernel chose; nil
    /// for nowhere.
    package var adminURL: String? { adminListener?.url }

    /// Serves metrics and health, if it is to. Without events of the system it does not: readings go first.
    private func startAdmin(_ actions: ConsoleActions) -> AdminServer? {
        guard let adminListener else { return nil }
        do throws(SystemError) {
            let view = InstanceView(
                facts: { [self] in facts }, stored: { [self] in storedStatus },
                disks: { [newSettings] in DiskFacts.look(newSettings.current.writtenDirectories) })
            let watch = try InstanceWatch(view)
            let admin = AdminServer(
                adminListener, view, watch, pages: try pages(adminListener, view, watch, actions)
            ) { [control] text in
                // Whoever cannot come by TLS tries again and again.
                var entry = LogEntry.warning("http.admin: \(text)")
                entry.isFolded = true
                control.note(entry)
            }
            admin.start()
            return admin
        } catch {
            control.note(.error("\(error.message); metrics and health are not served"))
            return nil
        }
    }

    private func pages(
        _ listener: HTTPServer, _ view: InstanceView, _ watch: InstanceWatch, _ actions: ConsoleActions
    ) throws(SystemError) -> [any AdminPages] {
        var pages: [any AdminPages] = []
        if let console = try console(listener, view, watch, actions) { pages.append(console) }
        if let peers = settings.search.peers, let store = stage?.store {
            pages.append(
                SearchDoor(
                    SearchSubject(
                        directory: store.directory.path, present: { [newSettings] in newSettings.current },
                        mappings: mappings, peers: peers, scheme: listener.scheme, started: started,
                        notes: { [control] in control.note($0) })))
        }
        return pages
    }

    private func console(
        _ listener: HTTPServer, _ view: InstanceView, _ watch: InstanceWatch, _ actions: ConsoleActions
    ) throws(SystemError) -> Console? {
        guard let consoleSessions, let store = stage?.store else { return nil }
        let subject = ConsoleSubject(
            directory: store.directory.path, present: { [newSettings] in newSettings.current }, started: started,
            view: view, seen: { watch.latest }, actions: actions,
            mappingChanges: MappingChanges(
                check: { [reloader] in reloader.check($0) }, reload: { [reloader] in reloader.reloadMappings($0) }),
            notes: { [control] in control.note($0) })
        return try Console(subject, consoleSessions, on: listener)
    }

    /// Number of lanes.
    var laneCount: Int { lanes.count }

    /// What is seen without looking at the disk.
    private var facts: InstanceFacts {
        InstanceFacts(
            run: summary, deliveries: stage?.deliverySummaries ?? [],
            isStarting: threads.areStarting, isStopping: isStopping.load(ordering: .relaxed),
            isStoreFull: stage?.store.isFull.load(ordering: .relaxed) ?? false,
            audit: auditDelivery?.facts, failure: control.currentFailure?.message)
    }

    /// Whether the broker of source `number` has granted a session that keeps messages.
    func keepsMessages(source number: Int) -> Bool {
        lanes.contains { lane in
            lane.sources.indices.contains { place in
                lane.sources[place].configuration.number == number && !lane.sources[place].isGone
                    && lane.keepsMessages(place)
            }
        }
    }

    /// The addresses in use, by source.
    package var addresses: [any SourceAddress] {
        settings.sources.indices.compactMap { number in
            guard let lane = firstLane(of: number), let index = lane.numbers.firstIndex(of: number) else { return nil }
            return lane.address(index)
        }
    }

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
        let admin = startAdmin(actions)
        defer { admin?.stop() }
        auditDelivery?.start()
        audit?.record(
            MappingDeeds.begin(mappings.current.files).map { AuditDeed(.mappingsBegin, $0) }
                + ListDeeds(settings).all.map { AuditDeed($0.kind, $0.text) })
        stage?.start()
        outputs.start()
        startShards()
        startLanes()
        WorkerThread.start("kymo-reload") { [reloader] in reloader.run() }
        defer { reloader.stop() }
        let commands = openControl()
        defer { commands?.stop() }
        let watch = startWatch()
        defer { watch?.stop() }
        var controller = RunController(drainLimit: settings.drainLimit)
        var service = service
        if let code = obey(
            signals, &controller, &service, progress, until: { [threads] in threads.haveEnded })
        {
            return outcome(exitCode: code, "ended by a second signal")
        }
        // By force, lanes may still run.
        stop()
        service?.stopping()
        watch?.stop()
        // What it opens would not be closed, and what it ends is left to the next start.
        reloader.finish()
        startClosing { [admin, commands] in
            // Pages and commands are answered until everything else is closed. What they note waits to be written.
            admin?.stop()
            commands?.stop()
        }
        if let code = obey(signals, &controller, &service, progress, until: { [self] in runningClosing.isZero }) {
            return outcome(exitCode: code, "ended by a second signal")
        }
        let verdict = verdict
        if let auditDelivery, !control.isForced {
            auditDelivery.finish()
            _ = obey(signals, &controller, &service, nil, until: { auditDelivery.isDone })
            auditDelivery.close()
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
            controller.drainLimit = newSettings.current.drainLimit
            while let signal = signals?.next() {
                switch controller.take(signal, now: WallClock.now()) {
                case .nothing: break
                case .reload:
                    service?.reloading()
                    reloader.request()
                    stage?.forgetLookups()
                case .drain:
                    service?.stopping()
                    stop()
                case .endNow(let code): return code
                }
            }
            if isAskedToEnd.exchange(false, ordering: .relaxed),
                case .drain = controller.take(.terminate, now: WallClock.now())
            {
                service?.stopping()
                stop()
            }
            if controller.isOverdue(at: WallClock.now()) { control.force() }
            noteKernelDrops()
            audit?.settle()
            progress?(summary)
            if service != nil { service?.tell(look) }
            guard control.isForced else { continue }
            let since = forcedSince ?? clock.now
            forcedSince = since
            if since.duration(to: clock.now) > .milliseconds(500) { break }
        }
        return nil
    }

    /// What a service manager should know.
    private var look: ServiceNotices.Look {
        ServiceNotices.Look(
            summary: summary, isReady: !threads.areStarting, isReloaded: reloader.isSettled, threads: threadProgress)
    }

    /// What lanes, shards and the store's thread have done up to now.
    private var threadProgress: [ThreadProgress] {
        let isOutputWaiting = stage == nil && outputs.isWaiting
        let ofPipeline = threads.progress { stage?.store.isWaitedFor(by: $0) ?? isOutputWaiting }
        return ofPipeline + (stage.map { [$0.progress] } ?? [])
    }

    /// Does what the first SIGTERM does: stops receiving, and delivers what is there for at most
    /// ``PipelineSettings/drainLimit``. Again it does nothing.
    func end() {
        isAskedToEnd.store(true, ordering: .relaxed)
        control.noteChange()
    }

    /// Stops receiving; ``run(signals:progress:)`` returns when everything is delivered.
    package func stop() {
        isStopping.store(true, ordering: .relaxed)
        for lane in lanes { lane.stop() }
    }

    /// The balance at this moment.
    package var summary: PipelineSummary {
        var sockets: [ReceivedSocket] = []
        for lane in lanes {
            for (index, number) in lane.numbers.enumerated() {
                sockets.append(
                    ReceivedSocket(
                        source: number, name: lane.address(index).name, counts: lane.counts(index),
                        receiveBufferBytes: lane.receiveBufferBytes(index),
                        certificateExpiry: lane.certificateExpiry(index)))
            }
        }
        let present = newSettings.current
        let sources = present.sources
        var summary = ledger.summary(sources.map(\.name), sockets)
        for (number, source) in sources.enumerated() { summary.sources[number].removedAt = source.removedAt }
        summary.reloads = reloader.counts
        summary.rules = ruleCounts.facts
        summary.paused = pauses.current.count
        summary.patients = settings.patients.book?.facts
        summary.refusedLists = present.refusedLists
        summary.engine = ledger.engine(rings)
        (summary.engine.mostDevices, summary.engine.mostSeries) =
            (present.windows.limits.maxDevices, present.windows.limits.maxSeries)
        summary.engine.laneSeconds = threads.laneSeconds
        summary.engine.shardSeconds = threads.shardSeconds
        summary.deliveries = stage?.deliverySummaries ?? []
        summary.engine.commits = stage?.store.commitTimes.withLock { $0 }
        summary.engine.durable = stage?.store.durableTimes.withLock { $0 }
        summary.outputs = outputs.summaries
        summary.suppressedLogEntries = logCounts?.suppressed
        return summary
    }

    /// Tells the ledger what the kernel has dropped.
    private func noteKernelDrops() {
        guard let dropNotes else { return }
        // The sockets first: settings that are read later have all sources of them.
        let places = lanes.enumerated().flatMap { number, lane in
            lane.numbers.enumerated().map { place, source in
                (lane: number, place: place, source: source, total: Int(lane.counts(place).kernelDrops))
            }
        }
        let sources = newSettings.current.sources
        let sockets = places.map {
            KernelDropNotes.Socket(
                lane: $0.lane, place: $0.place, number: sources[$0.source].ledgerNumber, total: $0.total)
        }
        dropNotes.note(sockets, at: WallClock.now())
    }

    /// Begins to look for changes; without the event that this needs, the pipeline works all the same.
    private func startWatch() -> StateWatch? {
        let looks = StateWatch.Looks(
            sinks: { [self] in stage?.deliverySummaries ?? [] }, sources: { [self] in summary.sources },
            outboxAge: { [self] in stage?.store.outboxAge(now: WallClock.now()) },
            disks: { [newSettings] in DiskFacts.look(newSettings.current.writtenDirectories) },
            introductions: { [self] in (ledger.introductions, newSettings.current.windows.limits) })
        do throws(SystemError) {
            let watch = try StateWatch(looks, { [newSettings] in newSettings.current.log }, notes: notes)
            watch.start()
            return watch
        } catch {
            control.note(.error("\(error.message); changes of sinks, sources and the outbox are not written here"))
            return nil
        }
    }

    private func startLanes() {
        for index in lanes.indices {
            WorkerThread.start("kymo-lane-\(index)", on: settings.processor(at: index)) { [self] in runLane(index) }
        }
    }

    private func runLane(_ index: Int) {
        let pulse = threads.beginLane(index)
        let limits = settings.windows.limits
        let reporter = LaneReporter(
            number: index, set: set, sources: settings.sources, ledger: ledger, deadLetters: deadLetters,
            store: stage?.store,
            clock: clock, bells: bells, rings: rings[index], control: control,
            noticesMissingFrames: settings.noticesMissingFrames, wait: settings.wait, pulse: pulse,
            observer: observer, tap: LaneTap(set), counts: ruleCounts)
        let router = ReadingRouter(
            rings: rings[index], maxDevices: limits.maxDevices, maxSeries: limits.maxSeries)
        var consumer = LaneConsumer(
            settings, newSettings, first: set, mappings, router: router, reporter: reporter, number: index,
            store: stage?.store, taps: taps, pauses: pauses)
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
        for index in 0..<settings.shards {
            let worker = ShardWorker(
                number: index, stage: stage, rings: rings.map { $0[index] }, settings: settings, set: set,
                mappings: mappings, routings: routings,
                reporter: ShardReporter(
                    mappings: mappings, outputs: outputs, ledger: ledger, deadLetters: deadLetters,
                    observer: observer, taps: taps, ruleCounts: ruleCounts),
                newSettings: newSettings,
                outputs: outputs, bell: bells[index], control: control, clock: clock, inputsEnded: threads.runningLanes,
                pulse: threads.pulse(ofShard: index), flushes: flushes.point,
                didStart: { [threads] in threads.noteStarted() })
            WorkerThread.start("kymo-shard-\(index)", on: settings.processor(at: lanes.count + index)) { [self] in
                threads.runShard(index, worker.run)
                control.noteChange()
            }
        }
    }

    // MARK: Ending

    /// Completes the files on a thread of its own: a full disk or a reader that does not read would keep this one from
    /// its signals. `endAnswers` ends those who answer others; the audit trail is complete only behind them.
    private func startClosing(_ endAnswers: @escaping @Sendable () -> Void) {
        WorkerThread.start("kymo-close") { [self] in
            noteKernelDrops()
            stage?.finish()
            let message = closeDeadLetters()
            closingMessage.withLock { $0 = message }
            outputs.close()
            stage?.close()
            endAnswers()
            audit?.finish()
            runningClosing.leave()
            control.noteChange()
        }
    }

    /// How a run ended that no second signal cut.
    private var verdict: Outcome {
        if let failure = control.currentFailure { return outcome(exitCode: failure.exitCode, failure.message) }
        if control.isForced {
            return outcome(exitCode: ExitStatus.drainCut, "draining took longer than its limit and was cut")
        }
        if let message = closingMessage.withLock({ $0 }) { return outcome(exitCode: ExitStatus.ioError, message) }
        let inFlight = summary.inFlight
        guard inFlight == 0 else {
            return outcome(exitCode: ExitStatus.software, "\(inFlight) readings are unaccounted for: this is a bug")
        }
        return outcome(exitCode: ExitStatus.success, "")
    }

    /// How many letters the file of rejected readings has; 0 without one.
    package var rejectedInFile: UInt64 { settings.rejectedFile == nil ? 0 : deadLetters?.counts.taken ?? 0 }

    private func closeDeadLetters() -> String? {
        guard let deadLetters else { return nil }
        do throws(SinkError) {
            try deadLetters.close()
        } catch {
            return error.message
        }
        let lost = deadLetters.counts.lost
        return lost == 0 ? nil : "\(lost) dead letters could not be written"
    }

    private func outcome(exitCode: Int32, _ message: String) -> Outcome {
        let summary = summary
        guard exitCode != ExitStatus.success else { return Outcome(exitCode: exitCode, message: "", summary: summary) }
        let isKept = settings.store.keeping == .everything
        let loss = LossAtEnd(
            summary: summary, kept: isKept ? stage?.store.keptInThisRun : nil,
            isDrained: control.currentFailure == nil && !control.isForced && runningClosing.isZero
                && summary.inFlight == 0 && summary.undeliveredBundles == 0,
            directory: isKept ? settings.store.directory : nil)
        let texts = [message, loss.text].filter { !$0.isEmpty }
        return Outcome(exitCode: exitCode, message: texts.joined(separator: "; "), summary: summary)
    }
}

extension DeadLetterWriter {
    /// The one that `settings` want.
    fileprivate static func writer(_ settings: PipelineSettings) throws(SinkError) -> DeadLetterWriter? {
        if let path = settings.deadLetter { return try DeadLetterWriter(path: path, seal: settings.rotation.seal) }
        return settings.rejectedFile.map { DeadLetterWriter(making: $0) }
    }
}
