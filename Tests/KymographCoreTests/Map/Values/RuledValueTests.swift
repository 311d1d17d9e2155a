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
