import Kymograph
import KymographTemplates

/// Loads a configuration file called `kymo.yaml` with these contents.
func load(
    _ yaml: String, environment: [String: String] = [:], flags: [(key: String, flag: String, value: String)] = [],
    flagSources: [PipelineSettings.Source] = []
) -> (settings: PipelineSettings, diagnostics: [Diagnostic]) {
    ConfigurationLoader.load(
        ConfigurationInput(
            flags: flags, flagSources: flagSources, environment: environment,
            file: (name: "kymo.yaml", bytes: Array(yaml.utf8))))
}

/// The messages about this file.
func messages(_ yaml: String, environment: [String: String] = [:]) -> [String] {
    load(yaml, environment: environment).diagnostics.map(\.text)
}
