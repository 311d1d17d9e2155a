import KymographCore
import KymographTemplates

/// Finds mappings of one source that read different payloads, or contradict each other about them: what a payload is
/// would then have to be guessed.
enum MixedPayloads {
    /// What is wrong with the sources of `settings`.
    static func check(_ settings: PipelineSettings, _ set: MappingSet, _ mappings: [NamedMapping]) -> [Diagnostic] {
        settings.listeningSources.compactMap { source in
            find(in: settings.mappings(of: source), of: set, mappings, source: source.configuration.address.name)
        }
    }

    /// What is wrong with `names`, the mappings of the source that messages call `source`.
    static func find(
        in names: [String], of set: MappingSet, _ mappings: [NamedMapping], source: String
    ) -> Diagnostic? {
        guard let conflict = set.payloadConflict(of: names) else { return nil }
        let file = mappings.first { $0.name == conflict.second }?.device.name ?? conflict.second
        return Diagnostic(
            .error, file: file, position: .start,
            message: "the mappings '\(conflict.first)' and '\(conflict.second)' of \(source) \(conflict.reason.text)",
            advice: "give each a source of its own", code: Finding.mixedPayloads.rawValue)
    }
}
