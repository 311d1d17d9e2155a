import Kymograph

/// A configuration that may name pipes and netstrings.
func extendedConfiguration(_ yaml: String) -> EngineConfiguration {
    var configuration = EngineConfiguration(yaml, name: "kymo.yaml")
    configuration.sourceKinds = [FIFOSource.descriptor]
    configuration.framings = [NetstringProtocol.descriptor]
    return configuration
}
