import Kymograph
import KymographCore
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
        #expect(!run.sendWaiting())
        run.take(Self.glucose(1), isBatchEnd: true)
        run.take(Self.glucose(2), isBatchEnd: true)
        #expect(run.record.bundles.isEmpty)
        #expect(run.sendWaiting() && run.record.bundles.count == 1)
        #expect(!run.sendWaiting() && run.record.bundles.count == 1)
        run.take(Self.glucose(3), isBatchEnd: true)
        #expect(run.sendWaiting() && run.record.bundles.count == 2)
        let server = try run.end()
        #expect(server.observations.count == 3 && run.record.bundles.count == 2)
    }
}
