package import KymographCore
package import KymographTemplates

extension ConfigurationLoader {
    /// Finds, loads and joins every mapping that the sources of `settings` use.
    ///
    /// Reads folders from disk. The set is nil when there was an error; the diagnostics of all mappings are given. With
    /// `continuing`, the set can replace that one in a running pipeline; with `continuingStored`, it can go on with the
    /// readings that a store has of these types. `replacing`: what one of the mappings would have in its files.
    package static func checkMappings(
        _ settings: PipelineSettings, continuing former: MappingSet? = nil, continuingStored stored: [FormerType] = [],
        replacing files: MappingFiles? = nil
    ) -> (set: MappingSet?, diagnostics: [Diagnostic]) {
        var log = ConfigurationLog()
        let mappings = resolve(settings, replacing: files, log: &log)
        checkFiles(settings.namedFiles, settings.origins, log: &log)
        for source in settings.listeningSources { checkFiles(source.namedFiles, source.origins, log: &log) }
        var failed = log.all.contains { $0.severity == .error }
        let loaded = MappingLoader.load(mappings, defaultPeriod: settings.window, continuing: former, stored: stored)
        for diagnostic in loaded.diagnostics { log.add(diagnostic) }
        if let set = loaded.set {
            MappingOverlap.check(settings, mappings, log: &log)
            checkFirstVersions(settings, set, log: &log)
            for mixed in MixedPayloads.check(settings, set, mappings) {
                log.add(mixed)
                failed = true
            }
            for diagnostic in set.diagnostics(of: settings.output, mappings) {
                log.add(diagnostic)
                failed = failed || diagnostic.severity == .error
            }
        }
        return (failed ? nil : loaded.set, log.all)
    }

    /// A server that keeps the first version of an Observation never hears that a reading was taken out of it.
    private static func checkFirstVersions(
        _ settings: PipelineSettings, _ set: MappingSet, log: inout ConfigurationLog
    ) {
        guard settings.output.keepsFirstVersion,
            settings.outgoingSinks.contains(where: { $0.address is ServerSettings })
        else { return }
        var types: [String] = []
        for linked in set.templates where linked.template.retracts && !types.contains(linked.template.typeName) {
            types.append(linked.template.typeName)
        }
        guard !types.isEmpty else { return }
        let named = types.prefix(Self.mostNamedTypes).map { "'\($0)'" }.joined(separator: ", ")
        let more = types.count - Self.mostNamedTypes
        log.add(
            .warning, settings.origins["output.write"] ?? .commandLine("output.write"),
            "servers keep the first version of an Observation, as final, also when a reading of it was taken back: the "
                + "mappings have retractions of \(named)\(more > 0 ? " and \(more) more" : "")",
            advice: "choose conditional-update, or take care that nothing is taken back")
    }

    /// How many types a warning names.
    private static let mostNamedTypes = 3

    /// A mapping by its files has two.
    private static func checkFiles(
        _ files: NamedMappingFiles, _ origins: [String: SettingOrigin], log: inout ConfigurationLog
    ) {
        guard let (given, missing) = files.lonely else { return }
        log.add(
            .error, origins[given] ?? .commandLine(given), "it is given without \(missing)",
            advice: "name both files of the mapping: deviceMapping and fhirMapping, or --device-mapping and "
                + "--fhir-mapping")
    }

    /// The files of `reference`: `replaced`, if they are of the same mapping.
    private static func content(
        of reference: MappingReference, _ replaced: MappingFiles?
    ) throws(MappingFilesError) -> MappingFiles {
        if let replaced, replaced.name == reference.name { return replaced }
        return try reference.files(withExamples: false)
    }

    /// The mappings in the order in which sources name them, each once.
    private static func resolve(
        _ settings: PipelineSettings, replacing files: MappingFiles?, log: inout ConfigurationLog
    ) -> [NamedMapping] {
        var seen: Set<String> = []
        var mappings: [NamedMapping] = []
        for (reference, origin) in settings.namedMappings where seen.insert(reference.name).inserted {
            do throws(MappingFilesError) {
                mappings.append(
                    MappingSelection.named(
                        try content(of: reference, files), compatibility: settings.compatibility,
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
    fileprivate var namedMappings: [(reference: MappingReference, origin: SettingOrigin)] {
        listeningSources.flatMap { source in
            let hasOwn = !source.namedFiles.references(beside: source.mappings).isEmpty
            let origins = hasOwn ? source.origins : origins
            return references(of: source).enumerated().map { index, reference in
                switch reference {
                case .named: (reference, origins["mappings[\(index)]"] ?? .commandLine("mappings"))
                case .files: (reference, origins["deviceMapping"] ?? .commandLine("deviceMapping"))
                }
            }
        }
    }
}
