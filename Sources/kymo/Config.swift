import ArgumentParser
import Kymograph
import KymographTemplates

/// `kymo config`: what can be configured, and what is.
struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print the effective settings, an example of all settings, or their JSON Schema.",
        discussion: """
            Example: kymo config print --config kymo.yaml --defaults
            """,
        subcommands: [Print.self, Example.self, Schema.self])

    /// `kymo config print`.
    struct Print: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "print",
            abstract: "Print the effective settings, and where each was written; secrets are masked.",
            discussion: """
                Takes the options of run. Prints a configuration file with what flags, environment and files say \
                together, which kymo check and kymo run take. With an error in these, it exits with status 78 and says \
                where; the files of mappings are for kymo check.

                --format yaml is the default, with origins as comments; --format json prints JSON. (bundle and ndjson \
                set the output's format, as in run.)

                Example: kymo config print --config kymo.yaml --defaults --format json --origins
                """)

        @OptionGroup var settings: SettingOptions

        @Flag(help: "Print settings that are not stated, too, with their defaults.")
        var defaults = false

        @Flag(help: "With --format json: print {\"settings\": …, \"origins\": …}.")
        var origins = false

        func run() throws {
            var options = settings
            let isJSON = options.output.format == "json"
            if isJSON || options.output.format == "yaml" { options.output.format = nil }
            let (settings, diagnostics) = ConfigurationLoader.load(try options.input())
            Diagnostics.write(diagnostics)
            guard !diagnostics.contains(where: { $0.severity == .error }) else { throw ExitCode(ExitStatus.config) }
            let effective = EffectiveSettings(settings, withDefaults: defaults)
            try StandardOutput.write(data: isJSON ? effective.json(withOrigins: origins) : Array(effective.yaml.utf8))
        }
    }

    /// `kymo config example`.
    struct Example: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "example",
            abstract: "Print a configuration file with every setting, what it is for and its default.",
            discussion: "Example: kymo config example > kymo.yaml")

        func run() throws { try StandardOutput.write(Array(ConfigurationExample.yaml.utf8)) }
    }

    /// `kymo config schema`.
    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Print the JSON Schema (2020-12) of the configuration file, for editors.",
            discussion: "Example: kymo config schema > kymo.schema.json")

        func run() throws { try StandardOutput.write(ConfigurationSchema.document) }
    }
}
