import KymographCore
import Testing

/// Identifiers that FHIR cannot hold, or that two different senders would share once they are decoded. Each is rejected
/// by its reason; none is folded into U+FFFD, cut, or taken for missing.
@Suite struct InvalidIdentifierTests {
    /// Texts in JSON.
    static let texts = [
        #"a\ud800"#, #"\udc00"#, #"\ud83d\u0041"#, #"\ude00\ud83d"#, #"\ud800\ud800\udc00"#, #"a\u0000"#, #"\u0000"#,
        #"a\nb"#, #"a\u001f"#, "a\u{7F}", #"a\u007f"#, "a\u{80}", "a\u{9F}", #"\u0085b"#,
    ]

    private static let fields = [
        "d": "device", "p": "patient", "e": "encounter", "c": "correlation", "r": "readingId",
    ]

    private func run(_ compatibility: Compatibility = .none) throws -> MappingRun {
        try MappingRun(
            [
                TestTemplate.jsonPath(with: [
                    "patientIdExpression": "$.p", "encounterIdExpression": "$.e", "correlationIdExpression": "$.c",
                    "readingIdExpression": "$.r",
                ])
            ], compatibility: compatibility)
    }

    private func payload(_ field: String, _ text: String) -> String {
        let members = InvalidIdentifierTests.fields.keys.sorted().map { #","\#($0)":"\#($0 == field ? text : "ok")""# }
        return #"{"t":"2021-07-13T17:29:01Z","v":1\#(members.joined())}"#
    }

    @Test(arguments: texts, [Compatibility.none, .iomtFHIR]) func rejects(
        _ text: String, _ compatibility: Compatibility
    ) throws {
        var run = try run(compatibility)
        run.context.defaultDevice = Array("D".utf8)
        run.context.defaultPatient = Array("P".utf8)
        for (field, name) in InvalidIdentifierTests.fields {
            let outcome = run.line(payload(field, text))
            #expect(outcome.readings == [] && outcome.reasons == [.invalidIdentifier], "\(field) \(text)")
            #expect(outcome.rejections.map { "\($0.field)" } == [name])
            #expect(outcome.rejections.map(\.text) == [payload(field, text)])
        }
    }

    /// The plan of flat payloads, and lines whose shape is known, read the device without the general way.
    @Test(arguments: texts) func rejectsInLinesOfAKnownShape(_ text: String) throws {
        let run = try FlatReadings.run()
        let good = FlatReadings.line("dev")
        let bad = FlatReadings.line(text)
        for payload in [[good, good, good, bad, good], [bad, good, bad, good]] {
            let outcome = run.lines(payload)
            #expect(Set(outcome.readings.map(\.device)) == ["dev"])
            #expect(outcome.rejections.map(\.text) == payload.filter { $0 == bad })
            #expect(outcome.reasons.allSatisfy { $0 == .invalidIdentifier })
        }
        let array = "[" + [good, good, bad, good].joined(separator: ",") + "]"
        let outcome = run.lines([good, array])
        #expect(
            outcome.readings.map(\.device) == ["dev", "dev", "dev", "dev"] && outcome.reasons == [.invalidIdentifier])
    }

    /// An expression that makes the identifier has folded the halves by then.
    @Test func rejectsTextsThatAreMade() throws {
        let run = try MappingRun([
            TestTemplate.jsonPath(
                kind: "CalculatedContent",
                with: [
                    "deviceIdExpression": ["value": "join('-', [matchedToken.d, 'x'])", "language": "JmesPath"],
                    "typeMatchExpression": "$..[?(@v)]", "timestampExpression": "$.matchedToken.t",
                    "values": [
                        ["valueName": "x", "valueExpression": "$.matchedToken.v", "required": true] as [String: Any]
                    ],
                ])
        ])
        let texts = [#"a\ud800"#, #"a\u0007"#, "ok", #"\ufffd"#]
        let outcomes = texts.map { run.line(#"{"d":"\#($0)","t":"2021-07-13T17:29:01Z","v":1}"#) }
        #expect(outcomes.map(\.reasons) == [[.invalidIdentifier], [.invalidIdentifier], [], []])
        #expect(outcomes.flatMap(\.readings).map(\.device) == ["ok-x", "\u{FFFD}-x"])
    }

    /// Other texts keep what FHIR can hold of them.
    @Test func leavesValuesAlone() throws {
        let run = try MappingRun([TestTemplate.jsonPath()])
        #expect(run.line(TestTemplate.reading(#""v":"a\ud800""#)).values() == ["a\u{FFFD}"])
    }
}

/// Readings whose parts are members of a flat object.
private enum FlatReadings {
    static func run() throws -> MappingRun {
        let fhir = #"""
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"typeName":"t",
            "codes":[{"code":"8867-4","system":"http://loinc.org","display":"HR"}],"periodInterval":60,
            "value":{"valueName":"x","valueType":"Quantity","unit":"/min","code":"/min",
            "system":"http://unitsofmeasure.org"}}}]}
            """#
        return try MappingRun(device: TestTemplate.file([TestTemplate.jsonPath()]), fhir: fhir)
    }

    static func line(_ device: String) -> String {
        #"{"d":"\#(device)","t":"2021-07-13T17:29:01Z","v":61}"#
    }
}
