import KymographCore
import Testing

/// Rules of values in the mapper: constants, defaults, units and maps.
@Suite struct RuledValueTests {
    private func value(_ name: String, _ members: [String: Any]) -> [String: Any] {
        members.merging(["valueName": name]) { first, _ in first }
    }

    private func run(_ values: [[String: Any]]) throws -> MappingRun {
        try MappingRun([TestTemplate.jsonPath(match: "$..[?(@d)]", values: values)])
    }

    private var scale: [[String: Any]] {
        [
            value(
                "kilograms",
                [
                    "valueExpression": "$.weight", "required": true,
                    "unit": [
                        "expression": "$.unit", "units": ["kg": "kg", "lb": "[lb_av]"], "to": "kg", "digits": 2,
                    ] as [String: Any],
                ]),
            value(
                "posture",
                [
                    "valueExpression": "$.p", "map": ["1": "sitting", "2": "standing", "true": "moving"],
                    "mapDefault": "unknown",
                ]),
            value("origin", ["constant": "home"]),
            value("quality", ["valueExpression": "$.q", "default": "good"]),
        ]
    }

    @Test(
        arguments: [
            (#""weight":150,"unit":"lb","p":1"#, ["68.04", "sitting", "home", "good"]),
            (#""weight":72.345,"unit":"kg","p":"2","q":"poor""#, ["72.345", "standing", "home", "poor"]),
            (#""weight":"150","unit":"lb","p":true,"q":null"#, ["68.04", "moving", "home", "good"]),
            (#""weight":72,"unit":"\u006bg","p":7,"q":" ""#, ["72", "unknown", "home", "good"]),
            (#""weight":72,"unit":"kg""#, ["72", nil, "home", "good"]),
        ] as [(String, [String?])])
    func applyInOrder(_ members: String, _ expected: [String?]) throws {
        let outcome = try run(scale).line(TestTemplate.reading(members))
        #expect(outcome.reasons == [])
        let names = ["kilograms", "posture", "origin", "quality"]
        #expect(names.map { outcome.readings.first?.values[$0] } == expected)
    }

    /// Only the point moves: a device's 110100 × 10^-3 is 110.100, which no double is.
    @Test(
        arguments: [
            (#""n":110100"#, ["110.100", nil, nil]), (#""n":-0.50"#, ["-0.00050", nil, nil]),
            (#""n":"7e2""#, ["0.7", nil, nil]), (#""n":0"#, ["0.000", nil, nil]),
            (#""n":123456789012345678"#, ["123456789012345.678", nil, nil]),
            (#""m":110100,"e":-3"#, [nil, "110.100", nil]), (#""m":1.100,"e":"2""#, [nil, "110.0", nil]),
            (#""m":11,"e":-1.0"#, [nil, "1.1", nil]), (#""lb":1500000"#, [nil, nil, "68.039"]),
        ] as [(String, [String?])])
    func scaleExactly(_ members: String, _ expected: [String?]) throws {
        let outcome = try run(scaled).line(TestTemplate.reading(members))
        #expect(outcome.reasons == [])
        let found = outcome.readings.first?.values ?? [:]
        #expect(["fixed", "read", "mass"].map { found[$0] } == expected)
    }

    @Test(
        arguments: [
            (#""m":1"#, .missingValue), (#""m":1,"e":null"#, .nullValue), (#""m":1,"e":0.5"#, .invalidValue),
            (#""m":1,"e":"x""#, .invalidValue), (#""m":1,"e":101"#, .inexactNumber), (#""m":"x","e":1"#, .invalidValue),
            (#""m":1e60,"e":60"#, .inexactNumber), (#""n":1e-99"#, .inexactNumber), (#""n":true"#, .invalidValue),
            (#""n":1234567890123456789"#, .inexactNumber), (#""m":1,"e":[1]"#, .missingValue),
        ] as [(String, Rejection)])
    func scaleNothingElse(_ members: String, _ reason: Rejection) throws {
        let outcome = try run(scaled).line(TestTemplate.reading(members))
        #expect(outcome.reasons == [reason] && outcome.rejections.map(\.field) == [.value])
    }

    private var scaled: [[String: Any]] {
        let mass = ["from": "[lb_av]", "to": "kg", "digits": 3] as [String: Any]
        return [
            value("fixed", ["valueExpression": "$.n", "scale": -3]),
            value("read", ["valueExpression": "$.m", "scale": ["expression": "$.e"]]),
            value("mass", ["valueExpression": "$.lb", "scale": -4, "unit": mass]),
        ]
    }

    @Test(
        arguments: [
            (#""weight":11,"unit":"st""#, .unknownUnit), (#""weight":11"#, .unknownUnit),
            (#""unit":"kg""#, .missingValue), (#""weight":null,"unit":"kg""#, .nullValue),
            (#""weight":"heavy","unit":"kg""#, .invalidValue), (#""weight":[1],"unit":"kg""#, .invalidValue),
            (#""weight":1234567890123456789,"unit":"lb""#, .inexactNumber),
        ] as [(String, Rejection)])
    func rejectWhatTheyCannotTell(_ members: String, _ reason: Rejection) throws {
        let outcome = try run(scale).line(TestTemplate.reading(members))
        #expect(outcome.reasons == [reason])
        #expect(outcome.rejections.map(\.field) == [.value])
    }

    @Test func mapsWithoutDefaultReject() throws {
        let values = [value("x", ["valueExpression": "$.v", "map": ["a": "b"]])]
        #expect(try run(values).line(TestTemplate.reading(#""v":"a""#)).values() == ["b"])
        #expect(try run(values).line(TestTemplate.reading(#""v":"c""#)).reasons == [.unmappedValue])
        #expect(try run(values).line(TestTemplate.reading(#""w":"c""#)).reasons == [.missingValue])
    }

    @Test func requiredValuesAreNotBlank() throws {
        let values = [
            value("x", ["valueExpression": "$.v", "required": true, "map": ["a": "b"]]),
            value("w", ["valueExpression": "$.w"]),
        ]
        for blank in [#""v":"""#, #""v":"  ""#] {
            let outcome = try run(values).line(TestTemplate.reading(blank + ",\"w\":1"))
            #expect(outcome.reasons == [.missingValue])
        }
    }

    @Test func defaultsDoNotReplaceContainers() throws {
        let values = [value("x", ["valueExpression": "$.v", "default": 5])]
        #expect(try run(values).line(TestTemplate.reading(#""v":{"x":1}"#)).reasons == [.invalidValue])
        #expect(try run(values).line(TestTemplate.reading(#""w":1"#)).values() == ["5"])
        #expect(try run(values).line(TestTemplate.reading(#""v":"  ""#)).values() == ["5"])
    }

    @Test func nothingIsLeftFromTheReadingBefore() throws {
        let lines = [
            #""weight":150,"unit":"lb","p":1"#, #""weight":1,"unit":"kg""#, #""weight":150,"unit":"st""#,
            #""weight":2,"unit":"lb","q":"x""#,
        ]
        let outcome = try run(scale).lines(lines.map(TestTemplate.reading))
        #expect(outcome.values("kilograms") == ["68.04", "1", "0.91"])
        #expect(outcome.values("posture") == ["sitting", nil, nil])
        #expect(outcome.reasons == [.unknownUnit])
    }
}
