import Testing

/// A mapping with one fault, and all that is said about it.
struct MappingErrorCase: CustomTestStringConvertible {
    var testDescription: String
    var device: String
    var fhir: String?
    var texts: [String]

    init(_ testDescription: String, _ device: String, fhir: String? = nil, texts: [String]) {
        self.testDescription = testDescription
        self.device = device
        self.fhir = fhir
        self.texts = texts
    }
}

extension MappingErrorCase {
    static let all: [MappingErrorCase] = [
        MappingErrorCase(
            "empty file",
            "",
            texts: [
                "m/device.json:1:1: error: the file is empty; write a mapping in it, or start from one of 'kymo mappings --export NAME FOLDER'"
            ]),
        MappingErrorCase(
            "cut off",
            #"""
            {"templateType": "CollectionContent",
             "template": [
            """#,
            texts: [
                "m/device.json:2:15: error: the file ends in the middle of a JSON value; look for a missing or extra comma, quote or bracket just before this place"
            ]),
        MappingErrorCase(
            "two commas",
            #"""
            {"templateType": "CollectionContent",
             "template": [],,}
            """#,
            texts: [
                "m/device.json:2:17: error: not valid JSON: unexpected ','; look for a missing or extra comma, quote or bracket just before this place"
            ]),
        MappingErrorCase(
            "wrong root",
            #"""
            {"templateType": "CollectionFhir",
             "template": []}
            """#,
            texts: [
                #"m/device.json:1:18: error: Expected TemplateType value CollectionContentTemplate, actual CollectionFhir; a device mapping starts with "templateType": "CollectionContent""#
            ]),
        MappingErrorCase(
            "no root type",
            #"""
            {
             "template": []}
            """#,
            texts: [
                #"m/device.json:1:1: error: Required property 'TemplateType' not found in JSON; add "templateType" to the file"#
            ]),
        MappingErrorCase(
            "template no array",
            #"""
            {"templateType": "CollectionContent",
             "template": {}}
            """#,
            texts: [
                "m/device.json:2:14: error: Expected an array for the template property value for template type CollectionContentTemplate, found an object"
            ]),
        MappingErrorCase(
            "array element no object",
            #"""
            {"templateType": "CollectionContent",
             "template": [1]}
            """#,
            texts: [
                "m/device.json:2:15: error: a template must be an object, found a number"
            ]),
        MappingErrorCase(
            "unknown template type",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContnt",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:3:20: error: No match found for template type JsonPathContnt; did you mean 'JsonPathContent'?"
            ]),
        MappingErrorCase(
            "body no object",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "IotJsonPathContent", "template": []}]}
            """#,
            texts: [
                "m/device.json:3:54: error: Expected an object for the template property value for template type IotJsonPathContentTemplate, found an array"
            ]),
        MappingErrorCase(
            "misspelt field",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "patientIdExpresion": "$.p",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:9:1: error: Could not find member 'patientIdExpresion' on a JsonPathContent template; did you mean 'patientIdExpression'?"
            ]),
        MappingErrorCase(
            "missing fields",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                #"m/device.json:4:16: error: Required property 'TypeMatchExpression' not found in JSON; add "typeMatchExpression" to a JsonPathContent template"#,
                #"m/device.json:4:16: error: Required property 'DeviceIdExpression' not found in JSON; add "deviceIdExpression" to a JsonPathContent template"#,
                #"m/device.json:4:16: error: Required property 'TimestampExpression' not found in JSON; add "timestampExpression" to a JsonPathContent template"#,
            ]),
        MappingErrorCase(
            "null field",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": null,
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:7:23: error: 'deviceIdExpression' expects a value but got null"
            ]),
        MappingErrorCase(
            "wrong kind",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": 5,
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:5:13: error: 'typeName' must be a string, found a number"
            ]),
        MappingErrorCase(
            "expression no string",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": {"value": "$.d"},
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:7:23: error: deviceIdExpression must be a string, found an object"
            ]),
        MappingErrorCase(
            "bad JSONPath",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:6:24: error: expression $..[?(@v], character 9: expected ')' at the end of the filter, found ']'; see the JSONPath section of docs/mapping-language.md"
            ]),
        MappingErrorCase(
            "blank match",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "  ",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:6:24: error: typeMatchExpression is blank; write a JSONPath such as $.name"
            ]),
        MappingErrorCase(
            "another language",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "CalculatedContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "defaultExpressionLanguage": "XPath",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:9:30: error: the expression language must be JsonPath or JmesPath; leave it out for JsonPath"
            ]),
        MappingErrorCase(
            "JMESPath expression",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "CalculatedContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": {"value": "add(d)", "language": "JmesPath"},
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                """
                m/device.json:7:33: error: The following JmesPath expression could not be parsed: expression add(d), \
                character 1: function 'add' takes 2 arguments, found 1; \
                see the JMESPath section of docs/mapping-language.md
                """
            ]),
        MappingErrorCase(
            "language elsewhere",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "defaultExpressionLanguage": "JsonPath",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:9:1: error: Could not find member 'defaultExpressionLanguage' on object of type 'JsonPathContent'; only CalculatedContent templates choose a language"
            ]),
        MappingErrorCase(
            "timestamp format",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "timestampFormat": "unix",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                "m/device.json:9:20: error: unknown timestampFormat 'unix'; use one of iso8601, epoch-s, epoch-ms, epoch-us, epoch-ns"
            ]),
        MappingErrorCase(
            "value without name",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueExpression": "$.v"}]
               }}]}
            """#,
            texts: [
                #"m/device.json:9:12: error: Required property 'ValueName' not found in JSON; add "valueName" to a value"#
            ]),
        MappingErrorCase(
            "unknown field of value",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v", "requred": true}]
               }}]}
            """#,
            texts: [
                "m/device.json:9:57: error: Could not find member 'requred' on a value; did you mean 'required'?"
            ]),
        MappingErrorCase(
            "required no flag",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v", "required": "yes"}]
               }}]}
            """#,
            texts: [
                "m/device.json:9:69: error: 'required' must be true or false, found a string"
            ]),
        MappingErrorCase(
            "value twice",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [
            {"valueName": "x", "valueExpression": "$.v"},
            {"valueName": "x", "valueExpression": "$.w"}]
               }}]}
            """#,
            texts: [
                "m/device.json:11:1: warning: the template names the value 'x' twice; the first that a reading has is taken"
            ]),
        MappingErrorCase(
            "FHIR asks for a value nobody gives",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            fhir: #"""
                {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
                "typeName": "t", "periodInterval": 0,
                "codes": [{"code": "v", "system": "http://example.org/codes"}],
                "value": {"valueType": "Quantity", "valueName": "y", "unit": "/min", "system": "http://unitsofmeasure.org", "code": "/min"}}}]}
                """#,
            texts: [
                "m/device.json:9:12: warning: the FHIR template of 't' does not use the value 'x'; it will not appear in Observations; did you mean 'y'?",
                "m/fhir.json:4:49: error: no device template of type 't' gives the value 'y'; did you mean 'x'?",
            ]),
        MappingErrorCase(
            "FHIR template for nobody, type without",
            #"""
            {"templateType": "CollectionContent",
             "template": [
              {"templateType": "JsonPathContent",
               "template": {
            "typeName": "t",
            "typeMatchExpression": "$..[?(@v)]",
            "deviceIdExpression": "$.d",
            "timestampExpression": "$.t",
            "values": [{"valueName": "x", "valueExpression": "$.v"}]
               }}]}
            """#,
            fhir: #"""
                {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
                "typeName": "tt", "periodInterval": 0,
                "codes": [{"code": "v", "system": "http://example.org/codes"}],
                "value": {"valueType": "Quantity", "valueName": "x", "unit": "/min", "system": "http://unitsofmeasure.org", "code": "/min"}}}]}
                """#,
            texts: [
                "m/device.json:5:13: warning: the type 't' has no FHIR template; its readings will be rejected as noFHIRTemplate; add one to m/fhir.json, or is 'tt' there meant?",
                "m/fhir.json:2:13: warning: no device template gives the type 'tt'; did you mean 't'?",
            ]),
    ]
}
