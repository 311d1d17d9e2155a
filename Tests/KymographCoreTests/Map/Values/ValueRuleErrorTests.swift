import KymographCore
import KymographTemplates
import Testing

/// What is said of rules that are wrong, and where: line 4 is the one with the value.
@Suite struct ValueRuleErrorTests {
    /// The value's members, column, and what is said.
    static let errors: [(String, Int, String)] = [
        (
            #""valueExpression": "$.v", "constant": 1"#, 39,
            "a value with 'constant' cannot have 'valueExpression'; a constant is the same in every match; remove one of the two"
        ),
        (
            #""constant": 1, "default": 2"#, 46,
            "a value with 'constant' cannot have 'default'; a constant is the same in every match; remove one of the two"
        ),
        (#""constant": null"#, 32, "'constant' expects a value but got null"),
        (#""constant": []"#, 32, "'constant' must be a string, a number, true or false, found an array"),
        (
            #""valueExpression": "$.v", "default": {}"#, 57,
            "'default' must be a string, a number, true or false, found an object"
        ),
        (#""valueExpression": "$.v", "map": []"#, 53, "'map' must be an object, found an array"),
        (
            #""valueExpression": "$.v", "map": {}"#, 53,
            "'map' is empty; list the texts of the payload and what they become"
        ),
        (
            #""valueExpression": "$.v", "map": {"a": null}"#, 59,
            "'a' in 'map' must be a string, a number, true or false, found null"
        ),
        (#""valueExpression": "$.v", "map": {"a": 1, "a": 2}"#, 62, "'a' is twice in 'map'; remove one of the two"),
        (
            #""valueExpression": "$.v", "mapDefault": 1"#, 46,
            "'mapDefault' has no meaning without 'map'; 'default' is for values that are not there"
        ),
        (
            #""valueExpression": "$.v", "mapp": {"a": 1}"#, 46,
            "Could not find member 'mapp' on a value; did you mean 'map'?"
        ),
        (
            #""valueExpression": "$.v", "default": "b", "map": {"a": 1}"#, 57,
            "the default 'b' is not in 'map'; a default is mapped like a text of the payload; add it to 'map', or give a 'mapDefault'"
        ),
        (
            #""valueExpression": "$.v", "unit": {"from": "kg", "to": "g"}, "map": {"a": 1}"#, 88,
            "a value has either 'unit' or 'map', not both; numbers are converted, texts are mapped; remove one of the two"
        ),
        (
            #""valueExpression": "$.v", "unit": {"from": "kg", "to": "g"}, "default": "much""#, 92,
            "the default 'much' is no number, but the value has a unit; a default is converted like a value of the payload"
        ),
        (
            #""valueExpression": "$.v", "scale": 0.5"#, 55,
            "'scale' must be a whole number from -100 to 100, or an object with 'expression'; it is a power of ten: -3 makes 110100 of the payload 110.100"
        ),
        (
            #""valueExpression": "$.v", "scale": 101"#, 55,
            "'scale' must be a whole number from -100 to 100, or an object with 'expression'; it is a power of ten: -3 makes 110100 of the payload 110.100"
        ),
        (
            #""valueExpression": "$.v", "scale": {}"#, 55,
            "Required property 'Expression' not found in JSON; add \"expression\" to 'scale'"
        ),
        (
            #""valueExpression": "$.v", "scale": {"expression": "$.e", "by": 1}"#, 77,
            "Could not find member 'by' on 'scale'; known are expression"
        ),
        (
            #""valueExpression": "$.v", "scale": 1, "map": {"a": 1}"#, 65,
            "a value has either 'scale' or 'map', not both; numbers are converted, texts are mapped; remove one of the two"
        ),
        (
            #""valueExpression": "$.v", "scale": 1, "default": "much""#, 69,
            "the default 'much' is no number, but the value has a scale; a default is converted like a value of the payload"
        ),
        (#""valueExpression": "$.v", "unit": "kg""#, 54, "'unit' must be an object, found a string"),
        (
            #""valueExpression": "$.v", "unit": {"from": "kg"}"#, 54,
            "Required property 'To' not found in JSON; add \"to\" to 'unit'"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg"}"#, 54,
            "'unit' does not say in which unit the value comes; add \"from\" with a UCUM code, or \"expression\" and \"units\" when the payload names it"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "expression": "$.u"}"#, 54,
            "'unit' has 'expression' but no 'units'; 'expression' selects the payload's text for the unit, 'units' lists the UCUM code of each text"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "units": {"kg": "kg"}}"#, 54,
            "'unit' has 'units' but no 'expression'; 'expression' selects the payload's text for the unit, 'units' lists the UCUM code of each text"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "from": "g", "units": {"kg": "kg"}}"#, 80,
            "'from' and 'units' exclude each other; 'from' is for a fixed unit; 'expression' and 'units' for one that the payload names"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "expression": "$.", "units": {"kg": "kg"}}"#, 81,
            "expression $., character 3: expected a member name, found 'end of expression'; see the JSONPath section of docs/mapping-language.md"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "expression": "", "units": {"kg": "kg"}}"#, 81,
            "expression is blank; write a JSONPath such as $.name"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "expression": "$.u", "units": {}}"#, 97,
            "'units' is empty; list the payload's texts and their UCUM codes"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "expression": "$.u", "units": {"lb": "lb"}}"#, 104,
            "unit 'lb', character 1: unknown unit 'lb'; the UCUM code is '[lb_av]'; units are UCUM codes; see the section Extensions of docs/mapping-language.md"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "expression": "$.u", "units": {"a": "g", "a": "g"}}"#, 108,
            "'a' is twice in 'units'; remove one of the two"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "m", "from": "kg"}"#, 74,
            "'kg' is a mass (g) and 'm' is a length (m); convert between units of one kind, or read the value in the unit in which it is sent"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "mg/dL", "from": "mmol/L"}"#, 78,
            "'mmol/L' is an amount concentration (m-3.mol) and 'mg/dL' is a mass concentration (g.m-3); between mass and amount the molar mass counts: state \"substance\"; known is only \"glucose\""
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "mg/dL", "from": "mg/dL", "substance": "urea"}"#, 100,
            "the molar mass of 'urea' is not known; known is only glucose; read other substances in the unit in which they are sent"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "from": "g", "digits": 18}"#, 90,
            "'digits' must be a whole number from 0 to 17; it is the number of decimals of converted values"
        ),
        (
            #""valueExpression": "$.v", "unit": {"to": "kg", "from": "g", "digit": 1}"#, 80,
            "Could not find member 'digit' on 'unit'; did you mean 'digits'?"
        ),
        (#""valueExpression": "$.v", "unit": {"to": "kg", "from": 5}"#, 75, "'from' must be a string, found a number"),
    ]

    @Test(arguments: errors) func saysWhatAndWhere(_ members: String, _ column: Int, _ message: String) throws {
        let failure = #expect(throws: MappingRun.LoadFailure.self) {
            try MappingRun(device: RuleRun.device(members))
        }
        #expect(failure?.texts == ["device.json:4:\(column): error: \(message)"])
    }

    @Test func warnsOfASubstanceWithoutEffect() throws {
        let members = #""valueExpression": "$.v", "unit": {"to": "kg", "from": "g", "substance": "glucose"}"#
        let file = MappingFile(name: "d", bytes: Array(RuleRun.device(members).utf8))
        let result = MappingLoader.load([NamedMapping(name: "m", device: file, fhir: nil)], measurementsOnly: true)
        #expect(result.set != nil)
        let text =
            "d:4:80: warning: 'substance' has no effect here; "
            + "it counts between mass and amount of substance, such as mg/dL and mmol/L"
        #expect(result.diagnostics.map(\.text) == [text])
    }

    @Test func refusesTextsWhereANumberIsRead() throws {
        let fhir = #"""
            {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
              "typeName": "t", "codes": [{"system": "urn:x", "code": "c"}],
              "value": {"valueType": "Quantity", "valueName": "x"}}}]}
            """#
        func load(_ members: String) -> [String] {
            do { _ = try MappingRun(device: RuleRun.device(members), fhir: fhir) } catch let failure
                as MappingRun.LoadFailure
            {
                return failure.texts.filter { $0.contains(" error: ") }
            } catch { return ["\(error)"] }
            return []
        }
        let end =
            "', where the FHIR template of 't' reads a number; write numbers, or use valueType String or CodeableConcept"
        let start = "device.json:4:1: error: the value 'x' can be '"
        #expect(load(#""constant": "home""#) == [start + "home" + end])
        #expect(load(#""valueExpression": "$.v", "default": "good""#) == [start + "good" + end])
        #expect(load(#""valueExpression": "$.v", "map": {"a": 1, "b": "two"}"#) == [start + "two" + end])
        #expect(load(#""valueExpression": "$.v", "map": {"a": 1}, "mapDefault": "many""#) == [start + "many" + end])
        #expect(load(#""valueExpression": "$.v", "map": {"a": "1.5"}, "default": "a""#).isEmpty)
        #expect(load(#""constant": 5"#).isEmpty)
    }

    @Test func refusesUnknownPayloads() {
        func load(_ payload: String) -> [String] {
            let device = #"{"templateType": "CollectionContent", "payload": \#(payload), "template": []}"#
            let file = MappingFile(name: "d", bytes: Array(device.utf8))
            let mapping = NamedMapping(name: "m", device: file, fhir: nil)
            return MappingLoader.load([mapping], measurementsOnly: true).diagnostics.map(\.text)
        }
        #expect(load("\"json\"").isEmpty)
        #expect(
            load("\"xml\"").first?.hasPrefix(
                "d:1:50: error: unknown payload 'xml'; known are \"json\", \"gatt\", \"binary\", \"hl7v2\", \"gatt/2A18\""
            ) == true
        )
        #expect(load("1") == ["d:1:50: error: 'payload' must be a string, found a number"])
    }
}
