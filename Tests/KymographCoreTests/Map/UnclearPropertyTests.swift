import KymographCore
import Testing

/// Properties of which nobody can tell what they say (``UnclearProperty``), however a template reads them.
@Suite struct UnclearPropertyTests {
    private static let unclear = #"{"unclear":["5331","5332"]}"#

    private static func event(_ properties: String, system: String = #""iothub-connection-device-id":"w""#) -> String {
        #"{"Body":{"v":1,"t":"2021-07-13T17:29:01Z"},"Properties":{\#(properties)},"SystemProperties":{\#(system)}}"#
    }

    /// A template of an IoT Hub in either language.
    private func run(patient: String, isJMESPath: Bool) throws -> MappingRun {
        let isPath = !isJMESPath
        return try MappingRun(
            [
                [
                    "templateType": "CalculatedContent",
                    "template": [
                        "typeName": "t", "defaultExpressionLanguage": isPath ? "JsonPath" : "JmesPath",
                        "typeMatchExpression": isPath ? "$..[?(@v)]" : "to_array(Body)[?v]",
                        "deviceIdExpression": isPath
                            ? "$.SystemProperties['iothub-connection-device-id']"
                            : "SystemProperties.\"iothub-connection-device-id\"",
                        "patientIdExpression": patient,
                        "timestampExpression": isPath ? "$.matchedToken.t" : "matchedToken.t",
                        "values": [
                            TestTemplate.value("x", isPath ? "$.matchedToken.v" : "matchedToken.v", required: true)
                        ],
                    ] as [String: Any],
                ]
            ])
    }

    @Test(arguments: [
        ("$.Properties.p", false), ("Properties.p", true), ("to_string(Properties.p)", true),
        ("to_number(Properties.p)", true), ("Properties.p || 'somebody'", true), ("Properties.p.unclear[0]", true),
        ("(Properties.p == 'a' && 'a') || 'b'", true), ("not_null(Body.p, Properties.p)", true),
    ]) func nobodysPatient(expression: String, isJMESPath: Bool) throws {
        var run = try run(patient: expression, isJMESPath: isJMESPath)
        run.context.defaultPatient = Array("default".utf8)
        let outcome = run.line(Self.event("\"p\":\(Self.unclear)"))
        #expect(outcome.readings.isEmpty && outcome.rejections.map(\.field) == [.patient], "\(outcome)")
        // What needs it not is taken, and so is what is clear.
        #expect(run.line(Self.event("\"q\":\(Self.unclear),\"p\":\"a\"")).readings.count == 1)
    }

    @Test(arguments: [false, true]) func nobodysDevice(isJMESPath: Bool) throws {
        let run = try run(patient: isJMESPath ? "Properties.p" : "$.Properties.p", isJMESPath: isJMESPath)
        let outcome = run.line(Self.event("", system: "\"iothub-connection-device-id\":\(Self.unclear)"))
        #expect(outcome.readings.isEmpty && outcome.rejections.map(\.field) == [.device], "\(outcome)")
    }

    /// The time of the hub is none for a time of the device that is unclear.
    @Test func noOthersTime() throws {
        let run = try MappingRun([
            [
                "templateType": "IotJsonPathContent",
                "template": [
                    "typeName": "t", "typeMatchExpression": "$..[?(@Body.v)]",
                    "values": [TestTemplate.value("x", "$.Body.v", required: true)],
                ] as [String: Any],
            ]
        ])
        let system = #""iothub-connection-device-id":"w","iothub-enqueuedtime":"2021-07-13T17:29:01Z""#
        #expect(run.line(Self.event("", system: system)).readings.count == 1)
        let outcome = run.line(Self.event("\"iothub-creation-time-utc\":\(Self.unclear)", system: system))
        #expect(outcome.readings.isEmpty && outcome.reasons == [.invalidTimestamp], "\(outcome)")
    }
}
