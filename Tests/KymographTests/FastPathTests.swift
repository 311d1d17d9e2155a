import KymographCore
import Testing

@testable import Kymograph

/// The examples of the catalogue give the same with a fast path as without, whatever came before.
@Suite struct FastPathTests {
    /// What a mapper made of a payload, with all that comparing dead letters and measurements could tell apart.
    private struct Outcome: Equatable {
        var measurements: [[UInt8]]
        var rejected: [[UInt8]]
        var reasons: [Rejection]
    }

    /// All examples in turns, three times, to one mapper: when they come again their shapes are known.
    private func outcomes(
        _ examples: [MappingExample], _ set: MappingSet, _ name: String, usesFastPath: Bool
    ) throws -> [Outcome] {
        var mapper = Mapper(set, templates: set.templates(of: [name]), usesFastPath: usesFastPath)
        var outcomes: [Outcome] = []
        for _ in 0..<3 {
            for example in examples {
                var collector = PayloadPreview.Collector()
                let storage = PaddedBytes(copying: try example.payload())
                mapper.mapDatagram(
                    storage.view, context: SourceContext(), received: Instant(seconds: 4_102_444_800),
                    output: &collector)
                outcomes.append(
                    Outcome(
                        measurements: collector.readings.map { $0.json(set) },
                        rejected: collector.rejected.map { $0.1 }, reasons: collector.rejected.map { $0.0 }))
            }
        }
        return outcomes
    }

    @Test(arguments: MappingCatalogue.names) func examplesGiveTheSame(_ name: String) throws {
        let set = try #require(MappingSelection.load([name]).set)
        let examples = try #require(MappingCatalogue.files(of: name)).examples
        let quick = try outcomes(examples, set, name, usesFastPath: true)
        #expect(quick == (try outcomes(examples, set, name, usesFastPath: false)))
        #expect(quick.contains { !$0.measurements.isEmpty })
    }

    @Test func theSettingReachesTheLanes() throws {
        let set = try #require(MappingSelection.load(["reading"]).set)
        var settings = PipelineSettings()
        settings.sources = [PipelineSettings.Source(.standardInput(descriptor: 0))]
        #expect(settings.laneInputs(set: set).map(\.usesFastPath) == [true])
        settings.usesFastPath = false
        #expect(settings.laneInputs(set: set).map(\.usesFastPath) == [false])
    }
}
