import KymographCore
import KymographTemplates

/// Reads the environment variables `KYMO_…`.
enum EnvironmentReader {
    /// Variables of the project's own tests, too much like a setting's to be left to the warning.
    private static let reserved = ["KYMO_SHARED"]

    /// Reads `environment` into `settings`. A variable that is no setting earns a warning only when it looks like one:
    /// others may begin with `KYMO_` for reasons of their own, such as the service variables of Kubernetes.
    static func read(
        _ environment: [String: String], into settings: inout PipelineSettings, log: inout ConfigurationLog
    ) {
        let variables = environment.filter { $0.key.hasPrefix("KYMO_") && !$0.value.isEmpty }
        guard !variables.isEmpty else { return }
        settings.beginLayer(SettingTable.settings.filter { variables[$0.variable] != nil }.map(\.key))
        for setting in SettingTable.settings {
            guard let value = variables[setting.variable] else { continue }
            settings.set(setting, texts(value, setting.isList, .environment(setting.variable)), log: &log)
        }
        let sources = sources(variables, settings.kinds, log: &log)
        if !sources.isEmpty { settings.sources = sources }
        warn(variables.keys.sorted(), settings.kinds, log: &log)
    }

    /// The name of the variable for sources of kind `key`, such as KYMO_UDP.
    static func variable(ofSource key: String) -> String { "KYMO_\(key.uppercased())" }

    /// Elements of a list are separated by commas.
    private static func texts(_ value: String, _ isList: Bool, _ origin: SettingOrigin) -> [SettingText] {
        guard isList else { return [SettingText(text: value, origin: origin)] }
        return value.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let start = part.drop { $0 == " " }
            let end = start.lastIndex { $0 != " " }.map { start.index(after: $0) } ?? start.startIndex
            return SettingText(text: String(start[..<end]), origin: origin)
        }
    }

    private static func sources(
        _ variables: [String: String], _ kinds: IngestKinds, log: inout ConfigurationLog
    ) -> [PipelineSettings.Source] {
        kinds.sources.flatMap { kind in
            let variable = variable(ofSource: kind.key)
            let addresses =
                variables[variable].map { texts($0, kind.splitsAtCommas, .environment(variable)) } ?? []
            return addresses.compactMap { SourceSettings.source(kind, $0, log: &log) }
        }
    }

    private static func warn(_ names: [String], _ kinds: IngestKinds, log: inout ConfigurationLog) {
        let known =
            reserved + SettingTable.settings.map(\.variable) + kinds.sources.map { variable(ofSource: $0.key) }
        let suffixes = known.map { String($0.dropFirst("KYMO_".count)) }
        for name in names where !known.contains(name) {
            guard let near = NearestName.of(String(name.dropFirst("KYMO_".count)), among: suffixes) else { continue }
            log.add(
                .warning, .environment(name), "no setting has this variable", advice: "did you mean 'KYMO_\(near)'?")
        }
    }
}
