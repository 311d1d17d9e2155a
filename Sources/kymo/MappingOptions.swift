import ArgumentParser
import Kymograph
import KymographCore

/// `--mapping` and what it loads.
struct MappingOptions: ParsableArguments {
    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            "Mapping of the payloads: a catalogue name, or a folder (with a / in it). Repeatable. Default: reading.",
            valueName: "name|dir"))
    var names: [String] = []

    /// The mappings named, or the default one.
    var effective: [String] { names.isEmpty ? ["reading"] : names }

    /// Loads the mappings; prints what is wrong and ends with 78 when they cannot be used.
    func load() throws -> (set: MappingSet, files: [MappingFiles]) {
        let loaded = MappingSelection.load(effective)
        Diagnostics.write(loaded.diagnostics)
        guard let set = loaded.set else { throw ExitCode(ExitStatus.config) }
        return (set, loaded.files)
    }
}

/// Prints findings.
enum Diagnostics {
    /// Writes one line each to standard error.
    static func write(_ diagnostics: [Diagnostic]) {
        for diagnostic in diagnostics { StandardError.write(diagnostic.fullText + "\n") }
    }
}
