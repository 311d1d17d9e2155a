import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo capabilities`: what this program can do.
struct CapabilitiesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capabilities",
        abstract:
            "Print what this kymo can do, as JSON: versions, types, framings, kinds of sources and sinks, limits.",
        discussion: """
            The mappings that are built in with their types, and those that --mapping or --config name; limits as the \
            configuration sets them. No instance needs to run. docs/capabilities.schema.json describes the document.

            Example: kymo capabilities --mapping wristband
            """)

    @Option(
        help: ArgumentHelp("Configuration file of 'kymo run' (YAML or JSON).", valueName: "file"), completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp("A mapping besides those that are built in. Repeatable.", valueName: "name|dir"))
    var mapping: [String] = []

    @OptionGroup var mappingFiles: MappingFileOptions

    func run() throws {
        var flags: [(key: String, flag: String, value: String)] = mapping.map { ("mappings", "--mapping", $0) }
        flags += mappingFiles.flags
        let environment = ProcessInfo.processInfo.environment
        let input = ConfigurationInput(flags: flags, environment: environment, file: try ConfigurationFile.read(config))
        let (settings, problems) = ConfigurationLoader.load(input)
        let (set, findings) = ConfigurationLoader.checkMappings(settings)
        let errors = (problems + findings).filter { $0.severity == .error }
        Diagnostics.write(errors)
        guard errors.isEmpty, let set else { throw ExitCode(ExitStatus.config) }
        try StandardOutput.write(try PrettyText.pretty(Capabilities(settings, named: Self.named(set))))
    }

    /// The mappings of `set` that are not built in, with their types.
    private static func named(_ set: MappingSet) -> [(name: String, types: [String])] {
        set.mappings.filter { !MappingCatalogue.names.contains($0) }.map { name in
            let templates = set.templates.indices.map { set.describe(template: $0) }.filter { $0.mapping == name }
            return (name, Set(templates.map(\.typeName)).sorted())
        }
    }
}
