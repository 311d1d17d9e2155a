import FoundationEssentials
import KymographCore
import KymographTemplates

/// Everything that an engine runs with, checked.
struct EngineLoading {
    private(set) var settings: PipelineSettings
    private(set) var set: MappingSet
    private(set) var watch: MappingWatch
    /// By the place of their sources in the settings; nil for other sources.
    private(set) var queues: [SubmissionQueue?] = []

    /// The name of the source when nothing names any.
    static let usualSource = "main"

    /// Reads `configuration` with its mappings.
    ///
    /// - Throws: ``EngineError`` with all problems, or when the process has no descriptor left.
    init(_ configuration: EngineConfiguration) throws(EngineError) {
        let kinds = try EngineLoading.kinds(configuration)
        var problems: [EngineError.Problem] = []
        var settings = EngineLoading.read(configuration, kinds, &problems)
        EngineLoading.settleStorage(configuration.storage, of: &settings, &problems)
        EngineLoading.addSinks(configuration.sinks, to: &settings, &problems)
        EngineLoading.addHooks(configuration, to: &settings, &problems)
        watch = MappingWatch(settings)
        let mappings = ConfigurationLoader.checkMappings(settings)
        problems += mappings.diagnostics.map(EngineError.Problem.init)
        guard let set = mappings.set, !problems.contains(where: \.isError) else { throw EngineError(problems) }
        for problem in problems { configuration.onNote(problem.description) }
        self.set = set
        self.settings = settings
        do throws(SourceError) { try attachQueues() } catch { throw EngineError(.unavailable, error.message) }
    }

    /// What a configuration may name.
    private static func kinds(_ configuration: EngineConfiguration) throws(EngineError) -> IngestKinds {
        let sources = [SubmissionSource.descriptor] + configuration.sourceKinds
        let keys = (IngestKinds.builtIn.sources + sources).map(\.key)
        let names = (IngestKinds.builtIn.framings + configuration.framings).map(\.name)
        for (parameter, texts) in [("sourceKinds", keys), ("framings", names)] {
            guard let twice = texts.indices.first(where: { texts[..<$0].contains(texts[$0]) }) else { continue }
            let problem = EngineError.Problem(
                parameter, "two are called '\(texts[twice])'", advice: "give the program's own another name")
            throw EngineError([problem])
        }
        return .builtIn.adding(sources: sources, framings: configuration.framings)
    }

    private static func read(
        _ configuration: EngineConfiguration, _ kinds: IngestKinds, _ problems: inout [EngineError.Problem]
    ) -> PipelineSettings {
        var input = ConfigurationInput(file: configuration.text)
        input.variables = ProcessInfo.processInfo.environment
        input.kinds = kinds
        input.flags = configuration.mappings.map { ("mappings", "mappings", $0) }
        if let window = configuration.window {
            if let text = EngineLoading.text(ofWindow: window) {
                input.flags.append(("window", "window", text))
            } else {
                problems.append(
                    .init("window", "it is no whole number of milliseconds of at most 292 years", advice: "round it"))
            }
        }
        input.addedSources = addedSources(configuration, &problems)
        input.usualSources = [PipelineSettings.Source(SubmissionSource(usualSource))]
        input.hasAddedSinks = !configuration.sinks.isEmpty
        let (settings, diagnostics) = ConfigurationLoader.load(input)
        problems += diagnostics.map(EngineError.Problem.init)
        return settings
    }

    /// A window as configurations have it; nil when it is no whole number of milliseconds, or too long.
    private static func text(ofWindow window: Duration) -> String? {
        let (seconds, attoseconds) = window.components
        let (rest, isCut) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        let (whole, isLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (nanoseconds, isLonger) = whole.addingReportingOverflow(rest * 1_000_000)
        return isCut != 0 || isLong || isLonger ? nil : DurationText.text(nanoseconds)
    }

    private static func addedSources(
        _ configuration: EngineConfiguration, _ problems: inout [EngineError.Problem]
    ) -> [PipelineSettings.Source] {
        var sources: [PipelineSettings.Source] = []
        for label in configuration.sources {
            do throws(SettingProblem) {
                sources.append(PipelineSettings.Source(try SubmissionSource.descriptor.parse(label)))
            } catch {
                problems.append(.init("sources", error.message, advice: error.advice))
            }
        }
        return sources
    }

    private static func settleStorage(
        _ storage: EngineConfiguration.Storage, of settings: inout PipelineSettings,
        _ problems: inout [EngineError.Problem]
    ) {
        switch storage {
        case .ephemeral: settings.store.keeping = .nothing
        case .directory(let path):
            settings.store.keeping = .everything
            settings.store.directory = path
        case .configured:
            if settings.store.keeping == .auto, settings.store.directory != nil { settings.store.keeping = .everything }
            let isStated = settings.store.keeping == .nothing || settings.store.directory != nil
            guard !isStated else { return }
            problems.append(
                .init(
                    "storage", "nothing says where readings are kept",
                    advice: "name a directory, or say that nothing is kept (ephemeral)"))
        }
    }

    /// Adds the program's sinks to those that the configuration names.
    private static func addSinks(
        _ sinks: [EntrySink], to settings: inout PipelineSettings, _ problems: inout [EngineError.Problem]
    ) {
        // The default, standard output, belongs to the program.
        if settings.sinks.isEmpty, settings.origins["output.to"] == nil { settings.destination = .nowhere }
        var all = settings.outgoingSinks
        for sink in sinks {
            if let problem = problem(sink, among: all) { problems.append(problem) }
            problems += sink.strayPatterns(among: settings.listeningSources.map(\.name))
            all.append(sink.settings)
        }
        if all.isEmpty {
            problems.append(
                .init("sinks", "nobody gets the entries", advice: "give a sink, or name one in the configuration"))
        }
        if all.count > BundleRoute.mostSinks {
            problems.append(
                .init("sinks", "there are \(all.count) sinks", advice: "keep at most \(BundleRoute.mostSinks)"))
        }
        settings.sinks = all
    }

    /// Has the program's hooks decide behind the rules.
    private static func addHooks(
        _ configuration: EngineConfiguration, to settings: inout PipelineSettings,
        _ problems: inout [EngineError.Problem]
    ) {
        settings.interceptor = configuration.readingHook.map(HookedReadings.init)
        settings.entryInterceptor = configuration.entryHook.map { hook in
            HookedEntries(hook) { problems.append(.init("entryHook", $0, advice: $1)) }
        }
        settings.batchWatcher = configuration.onBatch.map(EngineLoading.watcher)
        if settings.entryInterceptor != nil, settings.search.peers != nil {
            problems.append(
                .init("entryHook", "the search would show what it vetoes", advice: "leave search.peers or the hook out")
            )
        }
        let names = [
            ("readingHook", settings.interceptor?.name), ("entryHook", settings.entryInterceptor?.name),
        ]
        for (parameter, name) in names {
            guard let name, !RuleName.isOne(name) else { continue }
            problems.append(.init(parameter, "'\(name)' is no name", advice: RuleName.advice))
        }
    }

    /// Shows blocks to the program, as the resources in them.
    private static func watcher(
        _ onBatch: @escaping @Sendable ([ResourceEntry]) -> Void
    ) -> @Sendable (ByteView) -> Void {
        { bytes in
            var index = EntryIndex()
            if let block = index.read(bytes) { onBatch(ResourceEntry.all(of: block)) }
        }
    }

    private static func problem(_ sink: EntrySink, among others: [PipelineSettings.Sink]) -> EngineError.Problem? {
        if sink.name.isEmpty || sink.name.unicodeScalars.contains(where: { $0.value < 0x20 }) {
            return .init("sinks", "'\(sink.name)' is no name", advice: "write letters and digits")
        }
        guard others.contains(where: { IdentifierText($0.name) == IdentifierText(sink.name) }) else { return nil }
        return .init("sinks", "two sinks are called '\(sink.name)'", advice: "give one another name")
    }

    /// Makes a queue for each source to which the program submits.
    private mutating func attachQueues() throws(SourceError) {
        for index in settings.sources.indices {
            guard let source = settings.sources[index].configuration.address as? SubmissionSource else {
                queues.append(nil)
                continue
            }
            let queue = try SubmissionQueue(
                source.name, longestPayload: settings.lineBytes, isDurable: settings.store.keeping == .everything)
            settings.sources[index].configuration.address = source.attached(to: queue)
            settings.sources[index].statedFraming = SubmissionProtocol.framing(queue)
            queues.append(queue)
        }
    }
}
