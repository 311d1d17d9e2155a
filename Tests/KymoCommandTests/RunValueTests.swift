import CommandSupport
import KymographTestKit
import Testing

/// What `kymo run` makes of readings that are more than a number, or less.
@Suite struct RunValueTests {
    private static let fhir = MappingText.fhir.replacing(
        "\"code\": \"/min\"}", with: "\"code\": \"/min\", \"absent\": true, \"comparator\": true}")

    private static func reading(_ second: Int, _ pulse: String) -> String {
        "{\"id\":\"p-1\",\"at\":\"2026-03-01T08:00:0\(second)Z\",\"pulse\":\(pulse)}\n"
    }

    /// A number, the same as text, a special value, a bound, and a text that nobody declared.
    @Test func specialValuesAreReasonsAndOthersAreDeadLetters() throws {
        let folder = TemporaryFolder()
        _ = folder.write("m/device.json", MappingText.device)
        _ = folder.write("m/fhir.json", Self.fhir)
        let pulses = ["61.50", "\"62\"", "\"NaN\"", "\"<30\"", "\"loose\""]
        let input = pulses.enumerated().map { Self.reading($0.offset, $0.element) }.joined()
        let done = try Kymo.run(
            [
                "run", "--stdin", "--mapping", folder.file("m/"), "--format", "ndjson", "--dead-letter",
                folder.file("dead.ndjson"),
            ], input: .bytes(Array(input.utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        let observations = try done.lines.map { try JSONTree(parsing: Array($0.utf8)) }
        try #require(observations.count == 4)
        let values = done.lines.map { line in
            line.firstMatch(of: /"(valueQuantity|dataAbsentReason)":\{.*?\}/).map { String($0.0) } ?? ""
        }
        let unit = "\"unit\":\"/min\",\"system\":\"http://unitsofmeasure.org\",\"code\":\"/min\"}"
        #expect(values.contains("\"valueQuantity\":{\"value\":61.50,\(unit)"))
        #expect(values.contains("\"valueQuantity\":{\"value\":62,\(unit)"))
        #expect(values.contains("\"valueQuantity\":{\"value\":30,\"comparator\":\"<\",\(unit)"))
        #expect(values.contains { $0.hasPrefix("\"dataAbsentReason\"") && $0.contains("\"not-a-number\"") })
        let balance = try #require(done.balance)
        #expect(balance.received == 5 && balance.accepted == 4 && balance.isClosed)
        #expect(String(decoding: Files.read(folder.file("dead.ndjson")), as: UTF8.self).contains("invalidValue"))
    }

    private static let twoValues = MappingText.device.replacing(
        ", \"required\": true}",
        with: "}, {\"valueName\": \"spo2\", \"valueExpression\": \"$.spo2\"}")
    private static let minute = MappingText.fhir
        .replacing("\"period\": \"instance\"", with: "\"period\": \"1m\"")
        .replacing(
            "\"Quantity\", \"valueName\": \"pulse\"",
            with: "\"Statistics\", \"valueName\": \"pulse\", \"components\": [\"count\"], \"absent\": true"
        )
        .replacing(
            "\"code\": \"/min\"}",
            with: "\"code\": \"/min\"}, \"components\": [{\"codes\": [{\"system\": \"urn:example\", \"code\": \"s\"}], "
                + "\"value\": {\"valueType\": \"Quantity\", \"valueName\": \"spo2\", \"code\": \"%\"}}]"
        )

    /// What is no number beside numbers costs neither them nor the other value, and the summary says so.
    @Test func whatIsNotWrittenIsCounted() throws {
        let folder = TemporaryFolder()
        _ = folder.write("m/device.json", Self.twoValues)
        _ = folder.write("m/fhir.json", Self.minute)
        let pulses = ["60", "\"NaN\"", "62", "61,\"spo2\":\"loose\""]
        let input = pulses.enumerated().map { Self.reading($0.offset, $0.element) }.joined()
        let done = try Kymo.run(
            ["run", "--stdin", "--mapping", folder.file("m/"), "--format", "ndjson"],
            input: .bytes(Array(input.utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        let observation = try JSONTree(parsing: Array(#require(done.lines.first).utf8))
        #expect(observation["valueQuantity"]?["value"] == .number("61.0"))
        let components = try #require(observation["component"]?.elements)
        #expect(components.count == 2 && components[0]["valueInteger"] == .number("3"))
        let reason = components[1]["dataAbsentReason"]?["coding"]?.elements?.first
        #expect(reason?["code"]?.text == "error")
        #expect(done.error.contains("passed over 1: ") && done.error.contains("unwritten 1: "), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.received == 4 && balance.accepted == 4 && balance.isClosed)
    }
}
