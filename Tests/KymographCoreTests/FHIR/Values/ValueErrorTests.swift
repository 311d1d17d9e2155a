import KymographCore
import KymographTemplates
import Testing

/// What is wrong with a template, with its place and remedy.
@Suite struct ValueErrorTests {
    private static let quantity = "\"valueType\":\"Quantity\",\"valueName\":\"v\",\"unit\":\"%\",\"code\":\"%\""

    private static let wrong: [(members: String, code: String, words: [String])] = [
        (
            ValueShape.value("\"valueType\":\"Range\",\"unit\":\"%\",\"code\":\"%\""), "missing-field",
            ["'low' or 'high'"]
        ),
        (
            ValueShape.value("\"valueType\":\"Ratio\",\"numerator\":\"a\""), "missing-field",
            ["'numerator' and 'denominator'"]
        ),
        (
            ValueShape.value("\(quantity),\"absent\":{\"NaN\":\"nan\"}"), "unknown-choice",
            ["unknown data-absent-reason 'nan'"]
        ),
        (ValueShape.value("\(quantity),\"absent\":7"), "wrong-kind", ["'absent' must be true or an object"]),
        (
            ValueShape.value(
                "\"valueType\":\"Statistics\",\"valueName\":\"v\",\"unit\":\"%\",\"code\":\"%\","
                    + "\"absent\":{\"255\":\"error\"}"), "misplaced-member", ["'255'", "\"map\""]
        ),
        (ValueShape.value("\(quantity),\"comparator\":\"<\""), "wrong-kind", ["'comparator' must be true or false"]),
        (
            ValueShape.value("\"valueType\":\"String\",\"valueName\":\"v\",\"comparator\":true"), "misplaced-member",
            ["'comparator' is a member of a Quantity"]
        ),
        (
            ValueShape.value("\"valueType\":\"Boolean\",\"valueName\":\"v\",\"interpretation\":[]"),
            "misplaced-member", ["a Quantity, an Integer or Statistics"]
        ),
        (
            ValueShape.value("\(quantity),\"interpretation\":[{\"below\":5,\"code\":\"LOW\"}]"), "unknown-choice",
            ["unknown interpretation 'LOW'"]
        ),
        (
            ValueShape.value("\(quantity),\"interpretation\":[{\"above\":5,\"below\":4,\"code\":\"L\"}]"),
            "wrong-bounds", ["no number is within these bounds"]
        ),
        (
            ValueShape.value("\(quantity),\"interpretation\":[{\"from\":5,\"above\":4,\"code\":\"L\"}]"),
            "wrong-bounds", ["stated twice"]
        ),
        (ValueShape.value("\(quantity),\"referenceRange\":[{}]"), "missing-field", ["'low', 'high' or 'text'"]),
        (
            ValueShape.value("\(quantity),\"referenceRange\":[{\"low\":5,\"high\":4}]"), "wrong-bounds", ["no number"]
        ),
        (
            ValueShape.value("\(quantity),\"timeInRanges\":[{\"text\":\"a\",\"below\":4}]"), "misplaced-member",
            ["the template's own Statistics"]
        ),
        (
            ValueShape.value(
                "\"valueType\":\"Statistics\",\"valueName\":\"v\",\"unit\":\"%\",\"code\":\"%\","
                    + "\"timeInRanges\":[{\"text\":\"a\"}]"), "empty-concept", ["needs 'codes' or 'text', and a bound"]
        ),
        (
            ValueShape.value(
                "\"valueType\":\"Statistics\",\"valueName\":\"v\",\"unit\":\"%\",\"code\":\"%\","
                    + "\"components\":[\"100-percent\"]"), "unknown-choice",
            ["unknown statistics component '100-percent'"]
        ),
        (
            ValueShape.value(
                "\"valueType\":\"Statistics\",\"valueName\":\"v\",\"unit\":\"%\",\"code\":\"%\",\"timeInRanges\":"
                    + "[{\"codes\":[{\"system\":\"urn:test\",\"code\":\"1\"}],\"below\":4}]"), "repeated-code",
            ["this range has the code of its Observation"]
        ),
        (ValueShape.value(quantity) + ",\"issued\":\"yes\"", "wrong-kind", ["'issued' must be true or false"]),
        (ValueShape.value(quantity) + ",\"method\":{}", "empty-concept", ["a method needs 'codes' or 'text'"]),
        (
            ValueShape.value(quantity) + ",\"performer\":[{\"type\":\"Nurse\",\"identifier\":{\"value\":\"1\"}}]",
            "unknown-choice", ["unknown type 'Nurse'"]
        ),
        (
            ValueShape.value(quantity) + ",\"extension\":[{\"url\":\"a\",\"valueCode\":\"b\"}]", "wrong-extension",
            ["must be absolute"]
        ),
        (
            ValueShape.value(quantity) + ",\"extension\":[{\"url\":\"urn:a\"}]", "wrong-extension",
            ["needs one value, found 0"]
        ),
        (
            ValueShape.value(quantity) + ",\"extension\":[{\"url\":\"urn:a\",\"valueInteger\":1.5}]",
            "wrong-extension", ["'valueInteger' cannot be this"]
        ),
        (
            ValueShape.value(quantity) + ",\"effectiveType\":\"Timing\"", "unknown-choice",
            ["unknown effectiveType 'Timing'"]
        ),
        (
            ValueShape.value(
                "\"valueType\":\"SampledData\",\"valueName\":\"v\",\"unit\":\"mV\",\"code\":\"mV\","
                    + "\"defaultPeriod\":4") + ",\"effectiveType\":\"dateTime\"", "effective-type",
            ["from the start of effectivePeriod"]
        ),
        (
            ValueShape.value("\(quantity),\"absent\":true")
                + ",\"components\":[{\"codes\":[{\"system\":\"urn:a\",\"code\":\"b\"}],\"value\":{\(quantity)}}]",
            "mixed-reading", ["'v' is read as a number by another value"]
        ),
        (
            ValueShape.value(
                "\"valueType\":\"Statistics\",\"valueName\":\"v\",\"unit\":\"steps\",\"code\":\"{steps}\""),
            "mean-of-counts", ["the mean of steps", "\"aggregate\": \"sum\""]
        ),
    ]

    @Test(arguments: wrong.indices) func namesWhatIsWrong(index: Int) throws {
        let subject = Self.wrong[index]
        var log = DiagnosticLog(file: "fhir.json")
        let text = """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":
            {"typeName":"x","period":"1h",\(subject.members)}}]}
            """
        _ = FHIRTemplateLoader.load(try TextJSON.parse(text), log: &log)
        let found = log.all.first { finding in
            finding.code == subject.code && subject.words.allSatisfy { finding.text.contains($0) }
        }
        let finding = try #require(found, "\(log.all.map(\.fullText))")
        #expect(finding.position.line > 1 && !finding.advice.isEmpty)
    }
}
