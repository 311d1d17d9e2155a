import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Text laid out for people.
@Suite struct PrettyJSONTests {
    @Test(arguments: [
        ("{}", "{}\n"), ("[]", "[]\n"), ("1", "1\n"), ("\"a\"", "\"a\"\n"), ("[{}]", "[\n  {}\n]\n"),
        ("{\"a\":1,\"b\":[1,2]}", "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ]\n}\n"),
        ("{\"a{\":\"[,:]\"}", "{\n  \"a{\": \"[,:]\"\n}\n"),
        ("[\"\\\"\",\"\\\\\",\"\\\\\\\"[\"]", "[\n  \"\\\"\",\n  \"\\\\\",\n  \"\\\\\\\"[\"\n]\n"),
        ("{\"a\":{\"b\":{}},\"c\":[]}", "{\n  \"a\": {\n    \"b\": {}\n  },\n  \"c\": []\n}\n"),
    ])
    func layout(text: String, pretty: String) {
        #expect(String(decoding: PrettyJSON.format(Array(text.utf8)), as: UTF8.self) == pretty)
    }

    /// Only the layout changes, also of deep and odd documents.
    @Test func contentStays() throws {
        for seed in Trials.seeds(200) {
            var generator = SeededGenerator(seed: seed)
            let text = Array(document(&generator, depth: 5).utf8)
            let pretty = PrettyJSON.format(text)
            try #require(try JSONTree(parsing: pretty) == JSONTree(parsing: text), "seed \(seed)")
        }
    }

    private func document(_ generator: inout SeededGenerator, depth: Int) -> String {
        let count = Int.random(in: 0..<4, using: &generator)
        switch Int.random(in: 0..<(depth > 0 ? 4 : 2), using: &generator) {
        case 0: return ["null", "-1.50e+3", "true"].randomElement(using: &generator) ?? "0"
        case 1:
            return "\"" + (["{", "\\\"", "\\\\", "]", ",", "\\u00e9", ":"].shuffled(using: &generator).joined()) + "\""
        case 2:
            return "[" + (0..<count).map { _ in document(&generator, depth: depth - 1) }.joined(separator: ",") + "]"
        default:
            let members = (0..<count).map { "\"k\($0)\\\"\":" + document(&generator, depth: depth - 1) }
            return "{" + members.joined(separator: ",") + "}"
        }
    }
}

/// One payload all the way, as `kymo map` and `kymo test` do it.
@Suite struct PayloadPreviewTests {
    private static let good =
        #"{"deviceId":"watch-1","type":"heartRate","timestamp":"2026-03-01T08:00:05Z","value":72,"unit":"/min"}"#

    private func preview(
        _ payload: String, context: SourceContext = SourceContext(),
        received: Instant = Instant(seconds: 4_102_444_800)
    ) throws -> PayloadPreview {
        let set = try #require(PipelineRehearsal.reading)
        return PayloadPreview(
            payload: Array(payload.utf8), set: set, templates: set.templates(of: ["reading"]), context: context,
            received: received)
    }

    @Test func aReading() throws {
        let preview = try preview(PayloadPreviewTests.good)
        #expect(preview.measurements.count == 1 && preview.observations.count == 1 && preview.rejected.isEmpty)
        let measurement = try JSONTree(parsing: preview.measurements[0])
        #expect(measurement["Type"]?.text == "heartRate" && measurement["DeviceId"]?.text == "watch-1")
        #expect(measurement["IngestionTimeUtc"] ?? .null == .null, "the same payload always shows the same")
        let observation = try JSONTree(parsing: preview.observations[0])
        #expect(observation["resourceType"]?.text == "Observation" && observation["status"]?.text == "final")
        let json = try JSONTree(parsing: preview.json)
        #expect(json["measurements"]?.elements == [measurement] && json["observations"]?.elements == [observation])
        #expect(json["rejected"] == nil)
    }

    @Test func theTimeOfReceiptDoesNotShow() throws {
        let early = try preview(PayloadPreviewTests.good, received: Instant(seconds: 1_800_000_000)).json
        #expect(try preview(PayloadPreviewTests.good).json == early)
    }

    @Test func severalDocuments() throws {
        let other = PayloadPreviewTests.good.replacing("watch-1", with: "watch-2")
        let preview = try preview("\(PayloadPreviewTests.good)\n\(PayloadPreviewTests.good)\n[\(other),1]\n{")
        #expect(preview.measurements.count == 3, "duplicates are measured twice")
        #expect(preview.observations.count == 2, "and are one in the window")
        #expect(preview.rejected.map(\.reason) == [.noTemplate, .invalidJSON])
        #expect(preview.rejected.map(\.bytes) == [Array("1".utf8), Array("{".utf8)])
    }

    @Test func details() throws {
        let preview = try preview(PayloadPreviewTests.good.replacing("72", with: "null"))
        #expect(preview.measurements.isEmpty && preview.observations.isEmpty)
        #expect(preview.rejected.first?.reason == .nullValue)
        #expect(preview.rejected.first?.detail.contains("beatsPerMinute") == true)
        let rejected = try JSONTree(parsing: preview.json)["rejected"]?.elements?.first
        #expect(rejected?["reason"]?.text == "nullValue" && rejected?["detail"]?.text?.isEmpty == false)
    }

    @Test func contextHelpsOut() throws {
        let anonymous = PayloadPreviewTests.good.replacing("\"deviceId\":\"watch-1\",", with: "")
        #expect(try preview(anonymous).rejected.map(\.reason) == [.noDevice])
        let context = SourceContext(defaultDevice: Array("phone-7".utf8), defaultPatient: Array("p-7".utf8))
        let text = String(decoding: try preview(anonymous, context: context).json, as: UTF8.self)
        #expect(text.contains("phone-7") && text.contains("p-7"))
    }

    @Test func nothing() throws {
        for payload in ["", " \r\n\t", "[]"] {
            #expect(String(decoding: try preview(payload).json, as: UTF8.self) == "{}")
        }
    }

    @Test func anAheadClock() throws {
        let preview = try preview(PayloadPreviewTests.good, received: Instant(seconds: 1_700_000_000))
        #expect(preview.rejected.map(\.reason) == [.clockAhead])
    }
}
