import KymographCore

/// A mapping of some kinds of readings, and of their retractions.
struct RetractionMapping {
    var kinds = RetractionItem.Kind.allCases
    /// Length of the windows.
    var minutes = 5

    private func device(_ kind: RetractionItem.Kind) -> [String] {
        let id = kind.hasIds ? #""readingIdExpression":"$.i","# : ""
        let whose = #""deviceIdExpression":"$.d","patientIdExpression":"$.p",\#(id)"timestampFormat":"epoch-s","#
        return [
            #"""
            {"templateType":"JsonPathContent","template":{"typeName":"\#(kind.rawValue)",\#(whose)
            "typeMatchExpression":"$..[?(@\#(kind.rawValue))]","timestampExpression":"$.t",
            "values":[{"valueName":"x","valueExpression":"$.\#(kind.rawValue)","required":true}]}}
            """#,
            #"""
            {"templateType":"JsonPathContent","template":{"typeName":"\#(kind.rawValue)",\#(whose)
            "typeMatchExpression":"$..[?(@gone == '\#(kind.rawValue)')]","timestampExpression":"$.t","retracts":true}}
            """#,
        ]
    }

    private func fhir(_ kind: RetractionItem.Kind) -> String {
        let mode = kind == .latest || kind == .spot ? "latest" : "keep"
        let value =
            kind.isSingle ? #""valueType":"Quantity""# : #""valueType":"Statistics","aggregate":"sum","components":[]"#
        return #"""
            {"templateType":"CodeValueFhir","template":{"typeName":"\#(kind.rawValue)",
            "period":"\#(kind.isSingle ? "instance" : "\(minutes)m")","sameInstant":"\#(mode)",
            "codes":[{"system":"urn:t","code":"\#(kind.rawValue)"}],
            "value":{"valueName":"x",\#(value),"unit":"1","code":"1"}}}
            """#
    }

    /// The two files.
    var named: NamedMapping {
        func file(_ name: String, _ type: String, _ templates: [String]) -> MappingFile {
            let text = #"{"templateType":"\#(type)","template":[\#(templates.joined(separator: ","))]}"#
            return MappingFile(name: name, bytes: Array(text.utf8))
        }
        // A type that nothing is sent of, so that there is a mapping without any of them.
        let other = #"""
            {"templateType":"JsonPathContent","template":{"typeName":"other","typeMatchExpression":"$..[?(@other)]",
            "deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s",
            "values":[{"valueName":"x","valueExpression":"$.other","required":true}]}}
            """#
        let otherFHIR = #"""
            {"templateType":"CodeValueFhir","template":{"typeName":"other","period":"instance","codes":[],
            "value":{"valueName":"x","valueType":"Quantity","unit":"1","code":"1"}}}
            """#
        return NamedMapping(
            name: "m", device: file("device.json", "CollectionContent", kinds.flatMap(device) + [other]),
            fhir: file("fhir.json", "CollectionFhir", kinds.map(fhir) + [otherFHIR]))
    }
}
