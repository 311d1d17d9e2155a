import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Each sink gets the Observations that its filter names, whole, and no others.
@Suite struct SinkFilterTests {
    private static let devices = ["a-1", "a-2", "b-1"]
    private static let types = ["heartRate", "bodyTemperature", "oxygenSaturation"]

    /// One reading, and the source that gives it.
    private struct Delivery {
        var source: Int
        var device: String
        var type: String
        var line: [UInt8]
    }

    private static func deliveries(seed: UInt64) -> [Delivery] {
        var random = SeededGenerator(seed: seed)
        return (0..<150).map { index in
            let (device, type) = (
                devices[Int.random(in: 0..<3, using: &random)], types[Int.random(in: 0..<3, using: &random)]
            )
            let second = max(0, index - Int.random(in: 0..<120, using: &random))
            // No two readings have one time: of two that have, windows keep one, and with it one source.
            let time = [second / 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
            let unit = ["heartRate": "/min", "bodyTemperature": "Cel", "oxygenSaturation": "%"][type] ?? ""
            let value = ["heartRate": 70, "bodyTemperature": 37, "oxygenSaturation": 97][type] ?? 0
            let text = """
                {"deviceId":"\(device)","type":"\(type)",\
                "timestamp":"2026-03-01T08:\(time).\(String(1_000 + index).dropFirst())Z",\
                "value":\(value + Int.random(in: 0..<3, using: &random)),"unit":"\(unit)"}
                """
            return Delivery(
                source: Int.random(in: 0..<3, using: &random), device: device, type: type, line: Array(text.utf8))
        }
    }

    private static func filters(seed: UInt64) -> [SinkFilter] {
        var random = SeededGenerator(seed: seed)
        return (0..<1 + Int.random(in: 0..<4, using: &random)).map { _ in
            var filter = SinkFilter()
            if Int.random(in: 0..<2, using: &random) == 0 {
                filter.types = [NamePattern(types[Int.random(in: 0..<3, using: &random)])]
            }
            if Int.random(in: 0..<3, using: &random) == 0 { filter.types.append(NamePattern("body*")) }
            if Int.random(in: 0..<2, using: &random) == 0 {
                filter.devices = [NamePattern(["a-*", "b-1", "*-1"][Int.random(in: 0..<3, using: &random)])]
            }
            if Int.random(in: 0..<2, using: &random) == 0 {
                filter.sources = [1 + Int.random(in: 0..<3, using: &random)]
            }
            return filter
        }
    }

    /// Whether a reading makes its window one of those that `filter` lets pass.
    private static func passes(_ delivery: Delivery, _ filter: SinkFilter) -> Bool {
        (filter.types.isEmpty || filter.types.contains { $0.matches(delivery.type.utf8) })
            && (filter.devices.isEmpty || filter.devices.contains { $0.matches(delivery.device.utf8) })
            && (filter.sources?.contains(delivery.source + 1) ?? true)
    }

    private static func play(
        _ set: MappingSet, _ deliveries: [Delivery], _ filters: [SinkFilter], pauses: Bool
    ) throws -> PipelineRehearsal.Record {
        let settings = WindowSettings(lateness: 5_000_000_000, idle: 1_000_000_000)
        var rehearsal = PipelineRehearsal(set: set, settings: settings, sources: 3, filters: filters)
        for (index, delivery) in deliveries.enumerated() {
            rehearsal.take(delivery.line, source: delivery.source, isBatchEnd: index % 7 == 6)
            // Windows close, and are amended by what comes then.
            if pauses, index % 50 == 49 { rehearsal.pass(nanoseconds: 2_000_000_000) }
        }
        _ = try rehearsal.end()
        return rehearsal.record
    }

    @Test func eachGetsWhatItsFilterNames() throws {
        let set = try #require(MappingSelection.load(["reading"], defaultPeriod: 20_000_000_000).set)
        let seeds = Trials.seeds(tenthOf: 30)
        var (some, amended) = (0, 0)
        for seed in seeds {
            let deliveries = SinkFilterTests.deliveries(seed: seed)
            let filters = SinkFilterTests.filters(seed: seed &* 7)
            let record = try SinkFilterTests.play(set, deliveries, filters, pauses: true)
            let whole = try SinkFilterTests.play(set, deliveries, [], pauses: false).reader(of: 0)
            #expect(record.accounted == deliveries.count)
            amended += record.tally.amended
            for (sink, filter) in filters.enumerated() {
                let wanted = deliveries.filter { SinkFilterTests.passes($0, filter) }
                let names = try SinkFilterTests.play(set, wanted, [], pauses: false).reader(of: 0).observations.keys
                let got = try record.reader(of: sink)
                try #require(Set(got.observations.keys) == Set(names), "seed \(seed), sink \(sink)")
                let differences = got.differences(from: whole, ignoring: ["status"])
                    .filter { !$0.hasSuffix("is only on the right") }
                try #require(differences.isEmpty, "seed \(seed), sink \(sink): \(differences.prefix(3))")
                some += names.isEmpty || names.count == whole.observations.count ? 0 : 1
            }
        }
        #expect(
            some > seeds.count / 3 && amended > seeds.count, "too little was filtered or amended for this to say much")
    }

    /// What nobody wants is counted, and no bundle is made of it.
    @Test func whatNobodyWantsIsCounted() throws {
        let set = try #require(MappingSelection.load(["reading"], defaultPeriod: 20_000_000_000).set)
        var filter = SinkFilter()
        filter.types = [NamePattern("bloodPressure")]
        let deliveries = SinkFilterTests.deliveries(seed: 1)
        let record = try SinkFilterTests.play(set, deliveries, [filter], pauses: false)
        #expect(record.bundles.isEmpty && record.tally.observations == 0)
        #expect(record.tally.filtered == record.tally.windows + record.tally.amended && record.tally.filtered > 0)
        #expect(record.accounted == deliveries.count && record.tally.accepted > 0)
    }

    /// The tags are those of the FHIR template.
    @Test(arguments: [("research", true), ("urn:study|research", true), ("research-*", false), ("urn:study|*", true)])
    func tagsDecide(pattern: String, isWanted: Bool) throws {
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            "typeName":"t","typeMatchExpression":"$..[?(@v)]","deviceIdExpression":"$.d",
            "timestampExpression":"$.t","values":[{"valueName":"v","valueExpression":"$.v"}]}}]}
            """
        let fhir = """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"typeName":"t",
            "codes":[{"code":"8867-4","system":"http://loinc.org"}],"periodInterval":0,
            "tag":[{"system":"urn:study","code":"research"}],
            "value":{"valueType":"Quantity","valueName":"v","unit":"/min"}}}]}
            """
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
            fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
        let set = try #require(MappingLoader.load([mapping]).set)
        var filter = SinkFilter()
        filter.tags = [NamePattern(pattern)]
        var rehearsal = PipelineRehearsal(set: set, settings: WindowSettings(), filters: [filter])
        rehearsal.take(Array(#"{"d":"x","t":"2026-03-01T08:00:00Z","v":70}"#.utf8), isBatchEnd: true)
        _ = try rehearsal.end()
        #expect(rehearsal.record.tally.observations == (isWanted ? 1 : 0))
    }
}
