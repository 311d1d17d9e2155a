import KymographCore
import Testing

/// Values: the matrix of section 2.4 of the mapping dialect.
@Suite struct MapperValueTests {
    /// What the value's expression finds, and what becomes of an optional and of a required one.
    static let matrix: [(String, String?, Rejection?)] = [
        ("", nil, .missingValue), (#","v":null"#, nil, .nullValue), (#","v":{}"#, nil, .invalidValue),
        (#","v":[1]"#, nil, .invalidValue), (#","v":"""#, "", .missingValue), (#","v":"  ""#, "  ", .missingValue),
        (#","v":"a""#, "a", nil), (#","v":0"#, "0", nil), (#","v":98.60"#, "98.60", nil),
        (#","v":1e400"#, "1e400", nil),
        (#","v":123456789012345678901"#, "123456789012345678901", nil), (#","v":true"#, "True", nil),
        (#","v":false"#, "False", nil), (#","v":"\u00e9\t""#, "é\t", nil),
        (#","v":"2019-02-01T22:46:01.875Z""#, "2019-02-01T22:46:01.875Z", nil),
    ]

    @Test(arguments: matrix) func keepsTexts(_ member: String, _ optional: String?, _ required: Rejection?) throws {
        let payload = TestTemplate.reading("\"w\":1\(member)")
        for isRequired in [false, true] {
            let values = [
                TestTemplate.value("w", "$.w"), TestTemplate.value("x", "$.v", required: isRequired),
            ]
            let outcome = try MappingRun([TestTemplate.jsonPath(match: "$..[?(@w)]", values: values)]).line(payload)
            if isRequired, let required {
                #expect(outcome.reasons == [required])
                #expect(outcome.rejections.map(\.field) == [.value])
                #expect(outcome.rejections.map(\.value) == [1])
                #expect(outcome.rejections.map(\.text) == [payload])
            } else {
                #expect(outcome.values() == [optional])
                #expect(outcome.values("w") == ["1"])
            }
        }
    }

    @Test func severalTokens() throws {
        let payload = TestTemplate.reading(#""w":1,"a":{"v":1},"b":{"v":2}"#)
        for isRequired in [false, true] {
            let values = [TestTemplate.value("w", "$.w"), TestTemplate.value("x", "$..v", required: isRequired)]
            let outcome = try MappingRun([TestTemplate.jsonPath(match: "$..[?(@w)]", values: values)]).line(payload)
            #expect(outcome.reasons == (isRequired ? [.ambiguousExpression] : []))
            #expect(outcome.values() == (isRequired ? [] : [nil]))
        }
    }

    @Test func aReadingWithoutAnyValueIsNone() throws {
        // Quirk 17, fixed.
        let run = try MappingRun([TestTemplate.jsonPath(values: [TestTemplate.value("x", "$.w")])])
        #expect(run.line(TestTemplate.reading(#""v":1"#)).reasons == [.missingValue])
        let none = try MappingRun([TestTemplate.jsonPath(values: [])])
        #expect(none.line(TestTemplate.reading(#""v":1"#)).reasons == [.missingValue])
    }

    // MARK: Numbers

    private static let fhir = #"""
        {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"typeName":"t",
         "codes":[{"code":"8867-4","system":"http://loinc.org"}],"periodInterval":0,
         "value":{"valueType":"Quantity","valueName":"x","unit":"/min","system":"http://unitsofmeasure.org","code":"/min"}}}]}
        """#

    private func numeric(required: Bool) throws -> MappingRun {
        let body = #"""
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{"typeName":"t",
             "typeMatchExpression":"$..[?(@d)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
             "values":[{"valueName":"x","valueExpression":"$.v","required":\#(required)}]}}]}
            """#
        return try MappingRun(device: body, fhir: MapperValueTests.fhir)
    }

    @Test(arguments: [
        ("60", "60"), ("98.60", "9860e-2"), ("-1.5e3", "-15e2"), (#""72""#, "72"), (#""7.20""#, "720e-2"),
        (#""\u0037""#, "7"),
        ("999999999999999999", "999999999999999999"),
    ])
    func keepsDigitsOfNumbers(_ json: String, _ expected: String) throws {
        #expect(try numeric(required: true).line(TestTemplate.reading("\"v\":\(json)")).values() == [expected])
    }

    @Test(arguments: [
        (#""n/a""#, Rejection.invalidValue), (#""""#, .invalidValue), (#"" 72""#, .invalidValue),
        (#""1,234""#, .invalidValue),
        ("true", .invalidValue), ("1234567890123456789", .inexactNumber), ("1e101", .inexactNumber),
        (#""0.1234567890123456789""#, .inexactNumber),
    ])
    func refusesWhatIsNoNumber(_ json: String, _ reason: Rejection) throws {
        for required in [false, true] {
            #expect(try numeric(required: required).line(TestTemplate.reading("\"v\":\(json)")).reasons == [reason])
        }
    }

    // MARK: Many and long values

    @Test func keepsMoreThanFourValues() throws {
        let values = (0..<20).map { TestTemplate.value("n\($0)", "$.n\($0)") }
        let run = try MappingRun([TestTemplate.jsonPath(match: "$..[?(@d)]", values: values)])
        let members = (0..<20).filter { $0 % 3 != 1 }.map { "\"n\($0)\":\($0).50" }.joined(separator: ",")
        let expected = (0..<20).filter { $0 % 3 != 1 }.map { ("n\($0)", "\($0).50") }
        let outcome = run.line(TestTemplate.reading(members))
        #expect(outcome.readings.map(\.values) == [Dictionary(uniqueKeysWithValues: expected)])
    }

    @Test func capsTheValuesOfAType() throws {
        let values = (0..<255).map { TestTemplate.value("n\($0)", "$.n\($0)") }
        let most = try MappingRun([TestTemplate.jsonPath(match: "$..[?(@d)]", values: values)])
        let members = (0..<255).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
        #expect(most.line(TestTemplate.reading(members)).readings.first?.values.count == 255)
        #expect(throws: MappingRun.LoadFailure.self) {
            try MappingRun([TestTemplate.jsonPath(values: values + [TestTemplate.value("one more", "$.m")])])
        }
        #expect(throws: MappingRun.LoadFailure.self) {
            try MappingRun([
                TestTemplate.jsonPath(values: values), TestTemplate.jsonPath(values: [TestTemplate.value("y", "$.m")]),
            ])
        }
    }

    @Test func capsTexts() throws {
        let values = [TestTemplate.value("x", "$.v"), TestTemplate.value("y", "$.w")]
        let run = try MappingRun([TestTemplate.jsonPath(values: values)])
        func payload(_ first: Int, _ second: Int) -> String {
            let texts = [first, second].map { String(repeating: "é", count: $0 / 2) }
            return TestTemplate.reading(#""v":"\#(texts[0])","w":"\#(texts[1])""#)
        }
        let kept = run.line(payload(16_000, 16_200))
        #expect(kept.readings.map { $0.values["x"]?.utf8.count } == [16_000])
        #expect(kept.readings.map { $0.values["y"]?.utf8.count } == [16_200])
        #expect(run.line(payload(17_000, 0)).reasons == [.valueTooLong])
        #expect(run.line(payload(0, 40_000)).reasons == [.valueTooLong])
    }

    @Test func ofValuesWithOneNameTheFirstThatIsThereCounts() throws {
        let values = [
            TestTemplate.value("x", "$.v"), TestTemplate.value("y", "$.u"), TestTemplate.value("x", "$.w"),
        ]
        let run = try MappingRun([TestTemplate.jsonPath(match: "$..[?(@d)]", values: values)])
        let payloads = [#""v":1,"w":2"#, #""w":2,"u":5"#, #""v":null,"w":2"#, #""v":"","w":2"#].map(
            TestTemplate.reading)
        #expect(run.lines(payloads).values() == ["1", "2", "2", ""])
    }

    @Test func templatesOfOneTypeShareItsValues() throws {
        // Quirk 15: both read the same payload; their values have places of their own.
        let run = try MappingRun([
            TestTemplate.jsonPath(values: [TestTemplate.value("a", "$.v"), TestTemplate.value("b", "$.w")]),
            TestTemplate.jsonPath(
                match: "$..[?(@w)]", values: [TestTemplate.value("c", "$.u"), TestTemplate.value("b", "$.w")]),
        ])
        let outcome = run.line(TestTemplate.reading(#""v":1,"w":2,"u":3"#))
        #expect(outcome.readings.map(\.values) == [["a": "1", "b": "2"], ["b": "2", "c": "3"]])
    }
}
