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
            // What limits.devices says is a number.
            !key.hasPrefix("limits.")
                && MaskedConfiguration.personal.contains(key.split(separator: ".").last.map(String.init) ?? key)
        }

        /// `window 5m → 1m (kymo.yaml:1:9)`.
        var text: String {
            guard !isIdentifier else { return key + (origin.map { " (\($0.place))" } ?? "") }
            let shown = [before, after].map { $0.isEmpty ? "unset" : $0 }
            return "\(key) \(shown[0]) → \(shown[1])" + (origin.map { " (\($0.place))" } ?? "")
        }
    }

    private static let common: Set = [
        "mappings", "deviceMapping", "fhirMapping", "maxFuture", "identity", "watch", "watchConfig", "drain",
        "output.rotateBytes", "output.rotateAge", "output.rotateIdle", "store.maxBytes", "store.archiveAge",
        "store.keepRaw", "store.commitInterval",
        "log.level", "log.outboxAge", "log.silentAfter", "limits.devices", "limits.series", "limits.windows",
        "limits.readingsPerWindow", "limits.depth", "limits.values",
    ]
    /// What decides which readings a sink gets.
    private static let ofFilters: Set = ["types", "devices", "sources", "tags"]
    private static let ofSources: Set = [
        "mappings", "deviceMapping", "fhirMapping", "defaultDevice", "defaultPatient", "types", "tags", "until",
        "connections",
        "connectionsPerPeer", "idleLimit", "associations", "associationsPerPeer", "handshakeRate", "associationIdle",
    ]

    /// In the order of the reference.
    private(set) var all: [Change] = []

    /// What `new` has that `former` has not. Sources are known by their names or addresses, and sinks by their names,
    /// wherever they are in the list. `exchangesSinks` says whether these can come and go.
    init(from former: PipelineSettings, to new: PipelineSettings, exchangesSinks: Bool) {
        // Without a list of sinks the server's name is its address.
        let ofServer = exchangesSinks ? ServerSettings.keys.dropFirst().map { "server.\($0.key)" } : []
        let ofLines = former.canTakeLineBytes ? ["limits.lineBytes"] : []
        compare(
            Self.values(SettingTable.settings, of: former, "", former.origins),
            Self.values(SettingTable.settings, of: new, "", new.origins), Self.common.union(ofServer + ofLines))
        compareSources(former, new, exchangesSinks: exchangesSinks)
        compareSinks(former, new, exchangesSinks: exchangesSinks)
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
    private mutating func compareSources(
        _ former: PipelineSettings, _ new: PipelineSettings, exchangesSinks: Bool
    ) {
        var known = Set<Int>()
        for (index, source) in new.sources.enumerated() {
            guard let place = former.place(of: source, besides: known) else {
                let mayCome = new.canExchange(source) && (exchangesSinks || !former.isNamedBySink(source))
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

    /// What both have is compared; the others were added or removed. Once there is a list, there stays one.
    private mutating func compareSinks(
        _ former: PipelineSettings, _ new: PipelineSettings, exchangesSinks: Bool
    ) {
        let mayChange = exchangesSinks && former.sinks.isEmpty == new.sinks.isEmpty
        for (index, sink) in new.sinks.enumerated() {
            let key = "sinks[\(index)]"
            guard let before = former.sinks.first(where: { $0.isNamed(sink.name) }) else {
                add(key, "", sink.placeText, sink.origin, mayChange && sink.canExchange)
                continue
            }
            let isSameKind = before.address?.kind.key == sink.address?.kind.key
            var taken = mayChange ? Self.ofFilters : []
            if mayChange, isSameKind, sink.isTaker { taken.formUnion(sink.address?.kind.settings.map(\.key) ?? []) }
            if before.placeText != sink.placeText {
                let mayMove = mayChange && before.isTaker && sink.isTaker
                add(key, before.placeText, sink.placeText, sink.origin, mayMove)
            }
            compare(Self.values(before, former.sinkKinds), Self.values(sink, new.sinkKinds), taken, "\(key).")
        }
        for (index, sink) in former.sinks.enumerated() where !new.sinks.contains(where: { $0.isNamed(sink.name) }) {
            add("sinks[\(index)]", sink.placeText, "", nil, mayChange && sink.canExchange)
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

    /// All of a sink but its address.
    private static func values(_ sink: PipelineSettings.Sink, _ kinds: SinkKinds) -> [Value] {
        values(Array(SinkSettings.all(kinds).dropFirst(kinds.keys.count)), of: sink, "", sink.origins)
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

    /// Whether the longest line of all sources is that of connections which begin, or of datagrams, and none is read as
    /// one stream from the start to the end.
    fileprivate var canTakeLineBytes: Bool {
        listeningSources.allSatisfy { source in
            let known: [SourceCapabilities] = [.clients, .receiveBuffer, .openEnds]
            return known.contains { source.configuration.capabilities.contains($0) }
        }
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
        settings.watchesConfiguration = new.watchesConfiguration
        settings.configurationFiles = new.configurationFiles
        settings.rotation.limits = new.rotation.limits
        settings.windows.limits.takeOver(new.windows.limits)
        (settings.scan, settings.lineBytes) = (new.scan, new.lineBytes)
        settings.store.takeLimits(of: new.store)
        settings.log.takeOver(new.log)
        (settings.server, settings.sinks) = (new.server, placing(new.sinks))
        settings.sinkPlaces = settings.sinks.reduce(placedSinks.count) { max($0, ($1.place ?? 0) + 1) }
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

extension PipelineSettings {
    /// `sinks`, each of a known name at its place, and the others at places that no sink has had.
    fileprivate func placing(_ sinks: [Sink]) -> [Sink] {
        let known = placedSinks
        var next = known.count
        return sinks.map { sink in
            var sink = sink
            sink.place = known.firstIndex { $0?.isNamed(sink.name) == true }
            if sink.place == nil {
                sink.place = next
                next += 1
            }
            return sink
        }
    }
}

extension PipelineSettings.Sink {
    /// Whether that is its name, byte by byte.
    fileprivate func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }

    /// The place as the configuration has it.
    fileprivate var placeText: String { address.map { "\($0.kind.key) \($0.text)" } ?? "" }

    /// Whether it takes entries from the outbox by itself.
    fileprivate var isTaker: Bool { address?.kind.capabilities.contains(.mayBeAway) == true }

    /// Whether it can come and go while others go on: who reads a pipe is there from the start to the end.
    fileprivate var canExchange: Bool { address?.kind.capabilities.contains(.pipe) == false }
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
