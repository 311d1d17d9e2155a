import KymographCore
import Testing

/// `from` in fhir.json: several Observations of one measurement.
@Suite struct DerivationTests {
    private static let device = #"""
        {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
          "typeName": "heartRate", "typeMatchExpression": "$..[?(@v)]", "deviceIdExpression": "$.d",
          "timestampExpression": "$.t", "values": [{"valueName": "x", "valueExpression": "$.v"}]}}]}
        """#

    private static func fhir(_ templates: [String]) -> String {
        let entries = templates.map { members in
            """
            {"templateType": "CodeValueFhir", "template": {
            \(members), "codes": [{"system": "urn:x", "code": "c"}],
            "value": {"valueType": "Quantity", "valueName": "x"}}}
            """
        }
        return #"{"templateType": "CollectionFhir", "template": ["# + entries.joined(separator: ",\n") + "]}"
    }

    @Test func givesAReadingOfEitherType() throws {
        let run = try MappingRun(
            device: Self.device,
            fhir: Self.fhir([
                #""typeName": "heartRateDaily", "from": "HEARTRATE", "period": "1d""#,
                #""typeName": "heartRate", "period": "5m""#,
            ]))
        let outcome = run.line(#"{"d":"dev","t":"2021-07-13T17:29:01Z","v":72}"#)
        #expect(outcome.readings.map(\.type) == ["heartRate", "heartRateDaily"])
        #expect(outcome.values() == ["72", "72"])
        #expect(outcome.rejections.isEmpty)
        let groupings = run.set.types.map(\.grouping)
        #expect(groupings == [.tumbling(nanoseconds: 300_000_000_000), .tumbling(nanoseconds: 86_400_000_000_000)])
        #expect(run.set.describe(template: 1).typeName == "heartRateDaily")
    }

    private static func errors(_ templates: [String]) -> [String] {
        do { _ = try MappingRun(device: device, fhir: fhir(templates)) } catch let failure as MappingRun.LoadFailure {
            return failure.texts.filter { $0.contains(": error: ") }
        } catch { return ["\(error)"] }
        return []
    }

    @Test func refusesATypeThatTheDeviceGives() {
        let text =
            "fhir.json:2:13: error: a device template already gives the type 'heartRate': 'from' is for another; "
            + "give this FHIR template a name of its own, such as 'heartRateDaily'"
        #expect(Self.errors([#""typeName": "heartRate", "from": "heartRate""#]) == [text])
    }

    @Test func refusesATypeThatNobodyGives() {
        #expect(
            Self.errors([#""typeName": "daily", "from": "hartRate""#]) == [
                "fhir.json:2:30: error: no device template gives the type 'hartRate'; did you mean 'heartRate'?"
            ])
        #expect(
            Self.errors([#""typeName": "daily", "from": "steps""#]) == [
                "fhir.json:2:30: error: no device template gives the type 'steps'; "
                    + "'from' names a typeName of the device file: heartRate"
            ])
        #expect(
            Self.errors([#""typeName": "daily", "from": 5"#]) == [
                "fhir.json:2:30: error: expected 'from' to be a string, found a number"
            ])
    }

    @Test func doesNotChain() {
        let texts = Self.errors([
            #""typeName": "daily", "from": "heartRate""#, #""typeName": "weekly", "from": "daily""#,
        ])
        #expect(texts.count == 1)
        #expect(texts.first?.contains("no device template gives the type 'daily'") ?? false)
    }
}
