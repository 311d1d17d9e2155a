import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Mappings that are exchanged between readings: nothing is lost, and a window stays one Observation.
@Suite struct PipelineReloadTests {
    private static let minute: Int64 = 60_000_000_000

    /// A folder's mapping with the types `beat` (windows) and `pulse` (one Observation a reading).
    struct Mapping {
        var code = "one"
        var period = "1m"
        var valueType = "Statistics"
        var hasBeat = true
        /// Types before the others, so that all numbers move.
        var strangers = 0

        var named: NamedMapping {
            NamedMapping(
                name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
                fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
        }

        private var types: [String] { (0..<strangers).map { "stranger\($0)" } + (hasBeat ? ["beat"] : []) + ["pulse"] }

        private var device: String {
            let templates = types.map { name in
                #"""
                {"templateType":"JsonPathContent","template":{"typeName":"\#(name)",
                "typeMatchExpression":"$..[?(@\#(name))]","deviceIdExpression":"$.d","timestampExpression":"$.t",
                "values":[{"valueName":"\#(name)","valueExpression":"$.\#(name)","required":true}]}}
                """#
            }
            return #"{"templateType":"CollectionContent","template":[\#(templates.joined(separator: ","))]}"#
        }

        private var fhir: String {
            let templates = types.map { name in
                let isBeat = name == "beat"
                let statistics = #","components":["count","minimum","maximum"]"#
                let more = valueType == "Statistics" && isBeat ? statistics : ""
                return #"""
                    {"templateType":"CodeValueFhir","template":{"typeName":"\#(name)",
                    "period":"\#(isBeat ? period : "instance")","codes":[{"system":"urn:t","code":"\#(code)"}],
                    "value":{"valueType":"\#(isBeat ? valueType : "Quantity")","valueName":"\#(name)"\#(more),
                    "unit":"/min","code":"/min"}}}
                    """#
            }
            return #"{"templateType":"CollectionFhir","template":[\#(templates.joined(separator: ","))]}"#
        }

        func load(after former: MappingSet? = nil) throws -> MappingSet {
            let result = MappingLoader.load([named], continuing: former)
            return try #require(result.set, "\(result.diagnostics.map(\.text))")
        }
    }

    private static func line(_ second: Int, _ members: String, device: String = "d") -> [UInt8] {
        let time = [second / 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        return Array(#"{"d":"\#(device)","t":"2026-03-01T08:\#(time)Z",\#(members)}"#.utf8)
    }

    private func rehearsal(_ set: MappingSet, idle: Int64 = 0) -> PipelineRehearsal {
        PipelineRehearsal(set: set, settings: WindowSettings(lateness: 30_000_000_000, idle: idle))
    }

    private func codes(_ reader: BundleReader) -> [String] {
        reader.observations.values.compactMap { $0["code"]?["coding"]?.elements?.first?["code"]?.text }.sorted()
    }

    /// How many readings the Observation's count tells of; 1 where it tells none.
    private func count(_ observation: JSONTree) -> Int {
        for component in observation["component"]?.elements ?? [] {
            if case .number(let text) = component["valueInteger"] { return Int(text) ?? 0 }
        }
        return 1
    }

    @Test func aWindowOpenAtTheChangeIsOneObservation() throws {
        let first = try Mapping().load()
        var rehearsal = rehearsal(first)
        for second in 0..<20 { rehearsal.take(Self.line(second, #""beat":70"#), isBatchEnd: second % 7 == 0) }
        let second = try Mapping(code: "two", strangers: 3).load(after: first)
        rehearsal.adopt(second, names: ["m"])
        for second in 20..<50 { rehearsal.take(Self.line(second, #""beat":90"#), isBatchEnd: second % 7 == 0) }
        let reader = try rehearsal.end()
        let observation = try #require(reader.observations.values.first)
        #expect(reader.observations.count == 1 && codes(reader) == ["two"] && count(observation) == 50)
        #expect(rehearsal.record.tally.accepted == 50 && rehearsal.record.rejected == 0)
    }

    /// One Observation a reading: each has the template of the time when it was mapped, within one batch too.
    @Test func readingsBeforeAndAfter() throws {
        let first = try Mapping().load()
        var rehearsal = rehearsal(first)
        for second in 0..<10 { rehearsal.take(Self.line(second, #""pulse":70"#), isBatchEnd: false) }
        rehearsal.adopt(try Mapping(code: "two").load(after: first), names: ["m"])
        for second in 10..<25 { rehearsal.take(Self.line(second, #""pulse":70"#), isBatchEnd: false) }
        let reader = try rehearsal.end()
        #expect(codes(reader) == Array(repeating: "one", count: 10) + Array(repeating: "two", count: 15))
        #expect(reader.versions.values.allSatisfy { $0 == 1 })
    }

    /// What a window got under the former mapping is there when a late reading opens it again under the new one.
    @Test func aClosedWindowIsAmendedInFull() throws {
        let first = try Mapping().load()
        var rehearsal = rehearsal(first)
        for second in 0..<30 { rehearsal.take(Self.line(second, #""beat":70"#), isBatchEnd: false) }
        rehearsal.take(Self.line(200, #""beat":70"#), isBatchEnd: true)
        rehearsal.adopt(try Mapping(code: "two", strangers: 1).load(after: first), names: ["m"])
        rehearsal.take(Self.line(40, #""beat":60"#), isBatchEnd: true)
        let reader = try rehearsal.end()
        #expect(reader.observations.values.map { count($0) }.sorted() == [1, 31])
        #expect(rehearsal.record.tally.amended == 1 && rehearsal.record.tally.accepted == 32)
    }

    /// Windows of the former length end at the change with what they have; every reading is in one window.
    @Test func anotherPeriod() throws {
        let first = try Mapping(period: "5m").load()
        var rehearsal = rehearsal(first)
        for second in 0..<100 { rehearsal.take(Self.line(second, #""beat":70"#), isBatchEnd: false) }
        let second = try Mapping(code: "two", period: "1m").load(after: first)
        rehearsal.adopt(second, names: ["m"])
        rehearsal.work()
        #expect(rehearsal.record.tally.windows == 0, "counts come with the next tick")
        rehearsal.pass(nanoseconds: 1_000_000_000)
        #expect(rehearsal.record.tally.windows == 1)
        for second in 100..<200 { rehearsal.take(Self.line(second, #""beat":70"#), isBatchEnd: false) }
        let reader = try rehearsal.end()
        #expect(codes(reader) == ["one", "two", "two", "two"])
        #expect(reader.observations.values.map { count($0) }.reduce(0, +) == 200)
    }

    @Test func aTypeThatIsGone() throws {
        let first = try Mapping().load()
        var rehearsal = rehearsal(first)
        for second in 0..<10 { rehearsal.take(Self.line(second, #""beat":70"#), isBatchEnd: false) }
        let second = try Mapping(code: "two", hasBeat: false).load(after: first)
        rehearsal.adopt(second, names: ["m"])
        // Its windows are sent at once: no reading could close them.
        rehearsal.pass(nanoseconds: 1_000_000_000)
        #expect(rehearsal.record.tally.windows == 1)
        rehearsal.take(Self.line(11, #""beat":70"#), isBatchEnd: false)
        #expect(rehearsal.record.laneRejected == [.noTemplate: 1])
        // When it comes back, the window goes on where it was.
        rehearsal.adopt(try Mapping(code: "three").load(after: second), names: ["m"])
        for second in 10..<15 { rehearsal.take(Self.line(second, #""beat":70"#), isBatchEnd: false) }
        let reader = try rehearsal.end()
        let observation = try #require(reader.observations.values.first)
        #expect(reader.observations.count == 1 && count(observation) == 15 && codes(reader) == ["three"])
    }

    /// Values that were kept as texts count as numbers once a template reads them so, and the other way round.
    @Test(arguments: [("String", "Statistics"), ("Statistics", "String"), ("String", "SampledData")])
    func textsAndNumbers(first: String, second: String) throws {
        let former = try Mapping(valueType: first).load()
        var rehearsal = rehearsal(former)
        for second in 0..<10 { rehearsal.take(Self.line(second, #""beat":7\#(second).5"#), isBatchEnd: true) }
        rehearsal.adopt(try Mapping(valueType: second).load(after: former), names: ["m"])
        let reader = try rehearsal.end()
        let observation = try #require(reader.observations.values.first)
        #expect(reader.observations.count == 1 && rehearsal.record.tally.accepted == 10)
        switch second {
        case "Statistics":
            #expect(count(observation) == 10)
            #expect(observation["valueQuantity"]?["value"] == .number("75.00"))
        case "String": #expect(observation["valueString"]?.text == "79.5")
        default:
            let data = observation["valueSampledData"]?["data"]?.text ?? ""
            #expect(data.split(separator: " ").map(String.init) == (0..<10).map { "7\($0).5" })
        }
    }

    /// Any number of changes at any moment, with late and repeated readings, gives what none gives.
    @Test func anyChangesGiveTheSameObservations() throws {
        for seed in Trials.seeds(tenthOf: 60) {
            let (wanted, quiet) = try play(seed: seed, changes: false)
            let (found, record) = try play(seed: seed, changes: true)
            let differences = found.differences(from: wanted, ignoring: ["status"])
            try #require(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
            try #require(record.accounted == 400 && record.received == 400 && record.rejected == 0, "seed \(seed)")
            try #require(record.tally.duplicate == quiet.tally.duplicate, "seed \(seed)")
        }
    }

    private func play(seed: UInt64, changes: Bool) throws -> (BundleReader, PipelineRehearsal.Record) {
        var readings = SeededGenerator(seed: seed)
        var chance = SeededGenerator(seed: seed &+ 1_000)
        var set = try Mapping().load()
        var rehearsal = rehearsal(set, idle: 10_000_000_000)
        for index in 0..<400 {
            let type = Int.random(in: 0..<4, using: &readings) == 0 ? "pulse" : "beat"
            let second = max(0, index / 2 - Int.random(in: 0..<80, using: &readings))
            let device = "d\(Int.random(in: 0..<3, using: &readings))"
            let line = Self.line(second, #""\#(type)":\#(60 + second % 40)"#, device: device)
            rehearsal.take(line, isBatchEnd: Int.random(in: 0..<20, using: &readings) == 0)
            guard changes, Int.random(in: 0..<25, using: &chance) == 0 else { continue }
            set = try Mapping(strangers: Int.random(in: 0..<4, using: &chance)).load(after: set)
            rehearsal.adopt(set, names: ["m"])
            if Bool.random(using: &chance) { rehearsal.pass(nanoseconds: 11_000_000_000) }
        }
        let reader = try rehearsal.end()
        return (reader, rehearsal.record)
    }
}
