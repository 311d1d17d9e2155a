import KymographCore
import Testing

/// The quirks of the reference system (mapping dialect, section 10) that concern device templates: copied where
/// compatibility asks for it, and what happens by default.
@Suite struct QuirkTests {
    private typealias Template = TestTemplate

    /// What one template makes of one payload, by default and compatibly.
    private func both(_ template: [String: Any], _ payload: String) throws -> [MappingRun.Outcome] {
        try Compatibility.allCases.map { try MappingRun([template], compatibility: $0).line(payload) }
    }

    /// The value `x` of the payload member `v`, by default and compatibly.
    private func values(_ json: String) throws -> [String?] {
        let template = Template.jsonPath(values: [Template.value("x", "$.v")])
        return try both(template, Template.reading("\"v\":\(json)")).map { $0.values().first ?? nil }
    }

    // MARK: Values

    @Test(arguments: [
        ("2019-02-01T22:46:01.875Z", "02/01/2019 22:46:01"), ("2019-02-01T22:46:01", "02/01/2019 22:46:01"),
        ("2019-02-01T22:46:01.8751234+02:00", "02/01/2019 20:46:01"), ("2019-02-01T22:46Z", nil),
        ("2019-02-01 22:46:01Z", nil), ("2019-02-01T22:46:01.12345678Z", nil), ("2019-02-30T22:46:01Z", nil),
        ("T019-02-01T22:46:01Z", nil), ("/Date(1549061161875)/", "02/01/2019 22:46:01"),
        ("/Date(0)/", "01/01/1970 00:00:00"),
        ("/Date(-1)/", "12/31/1969 23:59:59"), ("/Date(1549061161875+0200)/", "02/01/2019 22:46:01"),
        ("/Date(1549061161875-05)/", "02/01/2019 22:46:01"), ("/Date(x)/", nil), ("/Date(1.5)/", nil),
        ("/Date(1549061161875+x)/", nil), ("/Date(99999999999999999999)/", nil), ("Date(1549061161875)", nil),
        ("2019-02-01T22:46:01,875Z", nil), ("2019-02-01T22:46:60Z", nil), ("2019-02-01t22:46:01Z", nil),
        ("2019-02-01T22:46:01.875z", "02/01/2019 22:46:01"), ("2019-12-31T24:00:00", "01/01/2020 00:00:00"),
        ("2019-02-28T24:00:00.000Z", "03/01/2019 00:00:00"), ("2019-02-28T24:00:00+01:00", "02/28/2019 23:00:00"),
        ("2019-02-28T24:00:01Z", nil), ("2019-02-28T24:00:00.001Z", nil), ("2019-02-28T24:01:00Z", nil),
    ])
    func quirk1TextsThatLookLikeTimes(_ text: String, _ printed: String?) throws {
        #expect(try values("\"\(text)\"") == [text, printed ?? text])
    }

    @Test func quirk1IdentifiersToo() throws {
        let payload = #"{"d":"2019-02-01T22:46:01.875Z","t":"2021-07-13T17:29:01.5Z","v":1}"#
        let outcomes = try both(Template.jsonPath(), payload)
        #expect(outcomes.flatMap(\.readings).map(\.device) == ["2019-02-01T22:46:01.875Z", "02/01/2019 22:46:01"])
        #expect(
            outcomes.flatMap(\.readings).map(\.nanoseconds) == [1_626_197_341_500_000_000, 1_626_197_341_500_000_000])
    }

    @Test func quirk1TransportPropertiesAreTexts() throws {
        let time = "2019-02-01T22:46:01Z"
        let template = Template.jsonPath(
            match: "$..[?(@Body)]", values: [Template.value("x", "$.Properties.p")],
            with: ["deviceIdExpression": "$.Body.d", "timestampExpression": "$.Body.t"])
        let payload = #"{"Body":{"d":"dev","t":"\#(time)"},"Properties":{"p":"\#(time)"},"SystemProperties":{}}"#
        #expect(try both(template, payload).map { $0.values() } == [[time], [time]])
    }

    @Test(arguments: [
        ("98.60", "98.6"), ("60.0", "60"), ("98.43639286275842", "98.43639286275842"), ("1e3", "1000"),
        ("1e15", "1E+15"), ("123456789012345678", "123456789012345678"), ("1.5e300", "1.5E+300"),
        ("0.0001", "0.0001"), ("0.00001", "1E-05"), ("0.1000000000000000055511151231257827", "0.1"), ("-0", "0"),
        ("-2.50", "-2.5"), ("123456789012345678901", "123456789012345678901"), ("1e400", "Infinity"),
    ])
    func quirk33NumbersThroughDoubles(_ number: String, _ printed: String) throws {
        #expect(try values(number) == [number, printed])
    }

    @Test func quirk7OptionalEmptyTexts() throws {
        #expect(try values("\"\"") == ["", ""])
    }

    @Test func quirk17ReadingsWithoutValues() throws {
        let template = Template.jsonPath(values: [Template.value("x", "$.w")])
        let outcomes = try both(template, Template.reading("\"v\":1"))
        #expect(outcomes.map(\.reasons) == [[.missingValue], []])
        #expect(outcomes.map(\.readings.count) == [0, 1])
    }

    @Test(
        arguments: [
            ("\"1,234\"", nil, "1234"), ("\" 12.5 \"", nil, "125e-1"), ("\"5-\"", nil, "-5"), ("\"+5\"", nil, "5"),
            ("\".5\"", nil, "5e-1"), ("1E3", "1e3", "1000"), ("\"1E3\"", "1e3", nil), ("\"\"", nil, nil),
            ("\"1 2\"", nil, nil),
            ("22.40", "2240e-2", "224e-1"), ("\"22.40\"", "2240e-2", "2240e-2"), ("1E20", "1e20", nil),
            ("\",1\"", nil, nil), ("\"- 5\"", nil, nil), ("\"+ 5\"", nil, nil), ("\"5 -\"", nil, "-5"),
            ("\" -5 \"", nil, "-5"), ("\" 5 - \"", nil, "-5"), ("\"-5-\"", nil, nil),
        ] as [(String, String?, String?)])
    func quirk28NumbersOfQuantities(_ json: String, _ ours: String?, _ theirs: String?) throws {
        let found = try Compatibility.allCases.map { compatibility -> String? in
            let run = try numeric(compatibility, isRequired: true)
            return run.line(Template.reading("\"v\":\(json)")).values().first ?? nil
        }
        #expect(found == [ours, theirs])
    }

    /// A mapping whose value `x` is the number of a Quantity.
    private func numeric(_ compatibility: Compatibility, isRequired: Bool) throws -> MappingRun {
        let fhir = #"""
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"typeName":"t",
             "codes":[{"code":"8867-4","system":"http://loinc.org"}],"periodInterval":0,
             "value":{"valueType":"Quantity","valueName":"x","unit":"/min","code":"/min"}}}]}
            """#
        let device = #"""
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
             "typeName":"t","typeMatchExpression":"$..[?(@v)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
             "values":[{"valueName":"x","valueExpression":"$.v","required":\#(isRequired)}]}}]}
            """#
        return try MappingRun(device: device, fhir: fhir, compatibility: compatibility)
    }

    /// Scalars that are no numbers are noticed when the Observation is written; what is missing, or no scalar, before.
    @Test(
        arguments: [
            ("true", true, .invalidValue, false), ("\"abc\"", true, .invalidValue, false),
            ("false", false, .invalidValue, false), ("1e400", true, .invalidValue, false),
            ("\"\"", false, .invalidValue, false), ("\" \"", true, .missingValue, true),
            ("null", true, .nullValue, true), ("[1]", true, .invalidValue, true), ("{}", true, .invalidValue, true),
        ] as [(String, Bool, Rejection, Bool)])
    func quirk4WhatIsNoNumber(_ json: String, _ isRequired: Bool, _ reason: Rejection, _ endsEvent: Bool) throws {
        let good = Template.reading("\"v\":1")
        let payload = "[\(Template.reading("\"v\":\(json)")),\(good)]"
        let outcome = try numeric(.iomtFHIR, isRequired: isRequired).line(payload)
        #expect(outcome.reasons == (endsEvent ? [reason, .eventAborted] : [reason]))
        #expect(outcome.values() == (endsEvent ? [] : ["1"]))
        // By default no failure costs more than its own reading.
        #expect(try numeric(.none, isRequired: isRequired).line(payload).values() == ["1"])
    }

    // MARK: JMESPath

    /// A template in JMESPath over `{"d":…,"t":…}`.
    private func query(match: String = "Body", value: String) -> [String: Any] {
        Template.jsonPath(
            match: match, values: [Template.value("x", value, required: true)], kind: "CalculatedContent",
            with: [
                "defaultExpressionLanguage": "JmesPath", "deviceIdExpression": "Body.d",
                "timestampExpression": "Body.t",
            ])
    }

    @Test(
        arguments: [
            (#""v":[{"n":5}]"#, ["5"], []), (#""v":[]"#, [], [.missingValue]),
            (#""v":[{"n":5},{"n":6}]"#, [], [.ambiguousExpression]),
        ] as [(String, [String], [Rejection])])
    func quirk11ProjectionsOfOneElement(_ members: String, _ ours: [String], _ reasons: [Rejection]) throws {
        let outcomes = try both(query(value: "Body.v[].n"), Template.reading(members))
        #expect(outcomes[0].values() == ours)
        #expect(outcomes[0].reasons == reasons)
        // An array is no value; more than one element are several tokens in both.
        #expect(outcomes[1].reasons == [reasons == [.ambiguousExpression] ? .ambiguousExpression : .invalidValue])
    }

    @Test func quirk12FalseAsMatch() throws {
        let template = query(match: "contains(keys(Body), 'zzz')", value: "Body.v")
        let outcomes = try both(template, Template.reading("\"v\":1"))
        #expect(outcomes.map { $0.values() } == [[], ["1"]])
        #expect(outcomes.map(\.reasons) == [[.noTemplate], []])
    }

    @Test(arguments: [
        ("divide(`40`, `50`)", "0"), ("divide(`40`, `50.0`)", "0.8"), ("divide(Body.v, `2`)", "3"),
        ("subtract(`0`, `-9223372036854775808`)", "-9223372036854775808"),
    ])
    func quirk13IntegersDivideAndWrap(_ expression: String, _ result: String) throws {
        let outcomes = try both(query(value: expression), Template.reading("\"v\":7"))
        #expect(outcomes.map { $0.values() } == [[result], [result]])
    }

    @Test func quirk13WrapsAreCounted() throws {
        let run = try MappingRun([query(value: "add(`9223372036854775807`, Body.v)")])
        let notes = run.notes(of: [
            Template.reading("\"v\":1"), Template.reading("\"v\":0"), Template.reading("\"v\":2"),
        ])
        #expect(notes.wrapped == 2)
    }

    @Test func aFailureRejectsTheReading() throws {
        let outcomes = try both(query(value: "divide(Body.v, `0`)"), Template.reading("\"v\":7"))
        #expect(outcomes.map(\.reasons) == [[.expressionFailed], [.expressionFailed]])
    }

    // MARK: Templates

    @Test func quirk2NamesOfTheDocumentation() throws {
        for name in ["CalculatedContentTemplate", "IotCentralJsonPathContentTemplate", "CalculatedFunctionContent"] {
            let template = Template.jsonPath(kind: name)
            #expect(throws: Never.self) { try MappingRun([template]) }
            #expect(throws: MappingRun.LoadFailure.self) { try MappingRun([template], compatibility: .iomtFHIR) }
        }
    }

    @Test func quirk3MissingValuesAreNamed() throws {
        for compatibility in Compatibility.allCases {
            let template = Template.jsonPath(kind: "CalculatedContent", with: ["deviceIdExpression": " "])
            #expect(throws: MappingRun.LoadFailure.self) { try MappingRun([template], compatibility: compatibility) }
        }
    }

    @Test func quirk4ErrorsEndTheEvent() throws {
        let templates = [
            Template.jsonPath("a"), Template.jsonPath("b", values: [Template.value("x", "$.w", required: true)]),
            Template.jsonPath("c"),
        ]
        let payload = Template.reading("\"v\":1")
        let outcomes = try Compatibility.allCases.map { try MappingRun(templates, compatibility: $0).line(payload) }
        #expect(outcomes.map { $0.readings.map(\.type) } == [["a", "c"], ["a"]])
        // What would still have matched is counted.
        #expect(outcomes.map(\.reasons) == [[.missingValue], [.missingValue, .eventAborted]])
    }

    @Test func quirk4ElementsBehindTheErrorAreCounted() throws {
        let template = Template.jsonPath(match: "$..[?(@v)]", values: [Template.value("x", "$.w", required: true)])
        let element = Template.reading("\"v\":1")
        let good = Template.reading("\"v\":1,\"w\":2")
        let outcomes = try both(template, "[\(good),\(element),\(good),\(good)]")
        #expect(outcomes.map(\.readings.count) == [3, 1])
        #expect(outcomes.map(\.reasons) == [[.missingValue], [.missingValue, .eventAborted, .eventAborted]])
    }

    @Test func quirk4NestedMatchesBehindTheErrorAreCounted() throws {
        let template = Template.jsonPath(match: "$..[?(@v)]", values: [Template.value("x", "$.w", required: true)])
        let good = Template.reading("\"v\":1,\"w\":2")
        let outcomes = try both(template, "{\"r\":[\(good),\(Template.reading("\"v\":1")),\(good),\(good)]}")
        #expect(outcomes.map(\.readings.count) == [3, 1])
        #expect(outcomes.map(\.reasons) == [[.missingValue], [.missingValue, .eventAborted, .eventAborted]])
    }

    @Test func quirk4OnlyNormalisingEndsTheEvent() throws {
        // The reference notices neither before it writes Observations.
        let ahead = #"{"d":"dev","t":"2099-01-01T00:00:00Z","v":1,"w":2}"#
        let templates = [
            Template.jsonPath("a"),
            Template.jsonPath("b", match: "$..[?(@w)]", with: ["timestampExpression": "$.u"]),
        ]
        let payload = ahead.replacing("\"w\"", with: "\"u\":\"2021-07-13T17:29:01Z\",\"w\"")
        for compatibility in Compatibility.allCases {
            let outcome = try MappingRun(templates, compatibility: compatibility).line(payload)
            #expect(outcome.readings.map(\.type) == ["b"])
            #expect(outcome.reasons == [.clockAhead])
        }
    }

    @Test func quirk5SeveralTokensForAnOptionalValue() throws {
        let template = Template.jsonPath(values: [Template.value("w", "$.v"), Template.value("x", "$..y")])
        let outcomes = try both(template, Template.reading(#""v":1,"a":{"y":1},"b":{"y":2}"#))
        #expect(outcomes.map(\.reasons) == [[], [.ambiguousExpression]])
        #expect(outcomes.map { $0.values("w") } == [["1"], []])
        let payload = Template.reading(#""v":1,"a":{"y":1},"b":{"y":2}"#)
        #expect(try MappingRun([template]).notes(of: [payload, payload]).leftOut == 2)
    }

    @Test func quirk6ErrorsOfJSONPath() throws {
        let template = Template.jsonPath(values: [Template.value("w", "$.v"), Template.value("x", "$.a[")])
        #expect(throws: MappingRun.LoadFailure.self) { try MappingRun([template]) }
        let outcome = try MappingRun([template], compatibility: .iomtFHIR).line(Template.reading("\"v\":1"))
        #expect(outcome.reasons == [.expressionFailed])
        #expect(outcome.rejections.map(\.field) == [.value])
        let match = try MappingRun([Template.jsonPath(match: "$..[?(@v")], compatibility: .iomtFHIR)
        #expect(match.line(Template.reading("\"v\":1")).rejections.map(\.field) == [.match])
    }

    @Test func quirk8DescentTestsTheNodeItself() throws {
        let outcomes = try both(Template.jsonPath(), Template.reading(#""v":1,"n":\#(Template.reading("\"v\":2"))"#))
        #expect(outcomes.map { $0.values() } == [["1", "2"], ["1", "2"]])
    }

    @Test(arguments: [("null", [String?](), [String?.none]), ("false", ["False"], ["False"])])
    func quirk10NullAndFalseExist(_ json: String, _ ours: [String?], _ theirs: [String?]) throws {
        // A reading whose only value is null has no value: quirk 17.
        let template = Template.jsonPath(values: [Template.value("x", "$.v")])
        #expect(try both(template, Template.reading("\"v\":\(json)")).map { $0.values() } == [ours, theirs])
    }

    // MARK: The lenient reader

    @Test(arguments: [
        #"{"d":"dev","t":"2021-07-13T17:29:01Z","v":1,} // comment"#, #"{'d':'dev',t:'2021-07-13T17:29:01Z',v:1}"#,
        #"{"d":"dev","t":"2021-07-13T17:29:01Z",/* c */"v":1}"#,
    ])
    func payloadsThatAreNotQuiteJSON(_ payload: String) throws {
        let outcomes = try both(Template.jsonPath(), payload)
        #expect(outcomes.map(\.reasons) == [[.invalidJSON], []])
        #expect(outcomes.map { $0.values() } == [[], ["1"]])
    }

    @Test func deadLettersKeepWhatCame() throws {
        let payload = "{'d':'dev',t:'2021-07-13T17:29:01Z','v':null}"
        let outcome = try MappingRun([Template.jsonPath()], compatibility: .iomtFHIR).line(payload)
        #expect(outcome.reasons == [.nullValue])
        #expect(outcome.rejections.map(\.text) == [payload])
        // Nothing of it is left for the next one.
        let strict = Template.reading("\"v\":null")
        let lines = try MappingRun([Template.jsonPath()], compatibility: .iomtFHIR).lines([payload, strict, "{"])
        #expect(lines.rejections.map(\.text) == [payload, strict, "{"])
        #expect(lines.reasons == [.nullValue, .nullValue, .invalidJSON])
    }

    // MARK: Time

    @Test(
        arguments: [
            ("2021/07/13 17:29:01", 1_626_197_341), ("07/13/2021 17:29:01", 1_626_197_341),
            ("7/13/2021 5:29:01 PM", 1_626_197_341), ("2021-07-13", 1_626_134_400),
            ("Tue, 13 Jul 2021 17:29:01 GMT", 1_626_197_341), ("13.07.2021", nil), ("17:29", nil),
            ("7/13/2021 13:29 PM", nil), ("7/13/2021 5:29:01 PM -00:00", 1_626_197_341),
            ("7/13/2021 17:29:01 Z", 1_626_197_341), ("Jul 13, 2021", 1_626_134_400),
            ("July 13, 2021 17:29:01", 1_626_197_341), ("13 Jul 2021 17:29:01", 1_626_197_341),
            ("13 jul 2021 5:29:01 pm", 1_626_197_341), ("13 Jul 2021 19:29:01 +0200", 1_626_197_341),
            ("Tuesday, 13 Jul 2021 17:29:01", 1_626_197_341), ("/Date(1626197341000)/", 1_626_197_341),
            ("/Date(1626197341000+0200)/", 1_626_197_341), ("2021-07-12T24:00:00Z", 1_626_134_400),
            ("2021-07-13 +02:00", nil), ("13 Foo 2021", nil), ("13 Jul 21", nil), ("32 Jul 2021", nil),
            ("Jul 2021", nil),
            ("2021-07-13 17:29:01 +02:00 x", nil), ("Tue,", nil), ("Jul 13,", nil),
        ] as [(String, Int64?)])
    func timesOfTheGeneralParse(_ text: String, _ seconds: Int64?) throws {
        let outcomes = try both(Template.jsonPath(), #"{"d":"dev","t":"\#(text)","v":1}"#)
        #expect(outcomes[0].reasons == [.invalidTimestamp])
        #expect(outcomes[1].readings.map(\.nanoseconds) == (seconds.map { [$0 * 1_000_000_000] } ?? []))
    }

    @Test(arguments: ["2021-07-13 19:29:01 +02:00", "2021-07-13T19:29:01 +0200"])
    func timesWithABlankBeforeTheOffset(_ text: String) throws {
        let outcomes = try both(Template.jsonPath(), #"{"d":"dev","t":"\#(text)","v":1}"#)
        #expect(outcomes.map { $0.readings.map(\.nanoseconds) } == [[Template.instant], [Template.instant]])
    }

    /// The reference takes no text with a blank for a date of its own accord, so such a value stays a text.
    @Test(arguments: ["2021-07-13T19:29:01 +0200", "2021-07-13T19:29:01.25 +02:00"])
    func valuesWithABlankBeforeTheOffsetAreNoDates(_ text: String) throws {
        let outcomes = try both(Template.jsonPath(), #"{"d":"\#(text)","t":"2021-07-13T17:29:01Z","v":1}"#)
        #expect(outcomes.map { $0.readings.map(\.device) } == [[text], [text]])
    }

    @Test func quirk32TimesWithoutZoneAreUTC() throws {
        let outcomes = try both(Template.jsonPath(), #"{"d":"dev","t":"2021-07-13T17:29:01","v":1}"#)
        #expect(outcomes.map { $0.readings.map(\.nanoseconds) } == [[Template.instant], [Template.instant]])
    }

    // MARK: Asking for it

    @Test func theFileAsksForItself() throws {
        let device = #"""
            {"templateType":"CollectionContent","compatibility":"iomt-fhir","template":[{"templateType":"JsonPathContent",
             "template":{"typeName":"t","typeMatchExpression":"$..[?(@v)]","deviceIdExpression":"$.d",
             "timestampExpression":"$.t","values":[{"valueName":"x","valueExpression":"$.v"}]}}]}
            """#
        #expect(try MappingRun(device: device).line(Template.reading("\"v\":60.0")).values() == ["60"])
        let ours = device.replacing("\"iomt-fhir\"", with: "\"none\"")
        #expect(
            try MappingRun(device: ours, compatibility: .iomtFHIR).line(Template.reading("\"v\":60.0")).values() == [
                "60.0"
            ])
        #expect(throws: MappingRun.LoadFailure.self) {
            try MappingRun(device: device.replacing("\"iomt-fhir\"", with: "\"iomt\""))
        }
    }
}
