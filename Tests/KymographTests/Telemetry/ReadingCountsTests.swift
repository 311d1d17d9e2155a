import CommandSupport
@testable import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// Readings by mapping and type, as lanes count them.
@Suite struct ReadingCountsTests {
    /// A mapping with these types, each of which takes what has a member of its name.
    private static func set(_ types: [String], name: String = "many", continuing: MappingSet? = nil) throws
        -> MappingSet
    {
        let templates = types.map { type in
            #"""
            {"templateType":"JsonPathContent","template":{"typeName":"\#(type)",
            "typeMatchExpression":"$..[?(@\#(type))]",
            "deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s",
            "values":[{"valueName":"x","valueExpression":"$.\#(type)","required":true}]}}
            """#
        }
        let text = #"{"templateType":"CollectionContent","template":[\#(templates.joined(separator: ","))]}"#
        let device = MappingFile(name: "device.json", bytes: Array(text.utf8))
        let mapping = NamedMapping(name: name, device: device, fhir: nil)
        return try #require(MappingLoader.load([mapping], measurementsOnly: true, continuing: continuing).set)
    }

    private static func names(_ count: Int) -> [String] { (0..<count).map { "t\(String($0 + 1_000).dropFirst())" } }

    /// What is shown goes on to be, whatever else comes.
    @Test func typesBeyondTheLimitAreTogether() throws {
        let set = try Self.set(Self.names(503))
        let counts = ReadingCounts()
        let lane = counts.counts(of: set, lane: 0)
        for number in [502, 501] { lane.add(number) }
        #expect(counts.entries.map(\.type) == ["t501", "t502"])
        for number in 0..<503 { lane.add(number) }
        let entries = counts.entries
        #expect(entries.count == 501 && entries.map(\.count).reduce(0, +) == 505)
        let other = try #require(entries.first { $0.type == ReadingCounts.otherTypes })
        #expect(other.count == 3 && other.mapping == "many")
        #expect(entries.filter { $0.count == 2 }.map(\.type) == ["t501", "t502"])
        // The same, again and again.
        #expect(counts.entries.map(\.type) == entries.map(\.type))
    }

    /// A type that a mapping calls as the rest is called is one series with it.
    @Test func aTypeCalledOther() throws {
        let set = try Self.set(["other"] + Self.names(500))
        let counts = ReadingCounts()
        let lane = counts.counts(of: set, lane: 0)
        for number in 0..<501 { lane.add(number) }
        let entries = counts.entries
        #expect(Set(entries.map(\.type)).count == entries.count && entries.count <= 501)
        #expect(entries.map(\.count).reduce(0, +) == 501)
    }

    /// Lanes, and the sets that each has used, add up by name.
    @Test func lanesAndReloadsAddUp() throws {
        let first = try Self.set(["a", "b"])
        let second = try Self.set(["b", "c"], continuing: first)
        let counts = ReadingCounts()
        let lanes = (0..<2).map { counts.counts(of: first, lane: $0) }
        for lane in lanes { for number in 0..<2 { lane.add(number) } }
        let newer = counts.counts(of: second, lane: 0)
        for number in 0..<newer.count { newer.add(number) }
        // The other lane has not followed yet.
        lanes[1].add(0)
        #expect(counts.entries.map { "\($0.type) \($0.count)" } == ["a 3", "b 3", "c 1"])
    }

    /// Whichever way a reading takes through the mapper: the first of its shape, known ones, arrays, joined parts.
    @Test func everyWayIsCountedOnce() throws {
        let set = try #require(PipelineRehearsal.reading)
        var rehearsal = PipelineRehearsal(set: set, settings: WindowSettings())
        let lines = (0..<40).map { Readings.heartRate(second: $0) }
        for line in lines[..<20] { rehearsal.take(Array(line.utf8), isBatchEnd: true) }
        rehearsal.take(Array("[\(lines[20...].joined(separator: ","))]".utf8), isBatchEnd: true)
        rehearsal.take(Array("{\"deviceId\":\"a\"}".utf8), isBatchEnd: true)
        #expect(
            rehearsal.record.readings.entries.map { "\($0.mapping) \($0.type) \($0.count)" } == ["reading heartRate 40"]
        )
        #expect(rehearsal.record.routed == 40 && rehearsal.record.received == 41)
    }
}
