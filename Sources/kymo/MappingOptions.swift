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

    @Option(name: .customLong("compatibility"), help: CompatibilityOption.help)
    var compatibilityName: String?

    @Option(name: .customLong("fhir-version"), help: FHIRVersionOption.help)
    var fhirVersionName: String?

    /// `--fhir-version`, or the default.
    var fhirVersion: FHIRVersion { get throws { try FHIRVersionOption.parse(fhirVersionName) } }

    /// The mappings named, or the default one; exits with status 78 when one is named by half.
    func references() throws -> [MappingReference] {
        let named = names.map { MappingReference.named($0) } + [try files.reference()].compactMap { $0 }
        return named.isEmpty ? [.named(PipelineSettings.usualMapping)] : named
    }

    /// Loads the mappings; prints what is wrong and exits with status 78 when they cannot be used.
    func load() throws -> (set: MappingSet, files: [MappingFiles]) {
        let compatibility = try CompatibilityOption.parse(compatibilityName)
        let loaded = MappingSelection.load(try references(), compatibility: compatibility, fhirVersion: try fhirVersion)
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

    /// The compatibility of this name, none without one; exits with status 78 when there is no such.
    static func parse(_ name: String?) throws -> Compatibility {
        guard let name else { return .none }
        if let known = Compatibility(rawValue: name) { return known }
        throw StandardError.exit(
            "--compatibility: '\(name)' is not one of none, iomt-fhir; write one of them", code: ExitStatus.config)
    }
}

/// `--fhir-version`.
enum FHIRVersionOption {
    static let help = ArgumentHelp(
        "Version of FHIR that is written; mappings that name one must name the same. Default: R4.",
        valueName: FHIRVersion.allCases.map(\.rawValue).joined(separator: "|"))

    /// The version of this name, R4 without one; exits with status 78 when there is no such.
    static func parse(_ name: String?) throws -> FHIRVersion {
        guard let name else { return .r4 }
        if let known = FHIRVersion(rawValue: name) { return known }
        let names = FHIRVersion.allCases.map(\.rawValue)
        let advice = NearestName.advice(for: name, among: names, otherwise: "write one of them")
        throw StandardError.exit(
            "--fhir-version: '\(name)' is not one of \(names.joined(separator: ", ")); \(advice)",
            code: ExitStatus.config)
    }
}

/// Prints findings.
enum Diagnostics {
    /// Writes one line each to standard error, and none twice.
    static func write(_ diagnostics: [Diagnostic]) {
        var written: Set<String> = []
        for text in diagnostics.map(\.fullText) where written.insert(text).inserted { StandardError.write(text + "\n") }
    }
}
