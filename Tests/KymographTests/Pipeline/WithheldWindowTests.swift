import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing

/// Windows that cannot become an Observation: their readings are rejected, each once, and nothing is silent.
@Suite struct WithheldWindowTests {
    private static let device = """
        {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
          "typeName": "t", "typeMatchExpression": "$..[?(@d)]", "deviceIdExpression": "$.d",
          "timestampExpression": "$.t", "timestampFormat": "epoch-s",
          "values": [{"valueName": "a", "valueExpression": "$.a"}, {"valueName": "b", "valueExpression": "$.b"}]}}]}
        """
    private static let fhir = """
        {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
          "typeName": "t", "period": "5m", "codes": [{"system": "urn:x", "code": "t"}],
          "value": {"valueType": "Statistics", "valueName": "a", "unit": "mm", "code": "mm"}}}]}
        """

    private func rehearsal(_ limits: WindowLimits) throws -> PipelineRehearsal {
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: Array(Self.device.utf8)),
            fhir: MappingFile(name: "fhir.json", bytes: Array(Self.fhir.utf8)))
        let set = try #require(MappingLoader.load([mapping]).set)
        return PipelineRehearsal(set: set, settings: WindowSettings(idle: 0, limits: limits))
    }

    /// A window that was due as preliminary had its readings rejected again when it closed.
    @Test func readingsAreRejectedOnce() throws {
        var rehearsal = try rehearsal(WindowLimits(preliminaryEvery: 2))
        for time in 0..<6 { rehearsal.take(Array(#"{"d":"x","t":\#(time),"b":1}"#.utf8), isBatchEnd: true) }
        _ = try rehearsal.end()
        #expect(rehearsal.record.tally.accepted == 0)
        #expect(rehearsal.record.tally.rejected[Int(Rejection.missingValue.rawValue)] == 6)
        #expect(rehearsal.record.tally.withheld == 0)
    }

    /// A sum that no longer fits 18 digits after late readings: the Observation that was sent stays, and that is said.
    @Test func aChangedWindowThatCannotBeWrittenIsCounted() throws {
        var rehearsal = try rehearsal(WindowLimits())
        rehearsal.take(Array(#"{"d":"x","t":0,"a":900000000000000000}"#.utf8), isBatchEnd: true)
        rehearsal.take(Array(#"{"d":"x","t":1000,"a":1}"#.utf8), isBatchEnd: true)
        rehearsal.take(Array(#"{"d":"x","t":1,"a":0.00000000000000001}"#.utf8), isBatchEnd: true)
        _ = try rehearsal.end()
        #expect(rehearsal.record.tally.withheld == 1)
        #expect(rehearsal.record.accounted == rehearsal.record.received)
    }
}
