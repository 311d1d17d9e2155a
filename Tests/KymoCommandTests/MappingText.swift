/// A small mapping, and ways to break it.
enum MappingText {
    static let device = """
        {"templateType": "CollectionContent", "template": [
          {"templateType": "JsonPathContent", "template": {
            "typeName": "pulse",
            "typeMatchExpression": "$..[?(@pulse)]",
            "deviceIdExpression": "$.id",
            "timestampExpression": "$.at",
            "values": [{"valueName": "pulse", "valueExpression": "$.pulse", "required": true}]
          }}
        ]}
        """

    static let fhir = """
        {"templateType": "CollectionFhir", "template": [
          {"templateType": "CodeValueFhir", "template": {
            "typeName": "pulse",
            "period": "instance",
            "codes": [{"system": "urn:example", "code": "pulse"}],
            "value": {"valueType": "Quantity", "valueName": "pulse", "unit": "/min", "code": "/min"}
          }}
        ]}
        """

    /// The same for heart-rate packets (2A37), of a source's default device.
    static let packetDevice =
        device
        .replacing("\"template\": [", with: "\"payload\": \"gatt/2A37\", \"template\": [")
        .replacing("(@pulse)", with: "(@heartRate)")
        .replacing("$.id", with: "$.device").replacing("$.at", with: "$.time")
        .replacing("$.pulse", with: "$.heartRate")

    static let reading = #"{"id":"p-1","at":"2026-03-01T08:00:00Z","pulse":61}"#

    static let brokenDevices: [(String, String, String)] = [
        (String(device.dropLast()), "9:2", "ends in the middle"),
        (device.replacing("\"CollectionContent\"", with: "\"CollectionContents\""), "1:18", "CollectionContent"),
        (device.replacing("\"JsonPathContent\"", with: "\"JsonPathContant\""), "2:20", "JsonPathContent"),
        (device.replacing("$..[?(@pulse)]", with: "$..[?(@pulse]"), "4:28", "character 13"),
        (device.replacing("\"typeName\": \"pulse\",", with: ""), "2:51", "TypeName"),
        (device.replacing("\"deviceIdExpression\": \"$.id\",", with: ""), "2:51", "DeviceIdExpression"),
        (device.replacing("\"timestampExpression\": \"$.at\",", with: ""), "2:51", "TimestampExpression"),
        (device.replacing("\"required\": true", with: "\"required\": 7"), "7:81", "required"),
        (device.replacing("\"valueName\": \"pulse\", ", with: ""), "7:16", "ValueName"),
        (device.replacing("$.at", with: "$.at["), "6:28", "character 6"),
    ]

    static let brokenFHIR: [(String, String, String)] = [
        (fhir.replacing("\"CollectionFhir\"", with: "\"CollectionFire\""), "1:18", "CollectionFhir"),
        (fhir.replacing("\"CodeValueFhir\"", with: "7"), "2:20", ""),
        (fhir.replacing("\"instance\"", with: "\"sometimes\""), "4:15", "period"),
        (fhir.replacing("\"Quantity\"", with: "\"Quantum\""), "6:28", "Quantity"),
        (fhir.replacing("\"valueName\": \"pulse\"", with: "\"valueName\": \"puls\""), "6:53", "did you mean 'pulse'"),
        (fhir.replacing("\"code\": \"pulse\"}],", with: "\"code\": \"pulse\"}"), "6:5", "not valid JSON"),
        (fhir.replacing("\"typeName\": \"pulse\",", with: ""), "2:49", "typeName"),
    ]
}
