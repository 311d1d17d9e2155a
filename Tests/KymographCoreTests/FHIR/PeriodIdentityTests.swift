import KymographCore
import Testing

/// Windows of different lengths, and single readings, never share an identity: one would replace the other on a server.
@Suite struct PeriodIdentityTests {
    private static let periods = [
        "instance", "1ms", "10ms", "400ms", "500ms", "1s", "1500ms", "2s", "2500ms", "3s", "10s", "59s", "1m", "61s",
        "5m", "1h", "1d", "7d",
    ]

    private static func nanoseconds(_ grouping: Grouping) -> Int64 {
        if case .tumbling(let nanoseconds) = grouping { nanoseconds } else { 0 }
    }

    /// A mutation that writes the end in whole seconds makes windows of 500 ms, of 1 s and readings the same.
    @Test func noTwoPeriodsShareAnIdentity() throws {
        let bodies = Self.periods.map { period in
            """
            {"typeName":"a","period":"\(period)","codes":[{"system":"s","code":"c"}],\
            "value":{"valueType":"Quantity","valueName":"x","unit":"1","code":"1"}}
            """
        }
        var seen: [String: String] = [:]
        for (period, body) in zip(Self.periods, bodies) {
            let pipeline = try TestPipeline(body)
            let length = Self.nanoseconds(pipeline.types[0].grouping)
            for step in Int64(0)..<200 {
                var window = TestWindow()
                let instant = TestWindow.tenOClock + step * 100_000_000
                window.start = length == 0 ? instant : instant - instant % length
                window.end = window.start + length
                window.add(0, [0: "1"])
                let identity = try #require(try pipeline.observation(window).text("identifier.0.value"))
                let name = "\(period) at \(window.start)"
                #expect(seen[identity, default: name] == name, "\(identity)")
                seen[identity] = name
            }
        }
        #expect(seen.count > 500)
    }
}
