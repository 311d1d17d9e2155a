import KymographCore
import KymographTemplates
import Synchronization

/// Loads the mappings again when a signal asks for it or a file changes, and puts them into use when they are good. On
/// a signal, and when the configuration is watched and changes, also the settings, of which some are taken over,
/// sources and sinks among them: with a change that needs a restart, or an address that cannot be opened, nothing is
/// changed. Likewise the patient map and the rules.
///
/// On a thread of its own: a file system that hangs must keep neither readings nor signals waiting.
final class MappingReloader: Sendable {
    private struct Tally {
        var counts = ReloadCounts()
        var refusal: RefusedReload?
        /// Whether it was for the mappings, and not for the settings.
        var refusesMappings = false
    }

    private enum Order: Equatable {
        case none
        /// Settings and mappings.
        case reload
        /// Mappings alone, for a cause.
        case mappings(String)
        case stop
    }

    /// The settings as a start would have them, for the comparison with what is read.
    private let stated: Mutex<PipelineSettings>
    private let settings: SettingsExchange
    private let sources: SourceExchange
    /// Nil where sinks stay as they are.
    private let sinks: SinkExchange?
    private let rereading: ConfigurationRereading?
    private let mappings: MappingExchange
    private let routings: RoutingExchange
    private let watch: MappingWatch?
    private let ruleCounts: RuleCounts
    private let notes: LogTaker
    private let findings: @Sendable ([Diagnostic]) -> Void
    private let bell: Doorbell
    private let order = Mutex(Order.none)
    /// Those who wait for what comes of an order.
    private let waiting = Mutex<[ReloadTicket]>([])
    /// Whether an order is being carried out.
    private let isWorking = Atomic(false)
    private let tally = Mutex(Tally())
    /// Whether ``run()`` has returned.
    private let hasEnded = Atomic(false)

    /// Milliseconds between two looks at the files; a change is loaded when two looks in a row see the same.
    private static let interval: Int32 = 500

    init(
        _ stated: PipelineSettings, _ settings: SettingsExchange, _ sources: SourceExchange,
        _ sinks: SinkExchange?, _ mappings: MappingExchange,
        _ routings: RoutingExchange, watch: MappingWatch?, rereading: ConfigurationRereading?,
        ruleCounts: RuleCounts, notes: @escaping LogTaker,
        findings: @escaping @Sendable ([Diagnostic]) -> Void
    ) throws(SystemError) {
        self.stated = Mutex(stated)
        self.settings = settings
        self.sources = sources
        self.sinks = sinks
        self.rereading = rereading
        (self.mappings, self.routings) = (mappings, routings)
        self.watch = watch
        (self.ruleCounts, self.notes) = (ruleCounts, notes)
        self.findings = findings
        bell = try Doorbell()
    }

    /// Asks to load the mappings, changed or not.
    func request() { give(.reload) }

    /// Loads the mappings for `cause`, and waits up to ten seconds: whether they are in use then; nil when that is
    /// not known yet.
    func reloadMappings(_ cause: String) -> Bool? {
        let ticket = ReloadTicket()
        waiting.withLock { $0.append(ticket) }
        give(.mappings(cause))
        guard !hasEnded.load(ordering: .acquiring) else { return nil }
        return ticket.wait(milliseconds: 10 * MappingReloader.patience)
    }

    /// What a reload would find if one mapping in use had these `files`. Changes nothing.
    func check(_ files: MappingFiles) -> (isTaken: Bool, findings: [Diagnostic]) {
        let (set, findings) = ConfigurationLoader.checkMappings(
            settings.current, continuing: mappings.current, replacing: files)
        return (set != nil, findings)
    }

    /// Ends ``run()``.
    func stop() {
        sources.stop()
        give(.stop)
    }

    /// The cause of a reload that is no change of a file.
    private static let signal = "SIGHUP"

    /// Milliseconds that an end waits for a reload: a file system may hang.
    private static let patience = 1_000

    /// Ends ``run()``, and waits a moment for its end.
    func finish() {
        stop()
        var left = MappingReloader.patience
        while left > 0, !hasEnded.load(ordering: .acquiring) {
            Wait.milliseconds(1)
            left -= 1
        }
    }

    /// Whether nothing is asked for or under way.
    var isSettled: Bool { order.withLock { $0 == .none && !isWorking.load(ordering: .relaxed) } }

    /// What came of it up to now.
    var counts: ReloadCounts { tally.withLock { $0.counts } }

    /// What became of the last order, where it was refused.
    var refusal: RefusedReload? { tally.withLock { $0.refusal } }

    private func give(_ new: Order) {
        order.withLock { order in
            switch (order, new) {
            case (.stop, _): break
            // It loads the mappings, too.
            case (.reload, .mappings): break
            case (.none, _), (.mappings, _), (.reload, .none), (.reload, .reload), (.reload, .stop): order = new
            }
        }
        bell.ring()
    }

    /// Works until it is stopped.
    func run() {
        defer { hasEnded.store(true, ordering: .releasing) }
        var watch = watch
        var configuration = rereading.map { ConfigurationWatch($0.path, stated.withLock { $0 }) }
        while true {
            let watchesConfiguration = configuration != nil && settings.current.watchesConfiguration
            let watchesMappings = !(watch?.isEmpty ?? true) && settings.current.watchesMappings
            let isIdle =
                !watchesMappings && !watchesConfiguration && settings.current.patients.book == nil
                && settings.current.rules == nil
            bell.sleep(milliseconds: isIdle ? -1 : Self.interval) { order.withLock { $0 != .none } }
            defer { isWorking.store(false, ordering: .relaxed) }
            switch takeOrder() {
            case .stop: return
            case .reload:
                let tickets = takeTickets()
                watch?.noteReading()
                var isTaken = reloadSettings(MappingReloader.signal, &watch, &configuration)
                // Settings that are refused keep no mapping waiting that somebody has saved.
                if !isTaken, !tickets.isEmpty { isTaken = reload("console", settings.current) }
                rereadLists()
                tellStrayPatterns()
                for ticket in tickets { ticket.settle(isTaken: isTaken) }
            case .mappings(let cause):
                let tickets = takeTickets()
                watch?.noteReading()
                let isTaken = reload(cause, settings.current)
                if isTaken { tellStrayPatterns() }
                for ticket in tickets { ticket.settle(isTaken: isTaken) }
            case .none:
                let former = counts.succeeded
                let hasNewRules = lookAtLists()
                if watchesConfiguration { lookAtConfiguration(&watch, &configuration) }
                if watchesMappings, let path = watch?.settledChange() {
                    watch?.noteReading()
                    reload("\(path) has changed", settings.current)
                }
                if hasNewRules || counts.succeeded != former { tellStrayPatterns() }
            }
        }
    }

    private func rereadLists() {
        let current = settings.current
        if let book = current.patients.book { notes(book.reread(current.patientPolicy)) }
        if let rules = current.rules { notes(rules.reread { current.unknownSource(of: $0.resources) }) }
    }

    /// Takes over what has changed; whether there are other rules now.
    private func lookAtLists() -> Bool {
        let current = settings.current
        if let note = current.patients.book?.look(current.patientPolicy) { notes(note) }
        guard let rules = current.rules else { return false }
        let former = rules.generation
        if let note = rules.look(refusing: { current.unknownSource(of: $0.resources) }) { notes(note) }
        return rules.generation != former
    }

    /// Tells which patterns of what is in use now mean nothing, as the start does, and has names for its tags.
    private func tellStrayPatterns() {
        ruleCounts.expect(tagsOf: settings.current)
        for note in settings.current.strayPatterns(mappings.current) { notes(.warning(note)) }
    }

    /// Takes over the settings when their files have changed and look complete.
    private func lookAtConfiguration(_ watch: inout MappingWatch?, _ configuration: inout ConfigurationWatch?) {
        guard let path = configuration?.settledChange() else { return }
        if let reason = configuration?.incompleteness {
            configuration?.noteReading()
            refuse(
                "\(reason), so that it may be half written: nothing was changed; complete it, or send SIGHUP to take "
                    + "it as it is")
            return
        }
        reloadSettings("\(path) has changed", &watch, &configuration)
    }

    /// Whether what `seen` has read may be taken without being asked: no file has changed meanwhile, all are complete,
    /// and none is included for the first time, which may be half written while what includes it is whole.
    private func isCalm(_ seen: inout ConfigurationWatch, _ former: ConfigurationWatch?) -> Bool {
        let isKnown = former.map(seen.hasFiles) ?? false
        guard isKnown, !seen.hasChanged, seen.incompleteness == nil else {
            seen.noteHaste()
            return false
        }
        return true
    }

    private func takeOrder() -> Order {
        order.withLock { order in
            defer { if order != .stop { order = .none } }
            isWorking.store(order != .none && order != .stop, ordering: .relaxed)
            return order
        }
    }

    private func takeTickets() -> [ReloadTicket] {
        waiting.withLock { tickets in
            defer { tickets = [] }
            return tickets
        }
    }

    /// What keeps the settings, as they are written now, from being taken over: errors in them, and changes that need a
    /// restart. Changes nothing; whether addresses can be opened is not tried.
    func obstacles() -> [ReloadObstacle] {
        guard let rereading else { return [] }
        let (new, diagnostics) = rereading.read()
        let errors = diagnostics.filter { $0.severity == .error }
        guard errors.isEmpty else { return errors.map(ReloadObstacle.init) }
        return changes(in: new).lasting.map { ReloadObstacle($0, file: rereading.path) }
    }

    private func changes(in new: PipelineSettings) -> SettingChanges {
        SettingChanges(from: stated.withLock { $0 }, to: new, exchangesSinks: sinks != nil)
    }

    /// Reads the settings and then the mappings again for `cause`; `watch` follows the mappings that are in use then,
    /// and `configuration` the files of the settings. False when they have errors.
    ///
    /// When it is the watch that asks, files that change while they are read are left until they stay as they are, and
    /// those that state no other settings are read for nothing: also the first time, which makes up for changes between
    /// the start's reading and the watch.
    @discardableResult
    private func reloadSettings(
        _ cause: String, _ watch: inout MappingWatch?, _ configuration: inout ConfigurationWatch?
    ) -> Bool {
        guard let rereading, var seen = configuration else { return reload(cause, settings.current) }
        let isSignal = cause == MappingReloader.signal
        let isFirst = seen.isFirst
        let (new, diagnostics) = rereading.read(&seen)
        guard isSignal || isCalm(&seen, configuration) else {
            configuration = seen
            return false
        }
        configuration = seen
        guard !diagnostics.contains(where: { $0.severity == .error }) else {
            findings(diagnostics)
            refuse("\(cause): the configuration has errors; the former settings and mappings stay in use")
            return false
        }
        let changes = changes(in: new)
        guard isSignal || !changes.all.isEmpty else {
            if !isFirst { notes(.info("\(cause): no setting is another one")) }
            // What was wrong with them has been taken back.
            tally.withLock { if !$0.refusesMappings { $0.refusal = nil } }
            return true
        }
        if !diagnostics.isEmpty { findings(diagnostics) }
        let lists = ListDeeds(new).beside(ListDeeds(stated.withLock { $0 }))
        guard changes.lasting.isEmpty else {
            let names = changes.lasting.map(\.text).joined(separator: ", ")
            refuse(
                "\(cause): cannot change while it runs: \(names); restart to apply it; nothing was changed, the former "
                    + "settings and mappings stay in use")
            return false
        }
        let next = settings.current.takingOver(new)
        let plan: Plan
        do throws(ReloadRefusal) {
            plan = try self.plan(from: settings.current, to: next)
        } catch {
            refuse("\(cause): \(error.message); nothing was changed, the former settings and mappings stay in use")
            return false
        }
        // Made before the files are read, so that no change goes unnoticed.
        let fresh = watch.map { _ in MappingWatch(next) }
        guard reload(cause, next, plan) else { return false }
        guard !changes.all.isEmpty else { return true }
        stated.withLock { $0 = new }
        watch = fresh
        for line in sources.descriptions(plan.sources) { notes(.info("listening on \(line)")) }
        for part in AuditDeed.parts("settings", first: "\(cause): took over", changes.all.map(\.text)) {
            notes(.deed(.settingsChanged, by: "", part, level: .info))
        }
        for list in lists { notes(.deed(list.kind, by: "", "\(cause): \(list.text)", level: .info)) }
        return true
    }

    /// What a reload opens and ends.
    private struct Plan {
        var sources: SourceExchange.Plan
        var sinks: SinkExchange.Plan?
    }

    private func plan(from current: PipelineSettings, to next: PipelineSettings) throws(ReloadRefusal) -> Plan {
        let plan = Plan(sources: try sources.plan(from: current, to: next))
        do throws(ReloadRefusal) {
            return Plan(sources: plan.sources, sinks: try sinks?.plan(from: current, to: next))
        } catch {
            abandon(plan)
            throw error
        }
    }

    private func abandon(_ plan: Plan) {
        sources.abandon(plan.sources)
        if let plan = plan.sinks { sinks?.abandon(plan) }
    }

    private func refuse(_ note: String, mappings: Bool = false) {
        tally.withLock { tally in
            tally.counts.failed += 1
            tally.refusal = RefusedReload(at: WallClock.now().text, reason: note)
            tally.refusesMappings = mappings
        }
        notes(LogEntry(.error, note, fields: [("event", .text("reload.refused"))]).answered)
    }

    /// Loads the mappings of `next`, and puts both into use, with the sources of `plan`; false when they have errors.
    @discardableResult
    private func reload(_ cause: String, _ next: PipelineSettings, _ plan: Plan? = nil) -> Bool {
        let former = mappings.current
        let (set, diagnostics) = ConfigurationLoader.checkMappings(next, continuing: former)
        findings(diagnostics)
        guard let set else {
            if let plan { abandon(plan) }
            refuse("\(cause): the mappings have errors; the former ones stay in use", mappings: true)
            return false
        }
        if let plan {
            guard exchange(plan, set, cause) else { return false }
        } else {
            use(next, set)
        }
        tally.withLock { tally in
            tally.counts.succeeded += 1
            tally.refusal = nil
        }
        let names = set.mappings.joined(separator: ", ")
        notes(
            LogEntry(
                .info, "\(cause): loaded the mappings \(names) again; readings are mapped by them now",
                fields: [("event", .text("reload.taken"))]
            ).answered)
        for change in MappingDeeds.changes(from: former.files, to: set.files) {
            notes(.deed(.mappingsChanged, by: "", "\(cause): \(change)", level: .info))
        }
        return true
    }

    /// Puts settings and mappings into use, and `routing` unless it is nil. Nothing else replaces mappings.
    private func use(_ next: PipelineSettings, _ set: MappingSet, _ routing: SinkRouting? = nil) {
        settings.replace(with: next, from: mappings.generation + 1)
        if let routing { routings.replace(with: routing, from: mappings.generation + 1) }
        mappings.replace(with: set)
    }

    /// Gives names to what comes, and has the sinks that come take what is made from now on.
    private func begin(_ plan: inout Plan) throws(ReloadRefusal) {
        do throws(StoreError) { try sources.number(&plan.sources) } catch {
            throw ReloadRefusal(message: error.message)
        }
        if let fault = plan.sources.settings.unknownSource { throw ReloadRefusal(message: fault) }
        guard let sinks, let plan = plan.sinks else { return }
        do throws(StoreError) { try sinks.begin(plan) } catch { throw ReloadRefusal(message: error.message) }
    }

    /// Leaves the sources that go, and then reads those that come by the new settings. Sinks that come are there before
    /// anything is made for them, and those that go get what was made for them before. False when the store cannot keep
    /// names, and nothing has changed.
    private func exchange(_ planned: Plan, _ set: MappingSet, _ cause: String) -> Bool {
        var plan = planned
        do throws(ReloadRefusal) {
            try begin(&plan)
        } catch {
            abandon(plan)
            refuse("\(cause): \(error.message); nothing was changed, the former settings and mappings stay in use")
            return false
        }
        sources.leave(plan.sources)
        plan.sources.noteRemoved(at: WallClock.now())
        let (former, next) = (settings.current.routing, plan.sources.settings.routing)
        use(plan.sources.settings, set, plan.sinks != nil && former != next ? next : nil)
        sources.begin(plan.sources)
        if let plan = plan.sinks { sinks?.end(plan) { [sources] in sources.hasStopped } }
        return true
    }
}

extension ReloadObstacle {
    fileprivate init(_ diagnostic: Diagnostic) {
        self.init(
            file: diagnostic.file, line: diagnostic.position.line, column: diagnostic.position.column,
            message: diagnostic.message, advice: diagnostic.advice)
    }

    /// One that was unset has its place nowhere in `file`.
    fileprivate init(_ change: SettingChanges.Change, file: String) {
        let position = change.origin?.position ?? .start
        self.init(
            file: change.origin?.file ?? file, line: position.line, column: position.column,
            message: "\(change.text): cannot change while it runs", advice: "restart to apply it")
    }
}
