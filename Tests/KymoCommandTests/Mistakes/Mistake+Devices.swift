/// Device templates.
extension Mistake {
    static let devices: [Mistake] = [
        .device(
            "cut off", [("}}\n]}", "}}\n]")], 78, "the file ends in the middle of a JSON value",
            at: "./m/device.json:9:2", "look for a missing or extra comma, quote or bracket just"),
        .device(
            "empty file", [(MappingText.device, "")], 78, "the file is empty", at: "./m/device.json:1:1",
            "write a mapping in it, or start from one of 'kymo mappings"),
        .device(
            "only blanks", [(MappingText.device, " \n")], 78, "the file is empty", at: "./m/device.json:2:1",
            "write a mapping in it, or start from one of 'kymo mappings"),
        .device(
            "missing comma", [("\"typeName\": \"pulse\",", "\"typeName\": \"pulse\"")], 78,
            "not valid JSON: unexpected '\"'", at: "./m/device.json:4:5",
            "look for a missing or extra comma, quote or bracket just"),
        .device(
            "comma too many", [("\"required\": true}]", "\"required\": true},]")], 78,
            "not standard JSON: a comma before a closing bracket", at: "./m/device.json:7:86",
            "it is read as the reference reads it; other tools may"),
        .device(
            "comment", [("\"typeName\"", "// the name\n    \"typeName\"")], 78, "not standard JSON: a comment",
            at: "./m/device.json:3:5", "it is read as the reference reads it; other tools may"),
        .device(
            "single quotes", [("\"typeName\": \"pulse\"", "'typeName': 'pulse'")], 78,
            "not standard JSON: a text in single quotes", at: "./m/device.json:3:5",
            "it is read as the reference reads it; other tools may"),
        .device(
            "YAML in place of JSON", [(MappingText.device, "templateType: CollectionContent\n")], 78,
            "not valid JSON: unexpected 't'", at: "./m/device.json:1:1",
            "look for a missing or extra comma, quote or bracket just"),
        .device(
            "FHIR mapping in its place", [(MappingText.device, MappingText.fhir)], 78,
            "Expected TemplateType value CollectionContentTemplate, actual", at: "./m/device.json:1:18",
            "a device mapping starts with \"templateType\":"),
        .device(
            "no template type of the file", [("\"templateType\": \"CollectionContent\", ", "")], 78,
            "Required property 'TemplateType' not found in JSON", at: "./m/device.json:1:1",
            "add \"templateType\" to the file"),
        .device(
            "no list of templates", [(", \"template\": [\n  {", ", \"templates\": [\n  {")], 78,
            "Required property 'Template' not found in JSON", at: "./m/device.json:1:1",
            "is 'templates' a misspelling of it?"),
        .device(
            "misspelt template type", [("JsonPathContent", "JsonPathContnt")], 78,
            "No match found for template type JsonPathContnt", at: "./m/device.json:2:20",
            "did you mean 'JsonPathContent'?"),
        .device(
            "template without type", [("{\"templateType\": \"JsonPathContent\", \"template\"", "{\"template\"")], 78,
            "Required property 'TemplateType' not found in JSON", at: "./m/device.json:2:3",
            "add \"templateType\" to a template"),
        .device(
            "no type name", [("    \"typeName\": \"pulse\",\n", "")], 78,
            "Required property 'TypeName' not found in JSON", at: "./m/device.json:2:51",
            "add \"typeName\" to a JsonPathContent template"),
        .device(
            "misspelt type name member", [("\"typeName\"", "\"typeNmae\"")], 78,
            "Required property 'TypeName' not found in JSON", at: "./m/device.json:2:51",
            "is 'typeNmae' a misspelling of it?"),
        .device(
            "no match expression", [("    \"typeMatchExpression\": \"$..[?(@pulse)]\",\n", "")], 78,
            "Required property 'TypeMatchExpression' not found in JSON", at: "./m/device.json:2:51",
            "add \"typeMatchExpression\" to a JsonPathContent template"),
        .device(
            "no device expression", [("    \"deviceIdExpression\": \"$.id\",\n", "")], 78,
            "Required property 'DeviceIdExpression' not found in JSON", at: "./m/device.json:2:51",
            "add \"deviceIdExpression\" to a JsonPathContent template"),
        .device(
            "no time expression", [("    \"timestampExpression\": \"$.at\",\n", "")], 78,
            "Required property 'TimestampExpression' not found in JSON", at: "./m/device.json:2:51",
            "add \"timestampExpression\" to a JsonPathContent template"),
        .device(
            "no values",
            [
                (
                    ",\n    \"values\": [{\"valueName\": \"pulse\", \"valueExpression\": \"$.pulse\", \"required\": true}]",
                    ""
                )
            ], 78, "no device template of type 'pulse' gives the value 'pulse'", at: "./m/fhir.json:6:53",
            "it has none; add \"values\" to it"),
        .device(
            "value without name", [("\"valueName\": \"pulse\", ", "")], 78,
            "Required property 'ValueName' not found in JSON", at: "./m/device.json:7:16",
            "add \"valueName\" to a value"),
        .device(
            "value without expression", [("\"valueExpression\": \"$.pulse\", ", "")], 78,
            "Required property 'ValueExpression' not found in JSON", at: "./m/device.json:7:16",
            "add \"valueExpression\" to a value"),
        .device(
            "required as text", [("\"required\": true", "\"required\": \"yes\"")], 78, "found a string",
            at: "./m/device.json:7:81", "'required' must be true or false"),
        .device(
            "values no list", [("[{\"valueName\"", "{\"valueName\""), ("true}]", "true}")], 78, "found an object",
            at: "./m/device.json:7:15", "'values' must be an array"),
        .device(
            "type name no text", [("\"typeName\": \"pulse\"", "\"typeName\": 7")], 78, "found a number",
            at: "./m/device.json:3:17", "'typeName' must be a string"),
        .device(
            "unclosed filter", [("[?(@pulse)]", "[?(@pulse]")], 78,
            "expression $..[?(@pulse], character 13: expected ')' at the end of", at: "./m/device.json:4:28",
            "see the JSONPath section of docs/mapping-language.md"),
        .device(
            "unclosed bracket", [("$.at", "$.at[")], 78,
            "expression $.at[, character 6: expected an index, '*', a quoted name", at: "./m/device.json:6:28",
            "see the JSONPath section of docs/mapping-language.md"),
        .device(
            "empty expression", [("\"$.id\"", "\"\"")], 78, "deviceIdExpression is blank", at: "./m/device.json:5:27",
            "write a JSONPath such as $.name"),
        .device(
            "type without Observation", [("\"typeName\": \"pulse\"", "\"typeName\": \"puls\"")], 78,
            "the type 'puls' has no FHIR template", at: "./m/device.json:3:17",
            "its readings will be rejected as noFHIRTemplate; add one to"),
        .device(
            "value named twice",
            [
                (
                    "\"required\": true}]",
                    "\"required\": true}, {\"valueName\": \"pulse\", \"valueExpression\": \"$.p\"}]"
                )
            ], 78, "the template names the value 'pulse' twice", at: "./m/device.json:7:88",
            "the first that a reading has is taken"),
        .device(
            "unknown function",
            [
                ("JsonPathContent", "CalculatedContent"),
                ("\"$.pulse\", \"required\"", "{\"value\": \"sume(pulse)\", \"language\": \"JmesPath\"}, \"required\""),
            ], 78, "The following JmesPath expression could not be parsed: expression", at: "./m/device.json:7:68",
            "did you mean 'sum'?; see the JMESPath section of"),
        .device(
            "unclosed JMESPath",
            [
                ("JsonPathContent", "CalculatedContent"),
                ("\"$.pulse\", \"required\"", "{\"value\": \"pulse[\", \"language\": \"JmesPath\"}, \"required\""),
            ], 78, "The following JmesPath expression could not be parsed: expression", at: "./m/device.json:7:68",
            "see the JMESPath section of docs/mapping-language.md"),
        .device(
            "unknown language of an expression",
            [
                ("JsonPathContent", "CalculatedContent"),
                ("\"$.pulse\", \"required\"", "{\"value\": \"pulse\", \"language\": \"jq\"}, \"required\""),
            ], 78, "the expression language must be JsonPath or JmesPath", at: "./m/device.json:7:89",
            "leave it out for JsonPath"),
    ]
}
