import KymographCore
import KymographTemplates
import Testing

/// What the two files of a mapping say against each other.
@Suite struct MappingJoinTests {
    private static func device(_ templates: String...) -> String {
        let shells = templates.map { #"{"templateType":"JsonPathContent","template":{\#($0)}}"# }
        return #"{"templateType":"CollectionContent","template":["# + shells.joined(separator: ",\n") + "]}"
    }

    private static func type(_ name: String, values: [String], more: String = "", match: String = "@v") -> String {
        let values = values.map { #"{"valueName":"\#($0)","valueExpression":"$.\#($0)"}"# }
        return #""typeName":"\#(name)","typeMatchExpression":"$..[?(\#(match))]","deviceIdExpression":"$.d","#
            + #""timestampExpression":"$.t","values":[\#(values.joined(separator: ","))]\#(more)"#
    }

    private static func fhir(_ name: String, values: [String], more: String = "") -> String {
        let components = values.map {
            #"{"codes":[{"system":"urn:x","code":"\#($0)"}],"#
                + #""value":{"valueType":"Quantity","valueName":"\#($0)","code":"1"}}"#
        }
        return #"{"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":"#
            + #"{"typeName":"\#(name)","codes":[],"components":[\#(components.joined(separator: ","))]\#(more)}}]}"#
    }

    private func load(_ device: String, _ fhir: String) -> MappingLoader.Result {
        MappingLoader.load([
            NamedMapping(
                name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
                fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
        ])
    }

    private func codes(_ device: String, _ fhir: String) -> [String] {
        load(device, fhir).diagnostics.map { "\($0.severity.rawValue) \($0.code) \($0.template)" }
    }

    @Test func aMappingThatFitsIsSilent() {
        let device = Self.device(Self.type("a", values: ["v", "w"]))
        #expect(codes(device, Self.fhir("A", values: ["w", "v"])) == [])
    }

    /// A value in kilograms beside the unit of pounds would be a wrong quantity in every Observation.
    @Test(arguments: [
        ("kg", "g", "", true), ("kg", "m", "", true), ("Cel", "K", "", true), ("Cel", "[degF]", "", true),
        ("kg", "lbs", "", true), ("kg", "kg", "", false), ("kg", "10*3.g", "", false),
        ("/min", "{beats}/min", "", false),
        ("mg/dL", "mg/dl", "", false), ("mm[Hg]", "mmHg", "", false), ("kg", "no such unit", "", false),
        ("kg", "g", #","system":"urn:other""#, false), ("%", "1", "", true),
    ])
    func unitsOfBothFilesAreTheSame(_ to: String, _ code: String, _ more: String, _ isWrong: Bool) throws {
        let device = Self.device(
            Self.type("a", values: ["w"], match: "@w").replacing(
                #""valueExpression":"$.w""#, with: #""valueExpression":"$.w","unit":{"from":"\#(to)","to":"\#(to)"}"#))
        let fhir = Self.fhir("a", values: ["w"]).replacing(
            #""code":"1""#, with: #""unit":"u","code":"\#(code)"\#(more)"#)
        let found = load(device, fhir)
        let errors = found.diagnostics.filter { $0.severity == .error }
        #expect(errors.map(\.code) == (isWrong ? ["unit-mismatch"] : []))
        #expect((found.set == nil) == isWrong)
        guard let error = errors.first else { return }
        #expect(error.text.hasPrefix("device.json:1:"))
        #expect(error.text.contains("'w' is converted to '\(to)', but fhir.json:1:"))
        #expect(error.text.contains("writes it as '\(code)'"))
    }

    /// The reference runs such a mapping: what is there is written.
    @Test func oneValueThatNobodyGivesIsAWarning() throws {
        let device = Self.device(Self.type("a", values: ["v", "weight"]))
        let result = load(device, Self.fhir("a", values: ["v", "wieght"]))
        #expect(result.set != nil)
        #expect(
            result.diagnostics.map { "\($0.code): \($0.advice)" } == [
                "unused-value: it will not appear in Observations; did you mean 'wieght'?",
                "unknown-value: did you mean 'weight'?",
            ])
        let preview = try MappingRun(device: device, fhir: Self.fhir("a", values: ["v", "wieght"]))
        #expect(preview.line(#"{"d":"x","t":"2021-07-13T17:29:01Z","v":1}"#).values("v") == ["1"])
    }

    @Test func noneOfTheValuesIsAnError() {
        let device = Self.device(Self.type("a", values: ["v"]))
        #expect(
            codes(device, Self.fhir("a", values: ["x", "y"])) == [
                "warning unused-value a", "error unknown-value a", "error unknown-value a",
            ])
    }

    @Test func correlationNeedsAnExpression() {
        let fhir = Self.fhir("a", values: ["v"], more: #","periodInterval":"CorrelationId""#)
        #expect(codes(Self.device(Self.type("a", values: ["v"])), fhir) == ["warning no-correlation a"])
        let more = #","correlationIdExpression":"$.s""#
        #expect(codes(Self.device(Self.type("a", values: ["v"], more: more)), fhir) == [])
    }

    @Test func sameMatchTwice() {
        let fhir = Self.fhir("a", values: ["v", "w"])
        func pair(_ first: String, _ second: String, match: String = "@v") -> [String] {
            codes(
                Self.device(Self.type("a", values: ["v", first]), Self.type("a", values: [second], match: match)), fhir)
        }
        #expect(pair("w", "w") == ["warning same-match a"])
        #expect(pair("w", "w", match: "@w") == [], "another match")
        #expect(codes(Self.device(Self.type("a", values: ["v"]), Self.type("a", values: ["w"])), fhir) == [], "joined")
    }

    /// What could not be read is not missing.
    @Test func brokenTemplatesAreNotCalledMissing() {
        let device = Self.device(Self.type("a", values: ["v"]), #""typeName":"b""#)
        let found = codes(device, Self.fhir("b", values: ["v"]))
        #expect(found == Array(repeating: "error missing-field b", count: 3))
        let fhir = Self.fhir("a", values: ["v"]).replacing("Quantity", with: "Quantty")
        #expect(codes(Self.device(Self.type("a", values: ["v"])), fhir) == ["error unknown-choice a"])
    }
}
