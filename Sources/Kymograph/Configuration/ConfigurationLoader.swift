import KymographCore
package import KymographTemplates

/// Fills ``PipelineSettings`` from flags, environment, file and defaults, in this order of precedence.
package enum ConfigurationLoader {
    /// Reads all layers and checks everything, also what a stronger layer overrides.
    ///
    /// The settings can be used when no diagnostic is an error. Their sources are empty when none is named anywhere.
    package static func load(_ input: ConfigurationInput) -> (settings: PipelineSettings, diagnostics: [Diagnostic]) {
        var settings = PipelineSettings()
        (settings.kinds, settings.sinkKinds) = (input.kinds, input.sinkKinds)
        var log = ConfigurationLog()
        if let file = input.file {
            ConfigurationFileReader.read(
                name: file.name, bytes: file.bytes, variables: input.variables ?? input.environment, into: &settings,
                log: &log)
        }
        EnvironmentReader.read(input.environment, into: &settings, log: &log)
        readFlags(input.flags, into: &settings, log: &log)
        let sources = input.flagSources + flagSources(input.flags, input.kinds, log: &log)
        let isNamedElsewhere = sources.isEmpty && !settings.sources.isEmpty
        if !sources.isEmpty { (settings.replacedSources, settings.sources) = (settings.sources.map(\.name), sources) }
        readSourceDefaults(input.flags, into: &settings, isNamedElsewhere: isNamedElsewhere, log: &log)
        settings.sources += input.addedSources
        if settings.sources.isEmpty { settings.sources = input.usualSources }
        if settings.mappings.isEmpty, settings.namedFiles == NamedMappingFiles() {
            settings.mappings = [PipelineSettings.usualMapping]
        }
        SettingsCheck.check(settings, hasAddedSinks: input.hasAddedSinks, log: &log)
        return (settings, log.all)
    }

    private static func readFlags(
        _ flags: [(key: String, flag: String, value: String)], into settings: inout PipelineSettings,
        log: inout ConfigurationLog
    ) {
        settings.beginLayer(flags.map(\.key))
        for setting in SettingTable.settings {
            let values = flags.filter { $0.key == setting.key }.map {
                SettingText(text: $0.value, origin: .commandLine($0.flag))
            }
            if !values.isEmpty { settings.set(setting, values, log: &log) }
        }
        let keys = SettingTable.settings.map(\.key) + settings.kinds.sources.map(\.key) + Self.sourceDefaults
        for flag in flags where !keys.contains(flag.key) {
            log.add(
                .error, .commandLine(flag.flag), "unknown setting '\(flag.key)'",
                advice: NearestName.advice(for: flag.key, among: keys))
        }
    }

    /// Settings of sources that flags give to all sources of the command line.
    private static let sourceDefaults = ["defaultDevice", "defaultPatient", "timezone", "insecure"]

    /// Gives the sources that flags name, or those that are there without any, what flags say of all of them.
    private static func readSourceDefaults(
        _ flags: [(key: String, flag: String, value: String)], into settings: inout PipelineSettings,
        isNamedElsewhere: Bool, log: inout ConfigurationLog
    ) {
        for flag in flags where sourceDefaults.contains(flag.key) {
            let settingsOfSources = SourceSettings.all(settings.kinds)
            guard let setting = settingsOfSources.first(where: { $0.key == flag.key }) else { continue }
            let text = SettingText(text: flag.value, origin: .commandLine(flag.flag))
            guard !isNamedElsewhere else {
                log.add(
                    .error, text.origin, "it is for sources of the command line, and there are none",
                    advice: "write \(flag.key) at the source in the configuration file")
                continue
            }
            settings.sources = settings.listeningSources.map { source in
                var source = source
                if setting.apply([text], to: &source, log: &log) { setting.remember([text], in: &source.origins) }
                return source
            }
        }
    }

    private static func flagSources(
        _ flags: [(key: String, flag: String, value: String)], _ kinds: IngestKinds, log: inout ConfigurationLog
    ) -> [PipelineSettings.Source] {
        flags.compactMap { flag in
            guard let kind = kinds.source(flag.key) else { return nil }
            return SourceSettings.source(
                kind, SettingText(text: flag.value, origin: .commandLine(flag.flag)), log: &log)
        }
    }
}

extension PipelineSettings {
    /// Gives `setting` the value that was written, and remembers where.
    mutating func set(_ setting: Setting<PipelineSettings>, _ values: [SettingText], log: inout ConfigurationLog) {
        guard setting.apply(values, to: &self, log: &log) else { return }
        origins = origins.filter { $0.key != setting.key && !$0.key.hasPrefix("\(setting.key)[") }
        setting.remember(values, in: &origins)
    }
}

extension Setting {
    /// Notes the origins of `values` under the key and, for a list, under `key[0]` and so on.
    func remember(_ values: [SettingText], in origins: inout [String: SettingOrigin]) {
        origins[key] = values.first?.origin
        guard isList else { return }
        for (index, value) in values.enumerated() { origins["\(key)[\(index)]"] = value.origin }
    }
}
