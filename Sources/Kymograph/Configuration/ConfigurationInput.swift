/// Everything that can say how the pipeline runs, weakest first: file, environment, flags.
package struct ConfigurationInput: Sendable {
    /// Flags: the dotted key of the setting, the flag as the user wrote it (`--window`), and its value.
    ///
    /// The key `mappings` may occur several times; of another key the last one counts. The keys of ``kinds`` each name
    /// a source, with the value that the file would have; `defaultDevice`, `defaultPatient`, `timezone` and `insecure`
    /// are of all these sources.
    package var flags: [(key: String, flag: String, value: String)]
    /// Sources made by the caller. When there are any, or flags name some, those of environment and file are not used.
    package var flagSources: [PipelineSettings.Source]
    /// Environment variables; those that do not begin with `KYMO_` are no settings, and empty ones are ignored.
    package var environment: [String: String]
    /// Variables that values of the file may hold; nil for ``environment``.
    package var variables: [String: String]?
    /// The configuration file: its name for messages, where its includes begin, and its content.
    package var file: (name: String, bytes: [UInt8])?

    /// Sources that a program adds to those that are named.
    var addedSources: [PipelineSettings.Source] = []
    /// Sources where none is named or added; empty for ``PipelineSettings/defaultSources``.
    var usualSources: [PipelineSettings.Source] = []
    /// Whether a program adds sinks, so that none need be named.
    var hasAddedSinks = false

    /// The kinds of sources and framings that may be named.
    package var kinds = IngestKinds.builtIn
    /// The kinds of sinks that may be named.
    package var sinkKinds = SinkKinds.builtIn

    /// Makes an input; without arguments it leads to the defaults.
    package init(
        flags: [(key: String, flag: String, value: String)] = [], flagSources: [PipelineSettings.Source] = [],
        environment: [String: String] = [:], file: (name: String, bytes: [UInt8])? = nil
    ) {
        self.flags = flags
        self.flagSources = flagSources
        self.environment = environment
        self.file = file
    }
}
