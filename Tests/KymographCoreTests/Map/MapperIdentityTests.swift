import KymographCore
import Testing

/// Device, patient, encounter and correlation id (mapping dialect, section 2.4).
@Suite struct MapperIdentityTests {
    private static var fields: [String: Any] {
        ["patientIdExpression": "$.p", "encounterIdExpression": "$.e"]
    }

    private func run(_ fields: [String: Any] = MapperIdentityTests.fields) throws -> MappingRun {
        try MappingRun([TestTemplate.jsonPath(with: fields)])
    }

    private func payload(_ members: String) -> String { #"{"t":"2021-07-13T17:29:01Z","v":1\#(members)}"# }

    @Test func readsAllIdentifiers() throws {
        let run = try run([
            "patientIdExpression": "$.p", "encounterIdExpression": "$.e", "correlationIdExpression": "$.c",
        ])
        let outcome = run.line(payload(#","d":"D","p":"P","e":"E","c":"C""#))
        #expect(
            outcome
                == .init(
                    readings: [
                        MappedReading(
                            type: "t", nanoseconds: TestTemplate.instant, offsetMinutes: UTCOffset.none, device: "D",
                            patient: "P",
                            encounter: "E", correlation: "C", values: ["x": "1"])
                    ], rejections: []))
    }

    /// JSON, and the identifier it gives; nil for none.
    static let texts: [(String, String?)] = [
        (#""a""#, "a"), ("7", "7"), ("0.10", "0.10"), ("1E+16", "1E+16"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("true", "True"), ("false", "False"), (#""\u00e9\"\\\/""#, "é\"\\/"), (#""\ud83d\ude00""#, "😀"),
        (#""\ufffd""#, "\u{FFFD}"), (#"" a ""#, " a "), ("null", nil), (#""""#, nil), (#"" ""#, nil), (#""\t\n""#, nil),
        (#""2021-07-13T17:29:01Z""#, "2021-07-13T17:29:01Z"),
    ]

    @Test(arguments: texts) func coercesScalars(_ json: String, _ expected: String?) throws {
        let run = try run()
        let device = run.line(payload(#","d":\#(json)"#))
        #expect(device.readings.map(\.device) == (expected.map { [$0] } ?? []))
        #expect(device.reasons == (expected == nil ? [.noDevice] : []))
        let others = run.line(payload(#","d":"D","p":\#(json),"e":\#(json)"#))
        #expect(others.readings.map(\.patient) == [expected])
        #expect(others.readings.map(\.encounter) == [expected])
    }

    @Test(arguments: ["{}", "[]", #"["a"]"#, #"{"id":"a"}"#]) func aContainerIsNoIdentifier(_ json: String) throws {
        var run = try run()
        let device = run.line(payload(#","d":\#(json)"#))
        #expect(device.rejections.map(\.field) == [.device])
        #expect(device.reasons == [.invalidValue])
        // Nobody who stands for a missing one takes its place.
        run.context.defaultPatient = Array("home".utf8)
        for (member, field) in [("p", RejectionDetail.Field.patient), ("e", .encounter)] {
            let other = run.line(payload(#","d":"D","\#(member)":\#(json)"#))
            #expect(other.reasons == [.invalidValue] && other.rejections.map(\.field) == [field])
        }
    }

    /// For the reference, optional ones are as good as missing.
    @Test(arguments: ["{}", "[]", #"["a"]"#, #"{"id":"a"}"#])
    func aContainerIsMissingForTheReference(_ json: String) throws {
        var run = try MappingRun([TestTemplate.jsonPath(with: Self.fields)], compatibility: .iomtFHIR)
        let others = run.line(payload(#","d":"D","p":\#(json),"e":\#(json)"#))
        #expect(others.readings.map(\.patient) == [nil])
        #expect(others.readings.map(\.encounter) == [nil])
        run.context.requiresPatient = true
        #expect(run.line(payload(#","d":"D","p":\#(json)"#)).reasons == [.noPatient])
        run.context.defaultPatient = Array("home".utf8)
        #expect(run.line(payload(#","d":"D","p":\#(json)"#)).readings.map(\.patient) == ["home"])
    }

    @Test func severalTokensAreAmbiguous() throws {
        for field in ["deviceIdExpression", "patientIdExpression", "encounterIdExpression", "correlationIdExpression"] {
            let run = try run([field: "$..i"])
            let outcome = run.line(payload(#","d":"D","a":{"i":1},"b":{"i":2}"#))
            #expect(outcome.reasons == [.ambiguousExpression], "\(field)")
            #expect(run.line(payload(#","d":"D","a":{"i":1}"#)).readings.count == 1, "\(field)")
        }
    }

    @Test(arguments: ["", #","c":null"#, #","c":"""#, #","c":" ""#]) func aCorrelationExpressionMustGive(
        _ member: String
    ) throws {
        let run = try run(["correlationIdExpression": "$.c"])
        let outcome = run.line(payload(#","d":"D"\#(member)"#))
        #expect(outcome.reasons == [.noCorrelation])
        #expect(outcome.rejections.map(\.field) == [.correlation])
    }

    @Test func theSourceStatesDefaults() throws {
        var run = try run()
        run.context = SourceContext(defaultDevice: Array("D0".utf8), defaultPatient: Array("P0".utf8))
        let outcome = run.lines([payload(""), payload(#","d":"D","p":"P""#), payload(#","d":"","p":null"#)])
        #expect(outcome.readings.map(\.device) == ["D0", "D", "D0"])
        #expect(outcome.readings.map(\.patient) == ["P0", "P", "P0"])
        #expect(outcome.readings.map(\.encounter) == [nil, nil, nil])
    }

    @Test func strictIdentityNeedsAPatient() throws {
        var run = try run()
        run.context.requiresPatient = true
        #expect(run.line(payload(#","d":"D""#)).reasons == [.noPatient])
        #expect(run.line(payload(#","d":"D","p":"P""#)).readings.count == 1)
        run.context.defaultPatient = Array("P0".utf8)
        #expect(run.line(payload(#","d":"D""#)).readings.map(\.patient) == ["P0"])
    }

    @Test func identifiersAreCapped() throws {
        let run = try run()
        let longest = String(repeating: "i", count: 1_024)
        let outcome = run.line(payload(#","d":"\#(longest)","p":"\#(longest)""#))
        #expect(outcome.readings.map(\.device) == [longest])
        #expect(outcome.readings.map(\.patient) == [longest])
        for field in ["d", "p", "e"] {
            let members = ["d", "p", "e"].map { #","\#($0)":"\#($0 == field ? longest + "i" : "ok")""# }.joined()
            #expect(run.line(payload(members)).reasons == [.valueTooLong], "\(field)")
        }
        // The cap is on what the text means, not on how it is written.
        let escaped = String(repeating: #"\u0069"#, count: 1_024)
        #expect(run.line(payload(#","d":"\#(escaped)""#)).readings.map(\.device) == [longest])
    }

    @Test func partsStayApart() throws {
        // The reference joins them with hyphens (quirk 14).
        let run = try run()
        let outcome = run.lines([
            payload(#","d":"a-b","p":"c""#), payload(#","d":"a","p":"b-c""#), payload(#","d":"a-b-c""#),
        ])
        #expect(outcome.readings.map(\.device) == ["a-b", "a", "a-b-c"])
        #expect(outcome.readings.map(\.patient) == ["c", "b-c", nil])
    }
}
