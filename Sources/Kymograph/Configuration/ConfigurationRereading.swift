import KymographCore
import KymographTemplates

/// Reads a configuration again while a pipeline runs with it: the same flags and environment, and the files as they
/// are then.
package struct ConfigurationRereading: Sendable {
    private let input: ConfigurationInput
    /// The configuration file.
    package let path: String

    /// For a configuration of `input` whose file is at `path`.
    package init(_ input: ConfigurationInput, path: String) {
        (self.input, self.path) = (input, path)
    }

    /// The settings, as a start would have them.
    func read() -> (settings: PipelineSettings, diagnostics: [Diagnostic]) {
        var input = input
        guard let bytes = FileSystem.content(path) else {
            let diagnostic = Diagnostic(
                .error, file: path, position: .start, message: "the file cannot be read", advice: "put it back")
            return (PipelineSettings(), [diagnostic])
        }
        input.file = (path, bytes)
        var (settings, diagnostics) = ConfigurationLoader.load(input)
        settings.sources = settings.listeningSources
        settings.settleStore(environment: input.environment)
        return (settings, diagnostics)
    }
}
