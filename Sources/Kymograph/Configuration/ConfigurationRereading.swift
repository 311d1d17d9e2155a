import KymographCore
import KymographTemplates

/// Reads a configuration again while a pipeline runs with it: the same flags and environment, and the files as they
/// are then.
package struct ConfigurationRereading: Sendable {
    private let input: ConfigurationInput
    private let sandbox: Sandbox?
    /// The configuration file.
    package let path: String

    /// For a configuration of `input` whose file is at `path`, in a process that may write what `sandbox` lets it, or
    /// without one anything.
    package init(_ input: ConfigurationInput, path: String, sandbox: Sandbox? = nil) {
        (self.input, self.path, self.sandbox) = (input, path, sandbox)
    }

    /// As ``read()``, with `watch` on what was read, which begins before the files are read so that no change goes
    /// unnoticed. Files that are included for the first time are read once more for that.
    func read(_ watch: inout ConfigurationWatch) -> (settings: PipelineSettings, diagnostics: [Diagnostic]) {
        watch.noteReading()
        var result = read()
        for _ in 0..<Self.rereads {
            var next = ConfigurationWatch(path, result.settings)
            guard !next.hasFiles(of: watch) else { break }
            next.noteReading()
            watch = next
            result = read()
        }
        return result
    }

    /// How often what is included may change meanwhile; what still does is noticed as a change.
    private static let rereads = 3

    /// The settings, as a start would have them. With errors where sources and sinks write what the process may not.
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
        if let sandbox { diagnostics += WrittenFiles(settings).findings(in: sandbox) }
        return (settings, diagnostics)
    }
}
