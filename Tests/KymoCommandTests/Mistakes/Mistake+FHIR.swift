/// FHIR templates.
extension Mistake {
    static let fhirs: [Mistake] = [
        .fhir(
            "FHIR cut off", [("}}\n]}", "}}\n")], 78, "the file ends in the middle of a JSON value",
            at: "./m/fhir.json:8:1", "look for a missing or extra comma, quote or bracket just"),
        .fhir(
            "FHIR empty file", [(MappingText.fhir, "")], 78, "the file is empty", at: "./m/fhir.json:1:1",
            "write a mapping in it, or start from one of 'kymo mappings"),
        .fhir(
            "FHIR device mapping in its place", [(MappingText.fhir, MappingText.device)], 78,
            "Expected TemplateType value CollectionFhirTemplate, actual", at: "./m/fhir.json:1:18",
            "write \"templateType\": \"CollectionFhir\" here"),
        .fhir(
            "FHIR misspelt template type", [("CodeValueFhir", "CodeValueFire")], 78,
            "Expected TemplateType value CodeValueFhirTemplate, actual", at: "./m/fhir.json:2:20",
            "write \"templateType\": \"CodeValueFhir\" here"),
        .fhir(
            "FHIR no type name", [("    \"typeName\": \"pulse\",\n", "")], 78,
            "Required property 'TypeName' not found in JSON", at: "./m/fhir.json:2:49",
            "add \"typeName\" to a CodeValueFhir template"),
        .fhir(
            "FHIR type without template of devices", [("\"typeName\": \"pulse\"", "\"typeName\": \"heartrate\"")], 78,
            "the type 'pulse' has no FHIR template", at: "./m/device.json:3:17",
            "its readings will be rejected as noFHIRTemplate; add one to"),
        .fhir(
            "FHIR no codes", [("    \"codes\": [{\"system\": \"urn:example\", \"code\": \"pulse\"}],\n", "")], 78,
            "Required property 'Codes' not found in JSON", at: "./m/fhir.json:2:49",
            "add \"codes\" to a CodeValueFhir template"),
        .fhir(
            "FHIR codes no list",
            [
                (
                    "[{\"system\": \"urn:example\", \"code\": \"pulse\"}]",
                    "{\"system\": \"urn:example\", \"code\": \"pulse\"}"
                )
            ], 78, "found an object", at: "./m/fhir.json:5:14", "'codes' must be an array"),
        .fhir(
            "FHIR code without code", [(", \"code\": \"pulse\"}]", "}]")], 78,
            "a coding without a code says nothing to machines", at: "./m/fhir.json:5:15",
            "add \"code\", or use \"text\""),
        .fhir(
            "FHIR LOINC number",
            [
                (
                    "{\"system\": \"urn:example\", \"code\": \"pulse\"}",
                    "{\"system\": \"http://loinc.org\", \"code\": \"8867-5\"}"
                )
            ], 78, "LOINC number '8867-5' has the wrong check digit", at: "./m/fhir.json:5:54",
            "8867 ends in -4: look the number up again at loinc.org"),
        .fhir(
            "FHIR no value",
            [
                (
                    ",\n    \"value\": {\"valueType\": \"Quantity\", \"valueName\": \"pulse\", \"unit\": \"/min\", \"code\": \"/min\"}",
                    ""
                )
            ], 78, "the FHIR template of 'pulse' does not use the value 'pulse'", at: "./m/device.json:7:16",
            "it will not appear in Observations"),
        .fhir(
            "FHIR unknown value type", [("\"Quantity\"", "\"Quantum\"")], 78, "unknown valueType 'Quantum'",
            at: "./m/fhir.json:6:28", "use one of Quantity, SampledData, String, CodeableConcept,"),
        .fhir(
            "FHIR value without type", [("\"valueType\": \"Quantity\", ", "")], 78,
            "Property ValueType is missing in a value", at: "./m/fhir.json:6:14",
            "add \"valueType\": one of Quantity, SampledData, String,"),
        .fhir(
            "FHIR value of no device template", [("\"valueName\": \"pulse\"", "\"valueName\": \"puls\"")], 78,
            "the FHIR template of 'pulse' does not use the value 'pulse'", at: "./m/device.json:7:16",
            "it will not appear in Observations; did you mean 'puls'?"),
        .fhir(
            "FHIR value without name", [("\"valueName\": \"pulse\", ", "")], 78,
            "Required property 'ValueName' not found in JSON", at: "./m/fhir.json:6:14", "add \"valueName\" to a value"),
        .fhir(
            "FHIR unit of no code", [("\"code\": \"/min\"}", "\"code\": \"bpm\"}")], 78,
            "'bpm' is not the UCUM code that is meant", at: "./m/fhir.json:6:86",
            "use \"code\": \"/min\"; \"unit\" may stay \"/min\""),
        .fhir(
            "FHIR unknown period", [("\"instance\"", "\"sometimes\"")], 78,
            "period 'sometimes' is not a length of time above zero", at: "./m/fhir.json:4:15",
            "write a whole number and a unit, such as 500ms, 30s, 5m,"),
        .fhir(
            "FHIR period as number", [("\"instance\"", "5")], 78, "found a number", at: "./m/fhir.json:4:15",
            "'period' must be a string"),
        .fhir(
            "FHIR misspelt member", [("\"period\"", "\"peroid\"")], 78,
            "Could not find member 'peroid' on a CodeValueFhir template", at: "./m/fhir.json:4:5",
            "did you mean 'period'?"),
        .fhir(
            "FHIR two templates of one type",
            [
                (
                    "  }}\n]}",
                    "  }},\n  {\"templateType\": \"CodeValueFhir\", \"template\": {\n    \"typeName\": \"pulse\",\n    \"period\": \"instance\",\n    \"codes\": [{\"system\": \"urn:example\", \"code\": \"pulse\"}],\n    \"value\": {\"valueType\": \"Quantity\", \"valueName\": \"pulse\", \"unit\": \"/min\", \"code\": \"/min\"}\n  }}\n]}"
                )
            ], 78, "Duplicate template defined for type name: 'pulse'", at: "./m/fhir.json:9:17",
            "the first is at line 3; names that differ only in case are"),
        .fhir(
            "FHIR sampled data without size",
            [
                (
                    "\"Quantity\", \"valueName\": \"pulse\", \"unit\": \"/min\", \"code\": \"/min\"",
                    "\"SampledData\", \"valueName\": \"pulse\""
                )
            ], 78, "a SampledData value has no unit", at: "./m/fhir.json:6:14",
            "add \"unit\" and its UCUM \"code\"; a bare number has the code"),
        .fhir(
            "FHIR unknown component member",
            [
                (
                    "\"period\": \"instance\",",
                    "\"period\": \"instance\", \"components\": [{\"value\": {\"valueType\": \"Quantity\", \"valueName\": \"pulse\"}}],"
                )
            ], 78, "Required property 'Codes' not found in JSON", at: "./m/fhir.json:4:42",
            "add \"codes\" to a component"),
    ]
}
