import Kymograph

extension IngestKinds {
    /// What `kymo` knows, named pipes and netstrings.
    static let extended = IngestKinds.builtIn.adding(
        sources: [FIFOSource.descriptor], framings: [NetstringProtocol.descriptor])
}

extension SinkKinds {
    /// What `kymo` knows, and indices.
    static let extended = SinkKinds.builtIn.adding([IndexFile.descriptor])
}

/// Loads a configuration that may name them.
func extendedSettings(_ yaml: String) -> (settings: PipelineSettings, diagnostics: [Diagnostic]) {
    var input = ConfigurationInput(file: (name: "kymo.yaml", bytes: Array(yaml.utf8)))
    (input.kinds, input.sinkKinds) = (.extended, .extended)
    return ConfigurationLoader.load(input)
}
