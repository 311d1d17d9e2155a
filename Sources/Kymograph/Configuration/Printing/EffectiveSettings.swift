import KymographCore

/// What a pipeline runs with, and where each value was written.
package struct EffectiveSettings {
    /// Settings of the whole pipeline, in the order of the reference.
    private(set) var settings: [PrintedSetting]
    /// The settings of each source, that of its address first.
    private(set) var sources: [[PrintedSetting]]
    /// The settings of each sink, that of its place first.
    private(set) var sinks: [[PrintedSetting]]

    /// What `settings` have that was written somewhere; `withDefaults`, also the rest. Defaults that have no effect
    /// beside the others are left out, so that what is printed is a configuration without a finding.
    package init(_ settings: PipelineSettings, withDefaults: Bool) {
        let idle = Set(IdleSetting.all(settings).map(\.key))
        self.settings = SettingTable.settings.compactMap { setting in
            let origin = settings.origins[setting.key]
            let isPrinted = withDefaults && Self.hasEffect(setting.key, settings) && !idle.contains(setting.key)
            return origin != nil || isPrinted ? PrintedSetting(setting, of: settings, origin: origin) : nil
        }
        let sources = withDefaults ? settings.listeningSources : settings.sources
        self.sources = sources.map { Self.printed($0, settings.kinds, withDefaults: withDefaults) }
        sinks = settings.sinks.map { Self.printed($0, settings.sinkKinds, withDefaults: withDefaults) }
    }

    /// Whether it is a setting of what there is: a list of sinks stands in the place of `output.to` and the server.
    private static func hasEffect(_ key: String, _ settings: PipelineSettings) -> Bool {
        if PatientSettings.keysOfMap.contains(key) { return settings.patients.book != nil }
        if key.hasPrefix("audit.") { return settings.auditServer.isNamed }
        let isOfServer = key.hasPrefix("server.")
        guard settings.sinks.isEmpty else { return !isOfServer && key != "output.to" }
        return !isOfServer || settings.server.isNamed
    }

    private static func printed(
        _ source: PipelineSettings.Source, _ kinds: IngestKinds, withDefaults: Bool
    ) -> [PrintedSetting] {
        let kind = source.configuration.address.kind
        let address = SourceSettings.address(kind)
        let first = PrintedSetting(
            key: kind.key, [SourceSettings.addressText(source)], address.values, source.origins[kind.key])
        let idle = SourceSettings.limited.filter { !source.configuration.capabilities.isSuperset(of: $0.needs) }
        let rest = SourceSettings.all(kinds).dropFirst(kinds.sources.count).compactMap { setting in
            let origin = source.origins[setting.key]
            let isPrinted = withDefaults && !idle.contains { $0.setting.key == setting.key }
            return origin != nil || isPrinted ? PrintedSetting(setting, of: source, origin: origin) : nil
        }
        return [first] + rest
    }

    private static func printed(
        _ sink: PipelineSettings.Sink, _ kinds: SinkKinds, withDefaults: Bool
    ) -> [PrintedSetting] {
        guard let address = sink.address else { return [] }
        let first = PrintedSetting(key: address.kind.key, [address.text], .text, sink.origins[address.kind.key])
        let own = Set((SinkSettings.common.map(\.key)) + address.kind.settings.map(\.key))
        let rest = SinkSettings.all(kinds).dropFirst(kinds.keys.count).compactMap { setting in
            let origin = sink.origins[setting.key]
            let isPrinted = withDefaults && own.contains(setting.key)
            return origin != nil || isPrinted ? PrintedSetting(setting, of: sink, origin: origin) : nil
        }
        return [first] + rest
    }
}
