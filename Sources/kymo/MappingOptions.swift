import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// `--mapping` and what it loads.
struct MappingOptions: ParsableArguments {
    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            "Mapping of the payloads: a catalogue name, or a folder (with a / in it). Repeatable. Default: reading.",
            valueName: "name|dir"))
    var names: [String] = []

    @OptionGroup var files: MappingFileOptions

    @Option(help: CompatibilityOption.help, transform: CompatibilityOption.parse)
    var compatibility = Compatibility.none

    @Option(help: FHIRVersionOption.help, transform: FHIRVersionOption.parse)
    var fhirVersion = FHIRVersion.r4

    /// The mappings named, or the default one; exits with status 78 when one is named by half.
    func references() throws -> [MappingReference] {
        let named = names.map { MappingReference.named($0) } + [try files.reference()].compactMap { $0 }
        return named.isEmpty ? [.named(PipelineSettings.usualMapping)] : named
    }

    /// Loads the mappings; prints what is wrong and exits with status 78 when they cannot be used.
    func load() throws -> (set: MappingSet, files: [MappingFiles]) {
        let loaded = MappingSelection.load(
            try references(), compatibility: compatibility, fhirVersion: fhirVersion)
        Diagnostics.write(loaded.diagnostics)
        guard let set = loaded.set else { throw ExitCode(ExitStatus.config) }
        return (set, loaded.files)
    }
}

/// `--compatibility`.
enum CompatibilityOption {
    static let help = ArgumentHelp(
        "iomt-fhir: mappings give what they gave in the MedTech service, quirks included. Default: none.",
        valueName: "none|iomt-fhir")

    static func parse(_ name: String) throws -> Compatibility {
        if let known = Compatibility(rawValue: name) { return known }
        throw ValidationError("'\(name)' is not one of none, iomt-fhir")
    }
}

/// `--fhir-version`.
enum FHIRVersionOption {
    static let help = ArgumentHelp(
        "Version of FHIR that is written; mappings that name one must name the same. Default: R4.",
        valueName: FHIRVersion.allCases.map(\.rawValue).joined(separator: "|"))

    static func parse(_ name: String) throws -> FHIRVersion {
        if let known = FHIRVersion(rawValue: name) { return known }
        throw ValidationError("'\(name)' is not one of \(FHIRVersion.allCases.map(\.rawValue).joined(separator: ", "))")
    }
}

/// Prints findings.
enum Diagnostics {
    /// Writes one line each to standard error.
    static func write(_ diagnostics: [Diagnostic]) {
        for diagnostic in diagnostics { StandardError.write(diagnostic.fullText + "\n") }
    }
}
