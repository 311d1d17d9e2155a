import Testing

@testable import KymographCore
@testable import KymographTemplates

/// Calculated templates: both languages, matches that JMESPath makes, and the document that holds the match.
@Suite struct CalculatedTemplateTests {
    /// An object whose keys are seconds after a start, as Garmin sends heart rates.
    @Test func objectsKeyedByOffsetsAreReadings() throws {
        let run = try MappingRun([
            [
                "templateType": "CalculatedContent",
                "template": [
                    "typeName": "heartRate", "defaultExpressionLanguage": "JmesPath",
                    "typeMatchExpression": "items(not_null(Body.timeOffsetHeartRateSamples, `{}`))[*]",
                    "deviceIdExpression": "Body.deviceId",
                    "timestampExpression": "add(Body.startTimeInSeconds, to_number(matchedToken[0]))",
                    "timestampFormat": "epoch-s",
                    "values": [TestTemplate.value("x", "matchedToken[1]", required: true)],
                ],
            ]
        ])
        let outcome = run.line(
            #"""
            {"deviceId":"g-1","startTimeInSeconds":1626197341,"timeOffsetHeartRateSamples":{"15":61,"30":63}}
            """#)
        #expect(outcome.values() == ["61", "63"] && outcome.rejections.isEmpty)
        let expected = [15, 30].map { TestTemplate.instant + $0 * 1_000_000_000 }
        #expect(outcome.readings.map(\.nanoseconds) == expected)
        #expect(run.line(#"{"deviceId":"g-1","startTimeInSeconds":1626197341}"#).reasons == [.noTemplate])
    }

    private typealias Template = TestTemplate

    private func template(
        match: String, language: String = "JmesPath", device: String = "matchedToken.d",
        time: String = "matchedToken.t", value: Any = "matchedToken.v"
    ) -> [String: Any] {
        [
            "templateType": "CalculatedContent",
            "template": [
                "typeName": "t", "defaultExpressionLanguage": language, "typeMatchExpression": match,
                "deviceIdExpression": device, "timestampExpression": time,
                "values": [["valueName": "x", "valueExpression": value, "required": true] as [String: Any]],
            ] as [String: Any],
        ]
    }

    private let first = Template.reading(#""v":1"#)
    private let second = Template.reading(#""v":2"#)

    @Test func eachElementOfAProjectionIsAMatch() throws {
        let run = try MappingRun([template(match: "Body[?v]")])
        let outcome = run.line("[\(first),{\"d\":\"dev\"},\(second)]")
        #expect(outcome.values() == ["1", "2"])
        #expect(outcome.reasons == [.noTemplate])
        #expect(outcome.rejections.map(\.text) == [#"{"d":"dev"}"#])
    }

    @Test func languagesMix() throws {
        let value = ["value": "$.matchedToken.v", "language": "JsonPath"]
        let run = try MappingRun([template(match: "to_array(Body)[?v]", value: value)])
        #expect(run.line(first).values() == ["1"])
    }

    @Test(arguments: ["matchedToken.sum", "add(matchedToken.sum, `0`)"])
    func matchesMayBeMade(_ value: String) throws {
        let made = "Body[].{d: d, t: t, sum: add(v, `10`)}"
        let outcome = try MappingRun([template(match: made, value: value)]).line("[\(first),\(second)]")
        #expect(outcome.values() == ["11", "12"])
        #expect(outcome.reasons == [])
        // JSONPath finds them, too.
        let path = ["value": "$.matchedToken.sum", "language": "JsonPath"]
        #expect(try MappingRun([template(match: made, value: path)]).line("[\(first)]").values() == ["11"])
    }

    /// Slices, lists and pipes give one made array, or its elements; neither may be read as a token of the payload.
    @Test(arguments: [
        "to_array(Body)", "Body.x[0:2] | @", "Body.x[::-1]", "Body.x[*] | [0]", "Body.x | [@[1], @[0]]",
        "Body.x[] | reverse(@)", "(Body.x[0:1] | @)[0]", "[Body.x[0]]", "not_null(Body.y, Body.x[0:2])",
        "Body.x[?v] | {d: [0].d, t: [0].t, v: [0].v}", "Body.x[0] || Body", "Body.x && Body.x[1:]", "Body.*.v",
    ])
    func anyMatchMayBeMade(_ match: String) throws {
        func run(_ value: Any) throws -> MappingRun {
            try MappingRun([template(match: match, device: "'dev'", time: "'2021-07-13T17:29:01Z'", value: value)])
        }
        let chain = try run("matchedToken.v")
        let path = try run(["value": "$.matchedToken.v", "language": "JsonPath"])
        // JMESPath by itself, which needs no second form.
        let whole = try run("not_null(matchedToken.v)")
        let object = "{\"x\":[\(first),\(second)]}"
        for payload in [
            object, "[\(object)]", "{\"x\":[[\(first)],[\(second)]]}", first, "[\(first)]", "[[1],2]", "[]",
        ] {
            let outcome = chain.lines([payload, payload])
            #expect(outcome == path.lines([payload, payload]), "\(payload)")
            #expect(outcome.values() == whole.lines([payload, payload]).values(), "\(payload)")
        }
    }

    @Test(arguments: [("to_array(Body)", #"{"v":1}"#), ("Body.x[0:2] | @", #"{"x":[{"v":1}]}"#)])
    func anArrayThatWasMadeIsOneMatch(_ match: String, _ payload: String) throws {
        func outcome(_ value: String) throws -> MappingRun.Outcome {
            let fixed = template(match: match, device: "'dev'", time: "'2021-07-13T17:29:01Z'", value: value)
            return try MappingRun([fixed]).line(payload)
        }
        // An array has no members.
        #expect(try outcome("matchedToken.v").values().isEmpty)
        #expect(try outcome("matchedToken[0].v").values() == ["1"])
    }

    /// The caps on what expressions make hold for one match, not for all of a document.
    @Test func whatOneMatchMadeIsReleasedBeforeTheNext() throws {
        let count = 500
        let payload = "[" + [String](repeating: first, count: count).joined(separator: ",") + "]"
        let storage = PaddedBytes(copying: payload.utf8)
        let set = try MappingRun([template(match: "Body[?v]", time: "join('', [matchedToken.t])")]).set
        let code = set.code(of: [0]).templates[0]
        for releases in [true, false] {
            var evaluator = ExpressionEvaluator(set, limits: ScanLimits(values: 2_500), payloadIsRoot: false)
            _ = try evaluator.paths.scanner.scan(storage.view, from: 0)
            evaluator.begin()
            let found = evaluator.matches(code.match, bytes: storage.view, compatible: false)
            let matches = try #require(found)
            #expect(matches.count == count)
            var good = 0
            for index in 0..<matches.count {
                if releases { evaluator.releaseToMatches() }
                let match = evaluator.match(index, of: matches)
                let time = evaluator.single(code.timestamp, match: match, bytes: storage.view, compatible: false)
                if time >= 0, evaluator.token(time).kind == TokenKind.string { good += 1 }
            }
            #expect((good == count) == releases, "\(good)")
            evaluator.release(matches)
        }
    }

    @Test func matchesThatWereMadeAreExplained() throws {
        let made = "Body[].{d: d, t: t, sum: add(v, `10`)}"
        let set = try MappingRun([template(match: made, value: "add(matchedToken.sum, `1`)")]).set
        var explainer = MappingExplainer(set, templates: [0])
        let storage = PaddedBytes(copying: "[\(first),\(second)]".utf8)
        var found: [TemplateExplanation] = []
        try explainer.explain(
            storage.view, context: SourceContext(), received: Instant(seconds: 1_700_000_000)
        ) { found.append($0) }
        let results = found.flatMap(\.matches).map { $0.fields.map(\.result).joined(separator: " ") }
        #expect(results.count == 2)
        #expect(results.first?.contains("12") == true && results.last?.contains("13") == true)
    }

    @Test func theWholeEnvelopeHoldsTheMatch() throws {
        // Once in the body and once as matchedToken: several tokens, as in the reference.
        let twice = template(
            match: "$.Body", language: "JsonPath", device: "$.Body.d", time: "$.Body.t", value: "$..v")
        #expect(try MappingRun([twice]).line(first).reasons == [.ambiguousExpression])
        let own = template(
            match: "$.Body", language: "JsonPath", device: "$.Body.d", time: "$.Body.t", value: "$..matchedToken.v")
        #expect(try MappingRun([own]).line(first).values() == ["1"])
    }

    @Test func nothingIsLeftFromTheDocumentBefore() throws {
        let run = try MappingRun([template(match: "Body[].{d: d, t: t, v: join('-', [d, to_string(v)])}")])
        let outcome = run.lines((0..<50).map { "[\(Template.reading("\"v\":\($0)"))]" })
        #expect(outcome.values() == (0..<50).map { "dev-\($0)" })
    }

    @Test func unixTimes() throws {
        let template = template(match: "to_array(Body)[?v]", time: "fromUnixTimestampMs(matchedToken.t)")
        let run = try MappingRun([template])
        #expect(
            run.line(#"{"d":"dev","t":1626197341500,"v":1}"#).readings.map(\.nanoseconds) == [1_626_197_341_500_000_000]
        )
        #expect(run.line(#"{"d":"dev","t":"soon","v":1}"#).reasons == [.expressionFailed])
    }

    @Test func failingMatchesRejectWhatNobodyElseTakes() throws {
        let failing = template(match: "Body[?contains(v, `1`)]")
        let outcome = try MappingRun([failing]).line("[\(first),\(second)]")
        #expect(outcome.reasons == [.expressionFailed, .expressionFailed])
        #expect(outcome.rejections.map(\.field) == [.match, .match])
        #expect(outcome.rejections.map(\.text) == [first, second])
        // One that takes them all does not hide the failure.
        let both = try MappingRun([failing, template(match: "Body[?v]")]).line("[\(first),\(second)]")
        #expect(both.values() == ["1", "2"])
        #expect(both.reasons == [.expressionFailed])
        #expect(try MappingRun([failing]).line(first).reasons == [.noTemplate])
    }

    @Test func elementsThatAMadeMatchLeavesOutAreCounted() throws {
        let run = try MappingRun([template(match: "Body[?v == `1`].{d: d, t: t, v: v}")])
        let outcome = run.line("[\(first),\(second),\(first)]")
        #expect(outcome.values() == ["1", "1"])
        #expect(outcome.reasons == [.noTemplate])
        #expect(outcome.rejections.map(\.text) == [second])
    }

    @Test func madeMatchesTakeLinearTime() throws {
        // With a document of its own for each match this takes minutes.
        let count = 50_000
        let payload = "[" + Array(repeating: first, count: count).joined(separator: ",") + "]"
        let run = try MappingRun([template(match: "Body[].{d: d, t: t, v: v}")])
        #expect(run.line(payload).readings.count == count)
    }

    // MARK: IoT Central

    @Test func takesDeviceAndTimeFromTheExport() throws {
        let template = Template.jsonPath(
            match: "$..[?(@telemetry)]", values: [Template.value("x", "$.telemetry.hr", required: true)],
            kind: "IotCentralJsonPathContent",
            with: ["deviceIdExpression": "$.ignored", "timestampExpression": "$.ignored"])
        let payload = #"{"deviceId":"d1","enqueuedTime":"2021-07-13T17:29:01Z","telemetry":{"hr":61}}"#
        let reading = try #require(try MappingRun([template]).line(payload).readings.first)
        #expect(reading.device == "d1" && reading.nanoseconds == Template.instant && reading.values == ["x": "61"])
    }
}
