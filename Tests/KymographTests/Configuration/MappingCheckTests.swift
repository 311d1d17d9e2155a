import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// Mappings as sources name them: found, loaded, compared.
@Suite struct MappingCheckTests {
    private static func device(_ type: String, match: String) -> String {
        """
        {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
          "typeName": "\(type)", "typeMatchExpression": "\(match)", "deviceIdExpression": "$.d",
          "timestampExpression": "$.t", "values": [{"valueName": "v", "valueExpression": "$.v"}]}}]}
        """
    }

    private static func fhir(_ type: String) -> String {
        """
        {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
          "typeName": "\(type)", "codes": [{"code": "41950-7", "system": "http://loinc.org", "display": "Steps"}],
          "value": {"valueType": "Quantity", "valueName": "v", "unit": "steps", "code": "{steps}",
            "system": "http://unitsofmeasure.org"}}}]}
        """
    }

    /// Writes a mapping with one template into `folder` and gives its path, which is the mapping's name.
    private static func mapping(_ folder: MappingFolder, type: String, match: String) -> String {
        Files.write("\(folder.path)/device.json", Array(device(type, match: match).utf8))
        Files.write("\(folder.path)/fhir.json", Array(fhir(type).utf8))
        return folder.path
    }

    @Test func theDefaultsLoad() throws {
        let result = ConfigurationLoader.checkMappings(PipelineSettings())
        #expect(result.diagnostics.map(\.text) == [])
        #expect(try #require(result.set).mappings == ["reading"])
    }

    @Test func everySourceHasItsTemplates() throws {
        let settings = load(
            """
            maxFuture: 1s
            identity: strict
            sources:
              - stdin: true
              - udp: 127.0.0.1:1
                mappings: wristband
                defaultDevice: d
                defaultPatient: p
            """
        ).settings
        let set = try #require(ConfigurationLoader.checkMappings(settings).set)
        #expect(set.mappings == ["reading", "wristband"])
        let inputs = settings.sources.map { settings.laneInput($0, set: set) }
        #expect(
            inputs.map { Set($0.templates.map { set.describe(template: $0).mapping }) } == [["reading"], ["wristband"]])
        #expect(inputs[0].context.defaultDevice.isEmpty && inputs[1].context.defaultDevice == Array("d".utf8))
        #expect(inputs[1].context.defaultPatient == Array("p".utf8))
        #expect(inputs.allSatisfy { $0.context.requiresPatient && $0.context.maxFuture == 1_000_000_000 })
    }

    @Test func unknownMappingsAreNamedWhereTheyStand() {
        let settings = load(
            "mappings: [reading, readng]\nsources:\n- stdin: true\n- unix: a\n  mappings:\n    - ./no/such\n"
        ).settings
        let result = ConfigurationLoader.checkMappings(settings)
        #expect(result.set == nil)
        #expect(
            result.diagnostics.map(\.text) == [
                "kymo.yaml:1:21: error: mappings: no mapping is called 'readng': did you mean 'reading'? (a folder of "
                    + "your own needs a / in its path)",
                "kymo.yaml:6:7: error: sources[1].mappings: ./no/such: no such folder; a mapping is a folder with "
                    + "device.json and fhir.json",
            ])
    }

    @Test func anUnknownMappingOfAFlag() {
        let settings = load("", flags: [("mappings", "--mapping", "./no/such")]).settings
        #expect(
            ConfigurationLoader.checkMappings(settings).diagnostics.map(\.text) == [
                "command line:1:1: error: --mapping: ./no/such: no such folder; a mapping is a folder with "
                    + "device.json and fhir.json"
            ])
    }

    @Test func errorsInsideAMappingAreReported() {
        let folder = MappingFolder()
        let name = Self.mapping(folder, type: "hr", match: "$..[?(@v")
        let result = ConfigurationLoader.checkMappings(load("mappings: \(name)").settings)
        #expect(result.set == nil)
        #expect(result.diagnostics.contains { $0.file == "\(name)/device.json" && $0.severity == .error })
    }

    @Test func differentPayloadsOfASource() throws {
        let mixed = "sources: [{stdin: true, mappings: [reading, thermometer]}]"
        let result = ConfigurationLoader.checkMappings(load(mixed).settings)
        #expect(result.set == nil)
        #expect(
            result.diagnostics.map(\.fullText) == [
                "thermometer/device.json:1:1: error: the mappings 'reading' and 'thermometer' of stdin read different "
                    + "payloads; give each a source of its own [mixed-payloads]"
            ])
        let apart = "sources: [{stdin: true, mappings: reading}, {unix: a, mappings: [thermometer, weight-scale]}]"
        let sound = ConfigurationLoader.checkMappings(load(apart).settings)
        #expect(sound.set != nil && sound.diagnostics.isEmpty)
    }

    private static let keeping = "output: {write: conditional-create}\n"
    private static let server = "server: {url: 'https://fhir.example/r4', identity: create}\n"

    /// What was taken back stays on a server that keeps the first version of an Observation, and it is said once, where
    /// that is set.
    @Test func retractionsThatNoServerHearsOf() {
        let sources = "sources: [{stdin: true}, {unix: a, mappings: pcd-01}]"
        let found = ConfigurationLoader.checkMappings(load(Self.keeping + Self.server + sources).settings)
        #expect(found.set != nil)
        #expect(
            found.diagnostics.map(\.text) == [
                "kymo.yaml:1:17: warning: output.write: servers keep the first version of an Observation, as final, "
                    + "also when a reading of it was taken back: the mappings have retractions of 'heartRate', "
                    + "'steps', 'glucoseMass' and 31 more; choose conditional-update, or take care that nothing "
                    + "is taken back"
            ])
        let listed = Self.keeping + "sinks: [{server: 'https://fhir.example/r4', identity: create}, {to: a}]"
        #expect(ConfigurationLoader.checkMappings(load(listed).settings).diagnostics.count == 1)
    }

    @Test(arguments: [
        server, keeping, keeping + "sinks: [{to: a}]", "output: {write: conditional-update}\n" + server,
        keeping + server + "mappings: wristband", keeping + server + "compatibility: iomt-fhir",
    ])
    func retractionsThatServersHearOf(yaml: String) {
        let found = ConfigurationLoader.checkMappings(load(yaml).settings)
        #expect(found.set != nil && !found.diagnostics.contains { $0.message.contains("taken back") }, "\(yaml)")
    }

    private static let vendor = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"

    private static func fields(at offset: Int) -> String {
        #""payload":"binary","characteristic":"\#(vendor)","fields":[{"name":"x","offset":\#(offset)}]"#
    }

    /// Three mappings of one source, by the tops of their files: the last contradicts the second, not the first.
    @Test(arguments: [
        (
            #""payload":"gatt""#, #""payload":"gatt","handles":{"0x12":"2A37","0x21":"2A19"}"#,
            #""payload":"gatt","handles":{"0x21":"2A19","0x12":"2A38"}"#,
            "name different characteristics for the handle 0x0012"
        ),
        (
            #""payload":"gatt""#, #""payload":"gatt","cgmStatusOrder":"status-first""#,
            #""payload":"gatt","cgmStatusOrder":"warning-first""#,
            "name different orders of status octets ('cgmStatusOrder')"
        ),
        (
            #""payload":"gatt""#, fields(at: 0), fields(at: 1),
            "declare different fields for the characteristic \(vendor)"
        ),
    ])
    func contradictionsAboutPackets(_ first: String, _ second: String, _ third: String, _ words: String) throws {
        let folders = [MappingFolder(), MappingFolder(), MappingFolder()]
        let names = zip(folders, [first, second, third]).map { folder, top in
            let name = Self.mapping(folder, type: "hr", match: "$..[?(@device)]")
            let device = Self.device("hr", match: "$..[?(@device)]")
                .replacing(#""CollectionContent","#, with: #""CollectionContent",\#(top),"#)
            Files.write("\(name)/device.json", Array(device.utf8))
            return name
        }
        func conflicts(_ names: [String]) -> [String] {
            let settings = load("sources: [{stdin: true, mappings: [\(names.joined(separator: ", "))]}]").settings
            let result = ConfigurationLoader.checkMappings(settings)
            return result.diagnostics.filter { $0.severity == .error }.map(\.fullText)
        }
        #expect(
            conflicts(names) == [
                "\(names[2])/device.json:1:1: error: the mappings '\(names[1])' and '\(names[2])' of stdin \(words); "
                    + "give each a source of its own [mixed-payloads]"
            ])
        #expect(conflicts([names[0], names[1]]).isEmpty && conflicts([names[0], names[2]]).isEmpty)
    }

    @Test func oneTypeFromTwoMappingsOfASource() {
        let (one, two, three) = (MappingFolder(), MappingFolder(), MappingFolder())
        let names = [
            Self.mapping(one, type: "hr", match: "$..[?(@d && @v)]"),
            Self.mapping(two, type: "hr", match: "$..[?(@d && @v)]"),
            Self.mapping(three, type: "hr", match: "$..[?(@v)]"),
        ]
        let settings = load("sources:\n- stdin: true\n  mappings: [\(names.joined(separator: ", "))]").settings
        let result = ConfigurationLoader.checkMappings(settings)
        #expect(result.set != nil)
        let advice = "name one of the two mappings for stdin, or give each a source of its own"
        let gives = "of stdin gives the type 'hr' too:"
        let both = "a payload that both match gives a duplicate or a conflict"
        #expect(
            result.diagnostics.map(\.text) == [
                "\(names[1])/device.json:2:15: warning: the mapping '\(names[0])' \(gives) they match the same "
                    + "payloads, and each gives a duplicate or a conflict; \(advice)",
                "\(names[2])/device.json:2:15: warning: the mapping '\(names[0])' \(gives) \(both); \(advice)",
                "\(names[2])/device.json:2:15: warning: the mapping '\(names[1])' \(gives) \(both); \(advice)",
            ])
    }

    @Test func oneTypeFromTwoSourcesIsFine() {
        let (one, two) = (MappingFolder(), MappingFolder())
        let names = [one, two].map { Self.mapping($0, type: "hr", match: "$..[?(@d && @v)]") }
        let settings = load(
            "sources:\n- stdin: true\n  mappings: \(names[0])\n- unix: a\n  mappings: \(names[1])\n"
        ).settings
        #expect(ConfigurationLoader.checkMappings(settings).diagnostics.map(\.text) == [])
    }
}

/// A folder for one mapping, removed with the test.
private final class MappingFolder {
    private let scratch = Scratch()
    var path: String { scratch.path }
}
