import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Of a packet only that is written which templates look at, times without text. A template that looks at everything
/// has all of it written as JSON: what the others read must be the same.
@Suite struct PacketDocumentTests {
    private static let characteristics = [
        ("2A37", "heartRate"), ("2A37", "rrInterval"), ("2A35", "systolic"), ("2A36", "cuffPressure"),
        ("2A18", "glucose"), ("2AA7", "glucose"), ("2A1C", "temperature"), ("2A1E", "intermediateTemperature"),
        ("2A5E", "oxygenSaturation"), ("2A5F", "pulseRate"), ("2A53", "cadence"), ("2A9D", "weight"),
        ("2A19", "batteryLevel"),
    ]

    /// Packets that chance alone would hardly make; nil stands for any byte.
    private static let wholes: [String: [UInt8?]] = [
        "2A18": [0x02, nil, 0, 0xEA, 0x07, 5, 10, 11, 12, 13, nil, 0, nil], "2AA7": [6, 0, nil, 0, nil, 0],
        "2A5E": [0, nil, 0, nil, 0], "2A5F": [0, nil, 0, nil, 0],
    ]

    private func run(_ characteristic: String, _ member: String, looksAtAll: Bool) throws -> MappingRun {
        let hasTime = !["2A18", "2AA7"].contains(characteristic)
        let match = characteristic == "2A37" ? "@\(member) > 0 && @contact != 'lost'" : "@\(member)"
        let one = template("one", match, member, hasTime: hasTime)
        let all = template("all", "@nothing.*", member, hasTime: hasTime)
        let templates = looksAtAll ? [one, all] : [one]
        let fhir = ["one", "all"].prefix(templates.count).map {
            """
            {"templateType":"CodeValueFhir","template":{"typeName":"\($0)","codes":[{"code":"c"}],
            "value":{"valueType":"Quantity","valueName":"x","unit":"1"}}}
            """
        }
        var run = try MappingRun(
            device: """
                {"templateType":"CollectionContent","payload":"gatt/\(characteristic)",
                "template":[\(templates.joined(separator: ","))]}
                """,
            fhir: #"{"templateType":"CollectionFhir","template":[\#(fhir.joined(separator: ","))]}"#)
        run.context = SourceContext(defaultDevice: Array("default".utf8), maxFuture: .max)
        return run
    }

    /// Where the clock of a device cannot be told, packets have only the time when they came.
    private func template(_ name: String, _ match: String, _ member: String, hasTime: Bool) -> String {
        """
        {"templateType":"JsonPathContent","template":{"typeName":"\(name)","typeMatchExpression":"$..[?(\(match))]",
        "deviceIdExpression":"$.device","timestampExpression":"$.\(hasTime ? "time" : "received")","startExpression":"$.start",
        "values":[{"valueName":"x","valueExpression":"$.\(member)","required":true}]}}
        """
    }

    @Test(arguments: characteristics)
    func whatIsNotWrittenIsNotMissed(_ characteristic: String, _ member: String) throws {
        var random = SeededGenerator(seed: Trials.seed(UInt64(member.utf8.count)))
        var packets: [[UInt8]] = []
        for round in 0..<3_000 {
            let count = Int.random(in: 1...20, using: &random)
            let chance = (0..<count).map { _ in UInt8.random(in: 0...40, using: &random) }
            let whole = PacketDocumentTests.wholes[characteristic].map { bytes in
                bytes.map { $0 ?? UInt8.random(in: 0...40, using: &random) }
            }
            packets.append(round % 2 == 0 ? whole ?? chance : chance)
        }
        let some = map(try run(characteristic, member, looksAtAll: false), packets)
        let all = map(try run(characteristic, member, looksAtAll: true), packets)
        #expect(some.readings.count > 50)
        #expect(some.readings == all.readings)
        #expect(some.rejections == all.rejections)
    }

    private func map(_ run: MappingRun, _ packets: [[UInt8]]) -> MappingRun.Outcome {
        run.bothWays { run in
            var mapper = run.mapper()
            var output = CollectingOutput(run.set)
            for (index, packet) in packets.enumerated() {
                let storage = PaddedBytes(copying: packet)
                let received = Instant(nanoseconds: 1_772_352_959_123_456_789 + Int64(index) * 1_000_000_007)
                mapper.mapDatagram(storage.view, context: run.context, received: received, output: &output)
            }
            return MappingRun.Outcome(readings: output.readings, rejections: output.rejections)
        }
    }
}
