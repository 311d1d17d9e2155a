import Foundation
import KymographCore
import Testing

@testable import Kymograph

/// Each member of the summary for programs has its own number of the run.
@Suite struct RunReportNumberTests {
    private var run: PipelineSummary {
        var run = PipelineSummary()
        run.sources = ["a", "b"].map { PipelineSummary.Source(name: $0) }
        (run.sources[0].received, run.sources[1].received) = (1_009, 1_013)
        (run.sources[0].counts.kernelDrops, run.sources[1].counts.kernelDrops) = (11, 13)
        run.sources[0].rejected[Int(Rejection.noTemplate.rawValue)] = 17
        run.sources[1].rejected[Int(Rejection.clockAhead.rawValue)] = 19
        (run.shards.accepted, run.shards.duplicate, run.shards.conflict, run.shards.retractions) = (101, 103, 107, 109)
        run.shards.rejected[Int(Rejection.noTemplate.rawValue)] = 113
        run.shards.rejected[Int(Rejection.clockAhead.rawValue)] = 127
        (run.shards.windows, run.shards.observations, run.shards.resources) = (131, 137, 139)
        (run.bundles, run.bytes, run.undeliveredBundles) = (149, 151, 157)
        var status = DeliveryStatus()
        (status.delivered, status.deleted, status.retries) = (163, 179, 167)
        status.undeliverableReasons = ReasonCounts(["serverRefused": 173])
        run.deliveries = [("server", DeliverySummary(status))]
        return run
    }

    private static let expected = """
        {"accepted":101,"bundles":149,"bytes":151,"conflict":107,"duplicate":103,"kernelDropped":24,"lost":1362,\
        "observations":137,"received":2022,"rejected":{"clockAhead":127,"noTemplate":113},"resources":139,\
        "retractions":109,"sinks":[{"deleted":179,"delivered":163,"name":"server","retries":167,\
        "undeliverable":{"serverRefused":173}}],"sources":[{"kernelDropped":11,"name":"a","received":1009,\
        "rejected":{"noTemplate":17}},{"kernelDropped":13,"name":"b","received":1013,"rejected":{"clockAhead":19}}],\
        "undelivered":157,"windows":131}
        """

    @Test func eachMemberHasItsOwn() throws {
        let data = try JSONEncoder().encode(RunReport(run))
        let report = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
        #expect(Set(report.keys) == ["summary"])
        var counts = try #require(report["summary"])
        #expect((counts.removeValue(forKey: "counters") as? [Any])?.isEmpty == false)
        let text = try JSONSerialization.data(withJSONObject: counts, options: .sortedKeys)
        #expect(String(decoding: text, as: UTF8.self) == Self.expected)
    }
}
