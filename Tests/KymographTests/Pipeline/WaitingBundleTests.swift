import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Observations wait for their bundle to fill, unless the shard's owner does not want them to.
@Suite struct WaitingBundleTests {
    private static func glucose(_ second: Int) -> [UInt8] {
        Array(
            """
            {"deviceId":"d","type":"glucose","timestamp":"2026-03-01T08:00:0\(second)Z","value":90,"unit":"mg/dL"}
            """.utf8)
    }

    @Test func whatWaitsLeavesWhenTheOwnerSaysSo() throws {
        var run = PipelineRehearsal(set: try #require(PipelineRehearsal.reading), settings: WindowSettings())
        let nothing = run.sendWaiting()
        run.take(Self.glucose(1), isBatchEnd: true)
        run.take(Self.glucose(2), isBatchEnd: true)
        let before = run.record.bundles.count
        let first = run.sendWaiting()
        let again = run.sendWaiting()
        let one = run.record.bundles.count
        run.take(Self.glucose(3), isBatchEnd: true)
        let second = run.sendWaiting()
        let two = run.record.bundles.count
        #expect(!nothing && before == 0 && first && !again && one == 1 && second && two == 2)
        let server = try run.end()
        let bundles = run.record.bundles.count
        #expect(server.observations.count == 3 && bundles == 2)
    }

    /// How long a bundle, or an event, has waited follows no clock that is set: it leaves neither at once nor later.
    @Test(arguments: [0, 3_600, -3_600] as [Int64]) func aStepOfTheClockIsNoWait(seconds: Int64) throws {
        var events = SinkFilter()
        events.takesObservations = false
        var run = PipelineRehearsal(
            set: try #require(PipelineRehearsal.reading), settings: WindowSettings(),
            filters: [SinkFilter(), events], eventSinks: [EventSinks.Sink(number: 1, filter: SinkFilter())])
        run.take(Self.glucose(1), isBatchEnd: true)
        run.set(by: seconds * 1_000_000_000)
        run.pass(nanoseconds: 199_000_000)
        let before = run.record.bundles.count
        run.pass(nanoseconds: 1_000_000)
        let routes = run.record.bundles.map(\.route)
        #expect(before == 0 && routes.count == 2 && routes.contains { $0.contains(0) })
        #expect(routes.contains { $0.contains(1) })
        // The next one begins to wait when it comes.
        run.pass(nanoseconds: 1_000_000_000)
        run.take(Self.glucose(2), isBatchEnd: true)
        run.pass(nanoseconds: 199_000_000)
        let between = run.record.bundles.count
        run.pass(nanoseconds: 1_000_000)
        let after = run.record.bundles.count
        #expect(between == 2 && after == 4)
    }
}
