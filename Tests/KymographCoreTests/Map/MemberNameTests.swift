import KymographCore
import KymographTemplates
import Testing

/// Names of members that no mapping file has, or has in another case.
///
/// Each test fails where a misspelt name passes silently: the member would have no effect.
@Suite struct MemberNameTests {
    private static let device = """
        {"templateType":"CollectionContent","template":[
         {"templateType":"JsonPathContent","template":{"typeName":"t","typeMatchExpression":"$..[?(@v)]",
          "deviceIdExpression":"$.d","timestampExpression":"$.t",
          "values":[{"valueName":"v","valueExpression":"$.v"}]}}]}
        """
    private static let fhir = """
        {"templateType":"CollectionFhir","template":[
         {"templateType":"CodeValueFhir","template":{"typeName":"t","codes":[{"system":"urn:a","code":"b"}],
          "value":{"valueType":"Quantity","valueName":"v","unit":"u","code":"/min"}}}]}
        """

    private func load(
        _ device: String, _ fhir: String, _ compatibility: Compatibility = .none
    ) -> MappingLoader.Result {
        MappingLoader.load([
            NamedMapping(
                name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
                fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)), compatibility: compatibility)
        ])
    }

    private func expect(
        _ result: MappingLoader.Result, _ severity: Diagnostic.Severity, _ words: String,
        location: SourceLocation = #_sourceLocation
    ) {
        let texts = result.diagnostics.map(\.fullText)
        #expect(result.diagnostics.count == 1, "\(texts)", sourceLocation: location)
        let found = result.diagnostics.first
        #expect(found?.severity == severity && found?.code == "unknown-field", "\(texts)", sourceLocation: location)
        #expect(texts.first?.contains(words) == true, "\(texts)", sourceLocation: location)
        #expect((result.set == nil) == (severity == .error), sourceLocation: location)
    }

    /// In the shells around templates: errors here, and warnings where the reference is copied, which ignores them.
    @Test(arguments: [
        (
            #"{"templateType":"CollectionContent","#, #"{"payloads":"gatt","templateType":"CollectionContent","#,
            "payload"
        ),
        (
            #"{"templateType":"JsonPathContent","#,
            #"{"compatability":"none","templateType":"JsonPathContent","#, "'compatability'"
        ),
        (
            #"{"templateType":"CollectionFhir","#, #"{"fhirversion2":"R5","templateType":"CollectionFhir","#,
            "fhirVersion"
        ),
        (#"{"templateType":"CodeValueFhir","#, #"{"period":"5m","templateType":"CodeValueFhir","#, "'period'"),
    ])
    func unknownMembersOfShells(sound: String, wrong: String, words: String) {
        let (device, fhir) = (Self.device.replacing(sound, with: wrong), Self.fhir.replacing(sound, with: wrong))
        #expect(device != Self.device || fhir != Self.fhir)
        expect(load(device, fhir), .error, words)
        expect(load(device, fhir, .iomtFHIR), .warning, words)
    }

    /// The device file asks for both files.
    @Test func theFileItselfAsks() {
        let head = "{\"templateType\":\"CollectionContent\""
        let asking = Self.device.replacing(head, with: "\(head),\"compatibility\":\"iomt-fhir\"")
        expect(load(asking, Self.fhir.replacing("\"codes\"", with: "\"Codes\"")), .warning, "is read as 'codes'")
        expect(load(asking.replacing("\"values\"", with: "\"Values\""), Self.fhir), .warning, "is read as 'values'")
    }

    /// In another case: the reference reads them all the same.
    @Test(arguments: [
        ("valueName", "valuename"), ("typeName", "TypeName"), ("values", "Values"), ("templateType", "TemplateType"),
        ("valueExpression", "ValueExpression"), ("codes", "Codes"), ("unit", "Unit"),
    ])
    func namesInAnotherCase(name: String, other: String) throws {
        let (device, fhir) = (#""\#(name)":"#, #""\#(other)":"#)
        for file in [Self.device, Self.fhir] where file.contains(device) {
            let wrong = file.replacing(device, with: fhir, maxReplacements: 1)
            let isDevice = file == Self.device
            let files = (isDevice ? wrong : Self.device, isDevice ? Self.fhir : wrong)
            expect(load(files.0, files.1), .error, "did you mean '\(name)'?")
            expect(load(files.0, files.1, .iomtFHIR), .warning, "is read as '\(name)'")
        }
    }

    /// What the files do have: a schema for editors, and the reference's second spelling of one name.
    @Test func whatFilesMayHave() {
        let device = Self.device.replacing(
            "{\"templateType\":\"Coll", with: "{\"$schema\":\"x\",\"templateType\":\"Coll")
        let fhir = Self.fhir.replacing("\"valueType\"", with: "\"ValueType\"")
            .replacing(
                "{\"templateType\":\"Coll", with: "{\"$schema\":\"x\",\"fhirVersion\":\"R4\",\"templateType\":\"Coll")
        #expect(load(device, fhir).diagnostics.map(\.fullText) == [])
    }
}
