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

        /// Whether a pipeline takes it over while it runs: lanes go over to it between two batches.
        var isTakenOver: Bool {
            let parts = key.split(separator: "].", maxSplits: 1)
            guard key.hasPrefix("sources["), parts.count == 2 else { return SettingChanges.common.contains(key) }
            return SettingChanges.ofSources.contains(String(parts[1]))
        }
    }

    private static let common: Set = [
        "mappings", "deviceMapping", "fhirMapping", "maxFuture", "identity", "watch", "drain",
    ]
    private static let ofSources: Set = [
        "mappings", "deviceMapping", "fhirMapping", "defaultDevice", "defaultPatient", "types", "until",
    ]

    /// In the order of the reference.
    private(set) var all: [Change] = []

    /// What `new` has that `former` has not. Sources and sinks are compared by their place in the list.
    init(from former: PipelineSettings, to new: PipelineSettings) {
        let (before, after) = (Self.values(former), Self.values(new))
        let (known, present) = (Set(before.map(\.key)), Set(after.map(\.key)))
        let texts = Dictionary(uniqueKeysWithValues: before.map { ($0.key, $0.text) })
        for value in after where (texts[value.key] ?? "") != value.text {
            add(value.key, texts[value.key] ?? "", value.text, value.origin)
        }
        for value in before where known.subtracting(present).contains(value.key) && !value.text.isEmpty {
            add(value.key, value.text, "", nil)
        }
    }

    /// Those that need a restart.
    var lasting: [Change] { all.filter { !$0.isTakenOver } }

    private mutating func add(_ key: String, _ before: String, _ after: String, _ origin: SettingOrigin?) {
        all.append(
            Change(
                key: key, before: MaskedText.masking(before), after: MaskedText.masking(after), origin: origin))
    }

    private typealias Value = (key: String, text: String, origin: SettingOrigin?)

    private static func values(_ settings: PipelineSettings) -> [Value] {
        var all = values(SettingTable.settings, of: settings, "", settings.origins)
        for (index, source) in settings.sources.enumerated() {
            let (kinds, kind) = (settings.kinds, source.configuration.address.kind)
            let name = "sources[\(index)]"
            all.append((name, "\(kind.key) \(SourceSettings.addressText(source))", source.origins[kind.key]))
            let rest = Array(SourceSettings.all(kinds).dropFirst(kinds.sources.count))
            all += values(rest, of: source, "\(name).", source.origins)
        }
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
    /// These settings, with what `new` says of those that a running pipeline takes over. Both have the same sources.
    func takingOver(_ new: PipelineSettings) -> PipelineSettings {
        var settings = self
        (settings.mappings, settings.namedFiles) = (new.mappings, new.namedFiles)
        settings.origins = new.origins
        (settings.maxFuture, settings.requiresPatient) = (new.maxFuture, new.requiresPatient)
        (settings.watchesMappings, settings.drainLimit) = (new.watchesMappings, new.drainLimit)
        settings.configurationFiles = new.configurationFiles
        for (index, source) in new.sources.enumerated() {
            settings.sources[index].mappings = source.mappings
            settings.sources[index].namedFiles = source.namedFiles
            settings.sources[index].defaultDevice = source.defaultDevice
            settings.sources[index].defaultPatient = source.defaultPatient
            settings.sources[index].types = source.types
            settings.sources[index].until = source.until
            settings.sources[index].origins = source.origins
        }
        return settings
    }
}
