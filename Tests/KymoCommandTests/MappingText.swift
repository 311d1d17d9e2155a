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
            "codes": [{"system": "http://loinc.org", "code": "8867-4"}],
            "value": {"valueType": "Quantity", "valueName": "pulse", "unit": "/min", "code": "/min"}
          }}
        ]}
        """

    static let reading = #"{"id":"p-1","at":"2026-03-01T08:00:00Z","pulse":61}"#

    static let brokenDevices: [(String, String, String)] = [
        (device.replacing("]}\n]}", with: "]}\n]"), "1:1", ""),
        (device.replacing("\"CollectionContent\"", with: "\"CollectionContents\""), "1:18", "CollectionContent"),
        (device.replacing("\"JsonPathContent\"", with: "\"JsonPathContant\""), "2:20", "JsonPathContent"),
        (device.replacing("$..[?(@pulse)]", with: "$..[?(@pulse]"), "4:28", "typeMatchExpression"),
        (device.replacing("\"typeName\": \"pulse\",", with: ""), "2:", "typeName"),
        (device.replacing("\"deviceIdExpression\": \"$.id\",", with: ""), "2:", "deviceIdExpression"),
        (device.replacing("\"timestampExpression\": \"$.at\",", with: ""), "2:", "timestampExpression"),
        (device.replacing("\"required\": true", with: "\"required\": 7"), "7:", "required"),
        (device.replacing("\"valueName\": \"pulse\", ", with: ""), "7:", "valueName"),
        (device.replacing("$.at", with: "$.at["), "6:", "timestampExpression"),
    ]

    static let brokenFHIR: [(String, String, String)] = [
        (fhir.replacing("\"CollectionFhir\"", with: "\"CollectionFire\""), "1:18", "CollectionFhir"),
        (fhir.replacing("\"CodeValueFhir\"", with: "7"), "2:20", ""),
        (fhir.replacing("\"instance\"", with: "\"sometimes\""), "4:15", "period"),
        (fhir.replacing("\"Quantity\"", with: "\"Quantum\""), "6:28", "Quantity"),
        (fhir.replacing("\"valueName\": \"pulse\"", with: "\"valueName\": \"puls\""), "6:", "puls"),
        (fhir.replacing("\"8867-4\"}],", with: "\"8867-4\"}"), "6:", ""),
        (fhir.replacing("\"typeName\": \"pulse\",", with: ""), "2:", "typeName"),
    ]
}
