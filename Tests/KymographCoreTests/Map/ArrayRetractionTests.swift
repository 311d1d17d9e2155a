import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Arrays of a mapping with templates that take readings back: those without retractions are mapped element by element,
/// the others as a whole, with the retractions first.
@Suite struct ArrayRetractionTests {
    private static func retracting(_ type: String, _ match: String) -> String {
        """
        {"templateType":"JsonPathContent","template":{"typeName":"\(type)","retracts":true,
        "typeMatchExpression":"$..[?(\(match))]","deviceIdExpression":"$.device","timestampExpression":"$.ts"}}
        """
    }

    /// Finds nothing, but looks for it beside the elements: so arrays are mapped as a whole.
    private static let elsewhere = """
        {"templateType":"JsonPathContent","template":{"typeName":"level","typeMatchExpression":"$.nowhere",
        "deviceIdExpression":"$.d","timestampExpression":"$.t","values":[{"valueName":"x","valueExpression":"$.v"}]}}
        """

    private static func run(_ more: String...) throws -> MappingRun {
        let readings = KnownShapeTests.settled
        let fhir = readings.map {
            """
            {"templateType":"CodeValueFhir","template":{"typeName":"\($0.name)","codes":[{"code":"c"}],
            "value":{"valueType":"Quantity","valueName":"x","unit":"1"}}}
            """
        }
        let templates = readings.map(\.text) + [retracting("pulse", "@deleted == 'hr'")] + more
        return try MappingRun(
            device: #"{"templateType":"CollectionContent","template":[\#(templates.joined(separator: ","))]}"#,
            fhir: #"{"templateType":"CollectionFhir","template":[\#(fhir.joined(separator: ","))]}"#)
    }

    private struct Outcome: Equatable {
        var readings: [MappedReading]
        var rejections: [String]
        var retractions: [String]
    }

    private static func map(
        _ payload: [UInt8], _ mapper: inout Mapper, _ run: MappingRun, _ plain: inout Int
    ) -> Outcome {
        let storage = PaddedBytes(copying: payload)
        var output = CollectingOutput(run.set)
        mapper.mapLine(storage.view, context: run.context, received: run.received, output: &output)
        plain += output.plainReadings
        let isLate = output.hasLateRetraction
        #expect(!isLate, "\(String(decoding: payload, as: UTF8.self))")
        let order = KnownShapeTests.settled.map(\.name)
        return Outcome(
            readings: order.flatMap { name in output.readings.filter { $0.type == name } },
            rejections: output.rejections.map { "\($0)" }.sorted(), retractions: output.retractions)
    }

    private static func array(_ random: inout SeededGenerator) -> [UInt8] {
        let retractions = [
            #"{"device":"d-1","deleted":"hr","ts":"2023-11-14T22:13:20Z"}"#,
            #"{"deleted":"h\u0072","device":"d-2","ts":"2023-11-14T22:13:20Z"}"#,
            #"{"device":"d-1","deleted":"other","ts":"2023-11-14T22:13:20Z"}"#,
            #"{"device":"d-1","type":"hr","deleted":"hr","ts":"2023-11-14T22:13:20Z","value":72,"unit":"bpm"}"#,
        ]
        let elements = (0..<Int.random(in: 1...6, using: &random)).map { _ in
            Int.random(in: 0..<12, using: &random) == 0
                ? Array((retractions.randomElement(using: &random) ?? "").utf8)
                : GeneratedDocument.edited(&random, oneOf: 24)
        }
        return [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }

    @Test(arguments: Trials.seeds(tenthOf: 60)) func elementsGiveWhatTheArrayGives(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (run, whole) = (try Self.run(), try Self.run(Self.elsewhere))
        var mapper = run.mapper()
        var reference = whole.mapper()
        var (plain, plainOfWhole, retracted, taken) = (0, 0, 0, 0)
        for _ in 0..<300 {
            let payload = Self.array(&random)
            let outcome = Self.map(payload, &mapper, run, &plain)
            let expected = Self.map(payload, &reference, whole, &plainOfWhole)
            #expect(outcome == expected, "seed \(seed): \(String(decoding: payload, as: UTF8.self))")
            retracted += outcome.retractions.count
            taken += outcome.readings.count
        }
        #expect(retracted > 20 && taken > 100)
        // Those without retractions have taken the fast path.
        #expect(plain > 50 && plainOfWhole == 0, "seed \(seed): \(plain)")
    }

    /// A retraction that any document could be leaves arrays as they were before.
    @Test func aRetractionWithoutAMemberOfItsOwn() throws {
        let run = try Self.run(Self.retracting("level", "@deleted != 'x' || @gone"))
        var mapper = run.mapper()
        var plain = 0
        let reading = #"{"device":"d-1","type":"hr","ts":"2023-11-14T22:13:20Z","value":72,"unit":"bpm"}"#
        for _ in 0..<3 {
            let outcome = Self.map(Array("[\(reading),\(reading)]".utf8), &mapper, run, &plain)
            #expect(outcome.readings.count == 2)
        }
        #expect(plain == 0)
    }
}
