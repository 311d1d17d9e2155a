import KymographCore

/// What differs between two configurations of one pipeline.
struct SettingChanges {
    /// A setting with another value.
    struct Change {
        /// Dotted name, as in `output.format` or `sources[0].defaultDevice`.
        var key: String
        var before: String
        var after: String
        /// Where the new value was written; nil for a default.
        var origin: SettingOrigin?
        /// Whether a pipeline takes it over while it runs: lanes go over to it between two batches.
        var isTakenOver: Bool

        /// Whether its values name a person, a device or an account, which no log may have.
        private var isIdentifier: Bool {
            MaskedConfiguration.personal.contains(key.split(separator: ".").last.map(String.init) ?? key)
        }

        /// `window 5m → 1m (kymo.yaml:1:9)`.
        var text: String {
            guard !isIdentifier else { return key + (origin.map { " (\($0.place))" } ?? "") }
            let shown = [before, after].map { $0.isEmpty ? "unset" : $0 }
            return "\(key) \(shown[0]) → \(shown[1])" + (origin.map { " (\($0.place))" } ?? "")
        }
    }

    private static let common: Set = [
        "mappings", "deviceMapping", "fhirMapping", "maxFuture", "identity", "watch", "drain", "output.rotateBytes",
        "output.rotateAge", "output.rotateIdle", "store.maxBytes", "store.archiveAge", "store.commitInterval",
        "log.outboxAge", "log.silentAfter",
    ]
    private static let ofSources: Set = [
        "mappings", "deviceMapping", "fhirMapping", "defaultDevice", "defaultPatient", "types", "tags", "until",
        "connections",
        "connectionsPerPeer", "idleLimit",
    ]

    /// In the order of the reference.
    private(set) var all: [Change] = []

    /// What `new` has that `former` has not. Sources are known by their names or addresses, wherever they are in the
    /// list; sinks are compared by their place in it.
    init(from former: PipelineSettings, to new: PipelineSettings) {
        compare(
            Self.values(SettingTable.settings, of: former, "", former.origins),
            Self.values(SettingTable.settings, of: new, "", new.origins), Self.common)
        compareSources(former, new)
        compare(Self.sinks(former), Self.sinks(new), [])
    }

    private mutating func compare(_ before: [Value], _ after: [Value], _ taken: Set<String>, _ prefix: String = "") {
        let present = Set(after.map(\.key))
        let texts = Dictionary(uniqueKeysWithValues: before.map { ($0.key, $0.text) })
        for value in after where (texts[value.key] ?? "") != value.text {
            add(prefix + value.key, texts[value.key] ?? "", value.text, value.origin, taken.contains(value.key))
        }
        for value in before where !present.contains(value.key) && !value.text.isEmpty {
            add(prefix + value.key, value.text, "", nil, taken.contains(value.key))
        }
    }

    /// What both have is compared; the others were added or removed.
    private mutating func compareSources(_ former: PipelineSettings, _ new: PipelineSettings) {
        var known = Set<Int>()
        for (index, source) in new.sources.enumerated() {
            guard let place = former.place(of: source, besides: known) else {
                let mayCome = new.canExchange(source) && !former.isNamedBySink(source)
                add("sources[\(index)]", "", Self.address(source), Self.origin(source), mayCome)
                continue
            }
            known.insert(place)
            let before = former.sources[place]
            if Self.address(before) != Self.address(source) {
                add("sources[\(index)]", Self.address(before), Self.address(source), Self.origin(source), false)
            }
            compare(
                Self.values(before, former.kinds), Self.values(source, new.kinds), Self.ofSources,
                "sources[\(index)].")
        }
        for (index, source) in former.sources.enumerated() where !known.contains(index) {
            add("sources[\(index)]", Self.address(source), "", nil, former.canExchange(source))
        }
    }

    /// Those that need a restart.
    var lasting: [Change] { all.filter { !$0.isTakenOver } }

    private mutating func add(
        _ key: String, _ before: String, _ after: String, _ origin: SettingOrigin?, _ isTakenOver: Bool
    ) {
        all.append(
            Change(
                key: key, before: MaskedText.masking(before), after: MaskedText.masking(after), origin: origin,
                isTakenOver: isTakenOver))
    }

    private static func address(_ source: PipelineSettings.Source) -> String {
        "\(source.configuration.address.kind.key) \(SourceSettings.addressText(source))"
    }

    private static func origin(_ source: PipelineSettings.Source) -> SettingOrigin? {
        source.origins[source.configuration.address.kind.key]
    }

    private typealias Value = (key: String, text: String, origin: SettingOrigin?)

    /// All of a source but its address.
    private static func values(_ source: PipelineSettings.Source, _ kinds: IngestKinds) -> [Value] {
        values(Array(SourceSettings.all(kinds).dropFirst(kinds.sources.count)), of: source, "", source.origins)
    }

    private static func sinks(_ settings: PipelineSettings) -> [Value] {
        var all: [Value] = []
        for (index, sink) in settings.sinks.enumerated() {
            let name = "sinks[\(index)]"
            all.append((name, sink.address.map { "\($0.kind.key) \($0.text)" } ?? "", sink.origin))
            let rest = Array(SinkSettings.all(settings.sinkKinds).dropFirst(settings.sinkKinds.keys.count))
            all += values(rest, of: sink, "\(name).", sink.origins)
        }
        return all
    }

    private static func values<Root>(
        _ settings: [Setting<Root>], of root: Root, _ prefix: String, _ origins: [String: SettingOrigin]
    ) -> [Value] {
        settings.map { (prefix + $0.key, $0.texts(root).joined(separator: ", "), origins[$0.key]) }
    }
}

extension PipelineSettings {
    /// The place of what is `source` in these settings, by its name or else its address, besides the `known` ones.
    fileprivate func place(of source: Source, besides known: Set<Int>) -> Int? {
        func first(_ isIt: (Source) -> Bool) -> Int? {
            sources.indices.first { !known.contains($0) && isIt(sources[$0]) }
        }
        let (kind, text) = (source.configuration.address.kind.key, SourceSettings.addressText(source))
        return first { $0.isNamed(source.name) }
            ?? first { $0.configuration.address.kind.key == kind && SourceSettings.addressText($0) == text }
    }

    /// Whether `source` can come and go while others are read: not what ends by itself, such as standard input, of
    /// which there is one, and whose end is that of the run.
    fileprivate func canExchange(_ source: Source) -> Bool { !source.configuration.capabilities.contains(.ends) }

    /// Whether a sink may get the readings of `source` and of no others: its sources were looked up at the start.
    fileprivate func isNamedBySink(_ source: Source) -> Bool {
        sinks.contains { sink in sink.sources.contains { NamePattern($0).matches(source.name.utf8) } }
    }

    /// These settings, with what `new` says of those that a running pipeline takes over. Each source keeps its number,
    /// also one that `new` does not have any more, and those that are new come behind them.
    func takingOver(_ new: PipelineSettings) -> PipelineSettings {
        var settings = self
        (settings.mappings, settings.namedFiles) = (new.mappings, new.namedFiles)
        settings.origins = new.origins
        (settings.maxFuture, settings.requiresPatient) = (new.maxFuture, new.requiresPatient)
        (settings.watchesMappings, settings.drainLimit) = (new.watchesMappings, new.drainLimit)
        settings.configurationFiles = new.configurationFiles
        settings.rotation.limits = new.rotation.limits
        settings.store.takeLimits(of: new.store)
        (settings.log.outboxAge, settings.log.silentAfter) = (new.log.outboxAge, new.log.silentAfter)
        for index in sources.indices { settings.sources[index].isRemoved = true }
        for source in new.sources {
            guard let number = sources.firstIndex(where: { $0.isNamed(source.name) }) else {
                settings.sources.append(source)
                continue
            }
            // One that comes back is as it is said now.
            settings.sources[number] = sources[number].isRemoved ? source : sources[number].takingOver(source)
            settings.sources[number].ledgerNumber = sources[number].ledgerNumber
        }
        return settings
    }
}

extension PipelineSettings.Source {
    /// Whether that is its name, byte by byte.
    func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }

    /// This source, with what `new` says of what is taken over while it is read.
    fileprivate func takingOver(_ new: PipelineSettings.Source) -> PipelineSettings.Source {
        var source = self
        source.isRemoved = false
        (source.mappings, source.namedFiles) = (new.mappings, new.namedFiles)
        (source.defaultDevice, source.defaultPatient) = (new.defaultDevice, new.defaultPatient)
        (source.types, source.until, source.origins) = (new.types, new.until, new.origins)
        source.tags = new.tags
        source.configuration.takeLimits(of: new.configuration)
        return source
    }
}
