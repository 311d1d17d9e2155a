import KymographCore
import KymographTemplates
import Testing

/// Mistakes in what mappings say of packets, each beside a mapping like it that is sound.
@Suite struct PacketFindingTests {
    /// What is said of the top of a device file, and of the members that its one template names.
    private func findings(_ top: String, match: String = "$..[?(@time)]", value: String = "$.time") -> [Diagnostic] {
        let device = """
            {"templateType":"CollectionContent",\(top),"template":[{"templateType":"JsonPathContent","template":{
            "typeName":"t","typeMatchExpression":"\(match)","deviceIdExpression":"$.device",
            "timestampExpression":"$.time","values":[{"valueName":"x","valueExpression":"\(value)"}]}}]}
            """
        let mapping = NamedMapping(name: "m", device: MappingFile(name: "d", bytes: Array(device.utf8)), fhir: nil)
        return MappingLoader.load([mapping], measurementsOnly: true).diagnostics
    }

    private static func field(_ members: String) -> String {
        #""payload":"binary","fields":[{\#(members)}]"#
    }

    @Test(arguments: [
        ("unknown-choice", #""payload":"gatt/2A99""#, #""payload":"gatt/2a37""#, "gatt/2A37"),
        (
            "unknown-choice", #""payload":"gatt","cgmStatusOrder":"x""#,
            #""payload":"gatt","cgmStatusOrder":"warning-first""#, "status-first"
        ),
        ("misplaced-member", #""payload":"gatt/2A37","handles":{}"#, #""payload":"gatt","handles":{}"#, "remove it"),
        ("misplaced-member", #""fields":[]"#, field(#""name":"x","offset":0"#), "remove it"),
        (
            "misplaced-member", #""payload":"gatt/2A37","cgmStatusOrder":"status-first""#,
            #""payload":"gatt/2AA7","cgmStatusOrder":"status-first""#, "remove it"
        ),
        (
            "misplaced-member", field(#""name":"x","offset":0,"type":"sfloat","scale":2"#),
            field(#""name":"x","offset":0,"type":"sfloat""#), "remove it"
        ),
        (
            "packet-layout", #""payload":"gatt","handles":{"18":"2A37"}"#,
            #""payload":"gatt","handles":{"0x12":"2A37"}"#, "0x0012"
        ),
        (
            "packet-layout", #""payload":"gatt","handles":{"0x12":"HR"}"#,
            #""payload":"gatt","handles":{"0x12":"0x2A37"}"#, "2A37"
        ),
        (
            "packet-layout", #""payload":"gatt","handles":{"A0:*":{"18":"2A37"}}"#,
            #""payload":"gatt","handles":{"A0:*":{"0x12":"2A37"},"0x12":"2A19"}"#, "0x0012"
        ),
        (
            "packet-layout", #""payload":"gatt","handles":{"A0:*":"2A37"}"#, #""payload":"gatt","handles":{"A0:*":{}}"#,
            "an object of handles"
        ),
        (
            "wrong-kind", #""payload":"gatt","handles":{"0x12":{"0x13":"2A37"}}"#,
            #""payload":"gatt","handles":{"0x1*":{"0x13":"2A37"}}"#, ""
        ),
        ("packet-layout", #""payload":"binary","fields":[]"#, field(#""name":"x","offset":0"#), "name the numbers"),
        (
            "packet-layout", field(#""name":"time","offset":0"#), field(#""name":"seconds","offset":0"#),
            "choose another"
        ),
        ("packet-layout", field(#""name":"x","offset":-1"#), field(#""name":"x","offset":65535"#), "0 to 65535"),
        (
            "packet-layout", field(#""name":"x","offset":0,"bytes":9"#), field(#""name":"x","offset":0,"bytes":8"#),
            "1 to 8"
        ),
        (
            "packet-layout", field(#""name":"x","offset":0,"bit":8"#), field(#""name":"x","offset":0,"bit":7"#),
            "the lowest"
        ),
        (
            "packet-layout", field(#""name":"x","offset":0,"scale":0"#), field(#""name":"x","offset":0,"scale":0.1"#),
            "0 leaves nothing"
        ),
        (
            "packet-layout", field(#""name":"x","offset":0},{"name":"x","offset":1"#),
            field(#""name":"x","offset":0},{"name":"y","offset":1"#), "rename"
        ),
        (
            "packet-layout", #""header":"a","# + field(#""name":"x","offset":0"#),
            #""header":"a0","# + field(#""name":"x","offset":0"#), "two digits"
        ),
        (
            "packet-layout", #""characteristic":"x","# + field(#""name":"x","offset":0"#),
            #""characteristic":"FFF1","# + field(#""name":"x","offset":0"#), "four hexadecimal"
        ),
        ("missing-field", #""payload":"binary""#, field(#""name":"x","offset":0"#), "add"),
        ("missing-field", field(#""name":"x""#), field(#""name":"x","offset":0"#), "add"),
        (
            "unknown-field", field(#""name":"x","offset":0,"width":2"#), field(#""name":"x","offset":0,"bytes":2"#),
            "known are"
        ),
        (
            "wrong-kind", field(#""name":"x","offset":0,"optional":1"#),
            field(#""name":"x","offset":0,"optional":true"#), ""
        ),
        (
            "wrong-kind", field(#""name":"x","offset":0,"absent":["y"]"#),
            field(#""name":"x","offset":0,"absent":[1]"#), ""
        ),
    ])
    func mistakesAreFound(_ code: String, _ doubtful: String, _ sound: String, _ words: String) throws {
        let found = findings(doubtful)
        let finding = try #require(found.first { $0.code == code }, "\(found.map(\.fullText))")
        #expect(finding.severity == .error && finding.text.contains(words), "\(finding.text)")
        #expect(findings(sound).isEmpty, "\(findings(sound).map(\.fullText))")
    }

    @Test(arguments: [
        ("gatt", "$..[?(@heartrate)]", "$.time", "heartRate"), ("gatt", "$..[?(@time)]", "$.spo2", "docs/gatt.md"),
        ("gatt/2A19", "$..[?(@time && @heartRate > 5)]", "$.time", "docs/gatt.md"),
        ("gatt/2A35", "$..[?(@unit == 'kPa')]", "$.systollic", "systolic"),
    ])
    func namesThatNoPacketHas(_ payload: String, _ match: String, _ value: String, _ words: String) throws {
        let found = findings(#""payload":"\#(payload)""#, match: match, value: value)
        let finding = try #require(found.first { $0.code == "packet-field" }, "\(found.map(\.fullText))")
        #expect(finding.severity == .warning && finding.template == "t" && finding.text.contains(words))
        let sound = findings(
            #""payload":"gatt""#, match: "$..[?(@heartRate > 0 && @contact != 'lost')]", value: "$.rrInterval")
        #expect(sound.isEmpty, "\(sound.map(\.fullText))")
        // Payloads in JSON have members of their own.
        #expect(findings(#""payload":"json""#, match: match, value: value).isEmpty)
    }

    @Test func namesOfDeclaredFields() throws {
        let top = PacketFindingTests.field(#""name":"celsius","offset":0"#)
        #expect(findings(top, value: "$.celsius").isEmpty)
        #expect(findings(top, value: "$.celcius").map(\.code) == ["packet-field"])
    }
}
