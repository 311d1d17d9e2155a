import KymographCore
import Testing

/// The time of a reading, its length, and clocks that are ahead.
@Suite struct MapperTimeTests {
    private func run(_ fields: [String: Any] = [:]) throws -> MappingRun {
        try MappingRun([TestTemplate.jsonPath(with: fields)])
    }

    private func payload(_ time: String) -> String { #"{"d":"dev","v":1\#(time)}"# }

    @Test(arguments: [
        (#","t":"2021-07-13T17:29:01Z""#, TestTemplate.instant),
        (#","t":"2021-07-13T19:29:01+02:00""#, TestTemplate.instant),
        (#","t":"2021-07-13T19:29:01\u002B02:00""#, TestTemplate.instant),
        (#","t":"2021-07-13T17\u003a29:01Z""#, TestTemplate.instant),
        (#","t":"2021-07-13T17:29:01""#, TestTemplate.instant),
    ])
    func readsISO(_ member: String, _ expected: Int64) throws {
        #expect(try run().line(payload(member)).readings.map(\.nanoseconds) == [expected])
    }

    @Test(arguments: [
        ("", Rejection.noTimestamp), (#","t":null"#, .noTimestamp), (#","t":"""#, .invalidTimestamp),
        (#","t":1625677200"#, .invalidTimestamp),
        (#","t":true"#, .invalidTimestamp), (#","t":{}"#, .invalidTimestamp), (#","t":[]"#, .invalidTimestamp),
        (#","t":"yesterday""#, .invalidTimestamp), (#","t":"\u0000""#, .invalidTimestamp),
    ])
    func refuses(_ member: String, _ reason: Rejection) throws {
        let outcome = try run().line(payload(member))
        #expect(outcome.reasons == [reason])
        #expect(outcome.rejections.map(\.field) == [.timestamp])
    }

    @Test func severalTimesAreAmbiguous() throws {
        let outcome = try run(["timestampExpression": "$..t"]).line(payload(#","a":{"t":1},"b":{"t":2}"#))
        #expect(outcome.reasons == [.ambiguousExpression])
    }

    @Test(arguments: [
        ("epoch-s", "1626197341", TestTemplate.instant),
        ("epoch-s", #""1626197341.5""#, TestTemplate.instant + 500_000_000),
        ("epoch-ms", "1626197341000", TestTemplate.instant), ("epoch-us", "1626197341000000", TestTemplate.instant),
        ("epoch-ns", "1626197341000000001", TestTemplate.instant + 1),
        ("epoch-ns", #""1626197341000000001""#, TestTemplate.instant + 1),
        ("epoch-s", #""\u0031\u003626197341""#, TestTemplate.instant),
    ])
    func readsEpochs(_ format: String, _ json: String, _ expected: Int64) throws {
        let run = try run(["timestampFormat": format])
        #expect(run.line(payload(",\"t\":\(json)")).readings.map(\.nanoseconds) == [expected])
        #expect(run.line(payload(",\"t\":true")).reasons == [.invalidTimestamp])
        #expect(run.line(payload(#","t":"2021-07-13T17:29:01Z""#)).reasons == [.invalidTimestamp])
    }

    @Test func refusesClocksThatAreAhead() throws {
        var run = try run(["timestampFormat": "epoch-ns"])
        let received = run.received.nanoseconds
        func reasons(_ lead: Int64) -> [Rejection] { run.line(payload(",\"t\":\(received + lead)")).reasons }
        #expect(reasons(300_000_000_000) == [])
        #expect(reasons(300_000_000_001) == [.clockAhead])
        #expect(reasons(-7_000_000_000_000_000_000) == [])
        run.context.maxFuture = 0
        #expect(reasons(0) == [])
        #expect(reasons(1) == [.clockAhead])
        run.context.maxFuture = .max
        #expect(reasons(7_000_000_000_000_000_000) == [])
    }

    // MARK: Length

    @Test(
        arguments: [
            (#","s":"2021-07-13T17:29:00Z""#, "1000000000"), (#","s":"2021-07-13T19:29:00.999999999+02:00""#, "1"),
            (#","s":"2021-07-13T17:29:01Z""#, nil), ("", nil), (#","s":null"#, nil),
            (#","s":"1700-01-01T00:00:00Z""#, "10146194941000000000"),
        ] as [(String, String?)])
    func measuresFromTheStart(_ member: String, _ length: String?) throws {
        let outcome = try run(["startExpression": "$.s"]).line(TestTemplate.reading("\"v\":1\(member)"))
        if length?.count == 20 {
            #expect(outcome.reasons == [.invalidTimestamp])
        } else {
            #expect(outcome.values("(length)") == [length])
        }
    }

    @Test(arguments: [#""2021-07-13T17:29:02Z""#, #""soon""#, "5", "{}"]) func refusesABadStart(_ json: String) throws {
        let outcome = try run(["startExpression": "$.s"]).line(TestTemplate.reading("\"v\":1,\"s\":\(json)"))
        #expect(outcome.reasons == [.invalidTimestamp])
        #expect(outcome.rejections.map(\.field) == [.start])
    }

    @Test func keepsTheLengthBesideManyValues() throws {
        let values = (0..<7).map { TestTemplate.value("n\($0)", "$.n\($0)") }
        let run = try MappingRun([
            TestTemplate.jsonPath(match: "$..[?(@d)]", values: values, with: ["startExpression": "$.s"])
        ])
        let members = (0..<7).map { "\"n\($0)\":\"text \($0)\"" }.joined(separator: ",")
        let outcome = run.line(TestTemplate.reading(#"\#(members),"s":"2021-07-13T17:29:00Z""#))
        #expect(outcome.values("(length)") == ["1000000000"])
        #expect(outcome.values("n6") == ["text 6"])
    }

    // MARK: IoT Hub

    @Test func takesDeviceAndTimeFromTheHub() throws {
        let template = TestTemplate.jsonPath(
            match: "$..[?(@Body.v)]", values: [TestTemplate.value("x", "$.Body.v")], kind: "IotJsonPathContent",
            with: ["deviceIdExpression": "$.nope", "timestampExpression": "$.nope"])
        let run = try MappingRun([template])
        func envelope(_ properties: String, _ system: String) -> String {
            #"{"Body":{"v":1},"Properties":{\#(properties)},"SystemProperties":{\#(system)}}"#
        }
        let device = #""iothub-connection-device-id":"hub""#
        let created = #""iothub-creation-time-utc":"2021-07-13T17:29:01Z""#
        let queued = #""iothub-enqueuedtime":"2021-07-13T17:29:02Z""#
        func reading(_ payload: String) -> [Int64] { run.line(payload).readings.map(\.nanoseconds) }
        #expect(reading(envelope(created, device)) == [TestTemplate.instant])
        #expect(reading(envelope(created, "\(device),\(queued)")) == [TestTemplate.instant])
        #expect(reading(envelope("", "\(device),\(queued)")) == [TestTemplate.instant + 1_000_000_000])
        #expect(run.line(envelope("", device)).reasons == [.noTimestamp])
        // A time that nobody can read is not that at which the hub got it; for the reference it is.
        let unreadable = envelope(#""iothub-creation-time-utc":"soon""#, "\(device),\(queued)")
        #expect(run.line(unreadable).reasons == [.invalidTimestamp])
        let compatible = try MappingRun([template], compatibility: .iomtFHIR)
        #expect(compatible.line(unreadable).readings.map(\.nanoseconds) == [TestTemplate.instant + 1_000_000_000])
        #expect(run.line(envelope(#""iothub-creation-time-utc":"soon""#, device)).reasons == [.invalidTimestamp])
        #expect(run.line(envelope(created, queued)).reasons == [.noDevice])
        #expect(run.line(envelope(created, device)).readings.map(\.device) == ["hub"])
    }
}
