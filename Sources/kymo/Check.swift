import ArgumentParser
import Kymograph
import KymographCore

/// `kymo check`: configuration and mappings, without running anything.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the configuration and the mappings that it names; touch nothing.",
        discussion: """
            Takes the options of run. Prints every error and warning as file:line:column, and ends with 78 when there \
            is an error.

            Example: kymo check --config kymo.yaml --mapping ./my-device/
            """)

    @OptionGroup var settings: SettingOptions

    @Argument(help: ArgumentHelp("Further mappings: catalogue names or folders.", valueName: "name|dir"))
    var names: [String] = []

    func run() throws {
        var options = settings
        options.mapping += names
        let (settings, set, diagnostics) = try options.check()
        Diagnostics.write(diagnostics)
        let errors = diagnostics.filter { $0.severity == .error }.count
        let warnings = diagnostics.count - errors
        guard let settings, let set else {
            StandardError.write("kymo: \(errors) errors, \(warnings) warnings\n")
            throw ExitCode(ExitStatus.config)
        }
        let sources = settings.sources.map(\.configuration.kind.name).joined(separator: ", ")
        let mappings = set.mappings.joined(separator: ", ")
        let types = "\(set.types.count) types; \(warnings) warnings"
        StandardError.write("kymo: well: sources \(sources); mappings \(mappings); \(types)\n")
    }
}
