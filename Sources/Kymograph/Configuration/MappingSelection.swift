package import KymographCore
package import KymographTemplates

/// Loads mappings that were named on a command line: by catalogue name, folder or two files.
package enum MappingSelection {
    /// The mappings, linked; `set` is nil when there was an error.
    package struct Loaded: Sendable {
        /// The linked mappings.
        package var set: MappingSet?
        /// Errors and warnings.
        package var diagnostics: [Diagnostic]
        /// The files of each mapping, examples included, in the order named.
        package var files: [MappingFiles]
    }

    /// Resolves and loads `names`, of the catalogue and of folders, as the function of ``MappingReference`` does.
    package static func load(
        _ names: [String], defaultPeriod: Int64 = 300_000_000_000, compatibility: Compatibility = .none,
        fhirVersion: FHIRVersion = .r4
    ) -> Loaded {
        load(
            names.map { MappingReference.named($0) }, defaultPeriod: defaultPeriod, compatibility: compatibility,
            fhirVersion: fhirVersion)
    }

    /// Resolves and loads `references`; templates without a period that summarise get windows of `defaultPeriod`
    /// nanoseconds.
    package static func load(
        _ references: [MappingReference], defaultPeriod: Int64 = 300_000_000_000,
        compatibility: Compatibility = .none, fhirVersion: FHIRVersion = .r4
    ) -> Loaded {
        var files: [MappingFiles] = []
        var diagnostics: [Diagnostic] = []
        for reference in references {
            do throws(MappingFilesError) {
                files.append(try reference.files())
            } catch {
                diagnostics.append(
                    Diagnostic(
                        .error, file: "mapping \(reference.name)", position: .start, message: error.description))
            }
        }
        guard diagnostics.isEmpty else { return Loaded(set: nil, diagnostics: diagnostics, files: files) }
        return load(files, defaultPeriod: defaultPeriod, compatibility: compatibility, fhirVersion: fhirVersion)
    }

    /// Loads mappings whose files have been read, linked as those of one source.
    package static func load(
        _ files: [MappingFiles], defaultPeriod: Int64 = 300_000_000_000, compatibility: Compatibility,
        fhirVersion: FHIRVersion = .r4
    ) -> Loaded {
        let mappings = files.map { named($0, compatibility: compatibility, fhirVersion: fhirVersion) }
        let result = MappingLoader.load(mappings, defaultPeriod: defaultPeriod)
        let names = files.map(\.name)
        let mixed = result.set.flatMap { MixedPayloads.find(in: names, of: $0, mappings, source: "one source") }
        return Loaded(
            set: mixed == nil ? result.set : nil, diagnostics: result.diagnostics + (mixed.map { [$0] } ?? []),
            files: files)
    }

    /// The mapping with the file names that messages show: a path for a folder, `mapping/file` for the catalogue.
    static func named(
        _ files: MappingFiles, compatibility: Compatibility = .none, fhirVersion: FHIRVersion = .r4
    ) -> NamedMapping {
        var mapping = NamedMapping(
            name: files.name, device: MappingFile(name: files.deviceFile, bytes: files.device),
            fhir: MappingFile(name: files.fhirFile, bytes: files.fhir), compatibility: compatibility,
            fhirVersion: fhirVersion)
        mapping.extensible = extensible
        mapping.isOfCatalogue = MappingCatalogue.files(of: files.name, withExamples: false)?.device == files.device
        return mapping
    }

    /// The mappings of the catalogue.
    private static let extensible = ExtensibleMappings(names: MappingCatalogue.names) { name in
        MappingCatalogue.files(of: name, withExamples: false).map { ($0.device, $0.fhir) }
    }
}
