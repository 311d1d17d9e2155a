import Kymograph

/// Reads NDJSON of an open descriptor to its end; Observations become files in `output`, and heart rates go to `chart`
/// besides.
func relay(_ descriptor: Int32, to output: String, and chart: Chart) async throws -> EngineSummary {
    var configuration = EngineConfiguration(
        """
        sources:
          - descriptor: \(descriptor)
            mappings: reading
            defaultPatient: p-7
        output:
          to: \(output)
          format: ndjson
        """, name: "relay", storage: .ephemeral)
    configuration.sourceKinds = [DescriptorSource.descriptor]
    var heartRates = EntrySink("chart") { entries in await chart.store(entries) }
    heartRates.types = ["heartRate"]
    configuration.sinks = [heartRates]
    return try await KymographEngine(configuration).run()
}
