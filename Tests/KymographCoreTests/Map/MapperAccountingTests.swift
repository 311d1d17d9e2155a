import KymographCore
import Testing
import TrialSupport

/// Every reading of every payload is counted once: it arrives, or it is rejected with its own bytes.
@Suite struct MapperAccountingTests {
    private func run() throws -> MappingRun {
        try MappingRun([
            TestTemplate.jsonPath("a", match: "$..[?(@a)]", values: [TestTemplate.value("x", "$.a", required: true)]),
            TestTemplate.jsonPath("b", match: "$..[?(@b)]", values: [TestTemplate.value("x", "$.b", required: true)]),
        ])
    }

    private func reading(_ members: String) -> String { TestTemplate.reading(members) }

    @Test func allTemplatesAndAllMatchesApplyInFileOrder() throws {
        let payload = #"{"list":[\#(reading(#""b":1"#)),\#(reading(#""a":2"#)),\#(reading(#""a":3,"b":4"#))]}"#
        let outcome = try run().line(payload)
        #expect(outcome.readings.map(\.type) == ["a", "a", "b", "b"])
        #expect(outcome.values() == ["2", "3", "1", "4"])
        #expect(outcome.rejections.isEmpty)
    }

    @Test func errorsStayWithTheirTemplateAndMatch() throws {
        // Quirk 4, fixed.
        let payload =
            #"{"list":[\#(reading(#""a":null,"b":1"#)),\#(reading(#""a":2"#)),{"a":3},\#(reading(#""b":{}"#))]}"#
        let outcome = try run().line(payload)
        #expect(outcome.values() == ["2", "1"])
        #expect(outcome.reasons == [.nullValue, .noDevice, .invalidValue])
        #expect(outcome.rejections.map(\.text) == [payload, payload, payload])
    }

    @Test func nestedMatchesAreAllReturned() throws {
        let inner = reading(#""a":2"#)
        let outcome = try run().line(reading(#""a":1,"inner":\#(inner)"#))
        #expect(outcome.values() == ["1", "2"])
    }

    @Test func aPayloadThatNoTemplateWantsIsRejectedWhole() throws {
        for payload in ["{}", "1", "null", #""a""#, #"{"c":1}"#, #"{"A":1}"#, #"{"x":{"y":[]}}"#] {
            let outcome = try run().line(payload)
            #expect(outcome.rejections == [MappedRejection(reason: .noTemplate, text: payload)])
        }
        #expect(try run().line("").rejections.isEmpty)
        #expect(try run().line("  \r\n").rejections.isEmpty)
    }

    @Test func whatTheReceiverRefusesIsRejected() throws {
        let payload = reading(#""a":1,"b":2"#)
        let outcome = try run().lines([payload], refusal: .tooManyDevices)
        #expect(outcome.reasons == [.tooManyDevices, .tooManyDevices])
        #expect(outcome.rejections.map(\.text) == [payload, payload])
    }

    // MARK: Arrays

    @Test func eachElementOfAnArrayIsAReading() throws {
        let good = reading(#""a":1"#)
        let bad = #"{"a":2,"note":"no device"}"#
        let payload = #"[\#(good), {"c":1} ,\#(bad), "text", 5, null, [] ,\#(reading(#""b":3"#)),[\#(good)]]"#
        let outcome = try run().line(payload)
        #expect(outcome.values() == ["1", "1", "3"])
        let unknown = [#"{"c":1}"#, #""text""#, "5", "null", "[]"]
        #expect(
            outcome.rejections == [MappedRejection(reason: .noDevice, text: bad, field: .device)]
                + unknown.map { MappedRejection(reason: .noTemplate, text: $0) })
    }

    @Test func emptyArraysHoldNoReadings() throws {
        #expect(try run().line("[]").rejections.isEmpty)
        #expect(try run().line("[[]]").rejections.map(\.text) == ["[]"])
    }

    @Test func aMatchOfTheWholeArrayCoversItsElements() throws {
        let match = TestTemplate.jsonPath(
            match: "$.Body", values: [TestTemplate.value("x", "$[0].v")],
            with: [
                "deviceIdExpression": "$[0].d", "timestampExpression": "$[0].t",
            ])
        let outcome = try MappingRun([match]).line("[\(reading(#""v":1"#)),{},{}]")
        #expect(outcome.values() == ["1"])
        #expect(outcome.rejections.isEmpty)
    }

    @Test func longArraysOfFailuresTakeLinearTime() throws {
        // With a walk from the start for each failure this takes minutes.
        let count = 50_000
        let outcome = try run().line("[" + Array(repeating: #"{"a":1}"#, count: count).joined(separator: ",") + "]")
        #expect(outcome.rejections.count == count)
        #expect(outcome.rejections.allSatisfy { $0.text == #"{"a":1}"# })
    }

    // MARK: Datagrams

    @Test func aDatagramHoldsSeveralDocuments() throws {
        let outcome = try run().datagram("\(reading(#""a":1"#))\n\(reading(#""a":2"#)) \(reading(#""a":3"#))\r\n\n")
        #expect(outcome.values() == ["1", "2", "3"])
        #expect(try run().datagram("").rejections.isEmpty)
        #expect(try run().datagram("\n\n").rejections.isEmpty)
    }

    @Test func aBrokenDocumentCostsItsLine() throws {
        let good = reading(#""a":1"#)
        let outcome = try run().datagram("\(good)\n{\"a\":1,} \(good)\n\(good)\(good)\n\(good)\nnul")
        #expect(outcome.values() == ["1", "1", "1", "1"])
        #expect(outcome.reasons == [.invalidJSON, .invalidJSON])
        #expect(outcome.rejections.map(\.text) == ["{\"a\":1,} \(good)", "nul"])
    }

    @Test func aPartOfADocumentIsRejectedWhole() throws {
        let good = reading(#""a":1"#)
        for payload in ["\(good),", "\(good)}", "{\"a\":1", "[\(good)"] {
            let outcome = try run().line(payload)
            #expect(outcome.readings.isEmpty)
            #expect(outcome.rejections.count == 1)
            #expect(outcome.rejections.map(\.text) == [payload])
        }
        #expect(try run().line("[1,").rejections.map(\.offset) == [3])
    }

    @Test func nothingIsLeftFromTheReadingBefore() throws {
        var random = WindowRandom(seed: Trials.seed(0xACC))
        let run = try run()
        let pool = [
            reading(#""a":1"#), reading(#""b":"x""#), "{", "[]", #"{"a":null}"#, "[\(reading(#""a":1"#)),{\"c\":2}]",
            #"{"a":1,"a":2}"#, #"{"Body":\#(reading(#""a":1"#)),"Properties":{}}"#, #"{"d":1}"#, "\"\u{1}\"",
            #"{"\u0061":3,"d":"d","t":"2021-07-13T17:29:01Z"}"#, reading(#""a":{"b":{"b":1}}"#), "1", "",
        ]
        for round in 0..<200 {
            let payloads = (0..<random.int(1...12)).map { _ in pool[random.int(0...pool.count - 1)] }
            let together = run.lines(payloads)
            let apart = payloads.map(run.line)
            #expect(together.readings == apart.flatMap(\.readings), "round \(round)")
            #expect(together.rejections == apart.flatMap(\.rejections), "round \(round)")
        }
    }

    // MARK: The envelope

    @Test func anEnvelopeIsTakenAsItIs() throws {
        let template = TestTemplate.jsonPath(
            match: "$.Body", values: [TestTemplate.value("x", "$.Body.v")], kind: "CalculatedContent",
            with: ["deviceIdExpression": "$.Body.d", "timestampExpression": "$.Body.t"])
        let run = try MappingRun([template])
        let bare = reading(#""v":1"#)
        let payloads = [
            bare, #"{"Body":\#(bare)}"#, #"{"Properties":{},"Body":\#(bare)}"#,
            #"{"Body":\#(bare),"Properties":{"p":1},"SystemProperties":{"s":2}}"#,
        ]
        #expect(run.lines(payloads).values() == ["1", "1", "1", "1"])
        // More than an envelope has is a payload of its own.
        #expect(run.line(#"{"Body":\#(bare),"more":1}"#).reasons == [.noDevice])
    }

    @Test func matchedTokenIsTheMatch() throws {
        let template = TestTemplate.jsonPath(
            match: "$.Body.list[*]",
            values: [TestTemplate.value("x", "$.matchedToken.v"), TestTemplate.value("y", "$['matchedToken']")],
            kind: "CalculatedContent", with: ["deviceIdExpression": "$.Body.d", "timestampExpression": "$.Body.t"])
        let outcome = try MappingRun([template]).line(reading(#""list":[{"v":1},2,{"v":3,"matchedToken":4}]"#))
        #expect(outcome.values() == ["1", nil, "3"])
        #expect(outcome.values("y") == [nil, "2", nil])
    }

    @Test func matchedTokenIsAnOrdinaryNameElsewhere() throws {
        let match = TestTemplate.jsonPath(
            match: "$.Body.matchedToken", values: [TestTemplate.value("x", "$.matchedToken")])
        let inner = reading(#""matchedToken":5"#)
        #expect(try MappingRun([match]).line(#"{"matchedToken":\#(inner)}"#).values() == ["5"])
        let root = TestTemplate.jsonPath(match: "$.matchedToken.Body", values: [TestTemplate.value("x", "$.v")])
        #expect(try MappingRun([root]).line(reading(#""v":1"#)).reasons == [.noTemplate])
    }

    /// An envelope around an array is so many readings as the array itself.
    @Test(arguments: [
        #"{"Body":[%,7,{"w":1}]}"#, #"{"Body":[%,7,{"w":1}],"Properties":{"y":{"z":1}},"SystemProperties":{}}"#,
        #"{"Properties":{"z":[1,2]},"Body":[%,7,{"w":1}]}"#,
    ])
    func anEnvelopedArrayLosesNoElement(envelope: String) throws {
        let outcome = try run().line(envelope.replacing("%", with: reading(#""a":1"#)))
        #expect(outcome.readings.count == 1)
        #expect(
            outcome.rejections == [
                MappedRejection(reason: .noTemplate, text: "7"),
                MappedRejection(reason: .noTemplate, text: #"{"w":1}"#),
            ])
    }
}
