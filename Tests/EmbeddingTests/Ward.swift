import Kymograph

/// Readings of a ward's devices go in, and Observations come out to `chart`.
func runWard(_ payloads: some AsyncSequence<[UInt8], Never>, data: String, chart: Chart) async throws -> EngineSummary {
    var configuration = EngineConfiguration(storage: .directory(data))
    configuration.mappings = ["reading"]
    configuration.window = .seconds(60)
    configuration.sinks = [EntrySink("chart") { entries in await chart.store(entries) }]
    configuration.onRejection = { print("rejected, \($0.reason.name): \(String(decoding: $0.bytes, as: UTF8.self))") }
    let engine = try KymographEngine(configuration)
    async let summary = engine.run()
    for await payload in payloads {
        let receipt = try await engine.submit(payload)
        print("\(receipt.readings) readings are on the disk, \(receipt.rejected.count) were rejected")
    }
    engine.stop()
    return try await summary
}
