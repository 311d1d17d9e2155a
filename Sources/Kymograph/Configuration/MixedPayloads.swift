import KymographCore
import KymographTemplates

/// Finds mappings of one source that read different payloads, or contradict each other about them: what a payload is
/// would then have to be guessed.
enum MixedPayloads {
    /// What is wrong with the sources of `settings`.
    static func check(_ settings: PipelineSettings, _ set: MappingSet, _ mappings: [NamedMapping]) -> [Diagnostic] {
        settings.listeningSources.compactMap { source in
            find(in: settings.mappings(of: source), of: set, mappings, source: source.configuration.address.name)
                ?? notMessages(source, settings, set, mappings)
        }
    }

    /// What is wrong with the mappings of an MLLP source that read no messages of HL7 v2.
    private static func notMessages(
        _ source: PipelineSettings.Source, _ settings: PipelineSettings, _ set: MappingSet, _ mappings: [NamedMapping]
    ) -> Diagnostic? {
        let names = settings.mappings(of: source)
        guard source.configuration.address is MLLPSource, let first = names.first,
            !set.hasMessages(set.templates(of: names))
        else { return nil }
        let file = mappings.first { $0.name == first }?.device.name ?? first
        return Diagnostic(
            .error, file: file, position: .start,
            message: "the mapping '\(first)' of \(source.configuration.address.name) reads no HL7 v2",
            advice: "name a mapping with \"payload\": \"hl7v2\", such as pcd-01 (--mapping pcd-01)",
            code: Finding.mixedPayloads.rawValue)
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
