package import KymographCore
package import KymographTemplates

extension ConfigurationLoader {
    /// Finds, loads and joins every mapping that the sources of `settings` use.
    ///
    /// Reads folders from disk. The set is nil when there was an error; the diagnostics of all mappings are given. With
    /// `continuing`, the set can replace that one in a running pipeline; with `continuingStored`, it can go on with the
    /// readings that a store has of these types.
    package static func checkMappings(
        _ settings: PipelineSettings, continuing former: MappingSet? = nil, continuingStored stored: [FormerType] = []
    ) -> (set: MappingSet?, diagnostics: [Diagnostic]) {
        var log = ConfigurationLog()
        let mappings = resolve(settings, log: &log)
        var failed = log.all.contains { $0.severity == .error }
        let loaded = MappingLoader.load(mappings, defaultPeriod: settings.window, continuing: former, stored: stored)
        for diagnostic in loaded.diagnostics { log.add(diagnostic) }
        if let set = loaded.set {
            MappingOverlap.check(settings, mappings, log: &log)
            for mixed in MixedPayloads.check(settings, set, mappings) {
                log.add(mixed)
                failed = true
            }
            for diagnostic in set.diagnostics(of: settings.output.profile, mappings) { log.add(diagnostic) }
        }
        return (failed ? nil : loaded.set, log.all)
    }

    /// The mappings in the order in which sources name them, each once.
    private static func resolve(_ settings: PipelineSettings, log: inout ConfigurationLog) -> [NamedMapping] {
        var seen: Set<String> = []
        var mappings: [NamedMapping] = []
        for (name, origin) in settings.namedMappings where seen.insert(name).inserted {
            do throws(MappingFilesError) {
                mappings.append(
                    MappingSelection.named(
                        try MappingCatalogue.resolve(name, withExamples: false),
                        compatibility: settings.compatibility,
                        fhirVersion: settings.output.version))
            } catch {
                log.add(.error, origin, error.description)
            }
        }
        return mappings
    }
}

extension PipelineSettings {
    /// Every mapping that a source uses, and where it was named.
    fileprivate var namedMappings: [(name: String, origin: SettingOrigin)] {
        listeningSources.flatMap { source in
            let origins = source.mappings.isEmpty ? origins : source.origins
            return mappings(of: source).enumerated().map { index, name in
                (name, origins["mappings[\(index)]"] ?? .commandLine("mappings"))
            }
        }
    }
}
