@testable import Kymograph
import Testing

/// Delivery to a database that does not answer.
@Suite(.enabled(if: PostgresLink.loadingProblem == nil, "needs libpq5")) struct PostgresEngineTests {
    /// At a port where nobody speaks to it.
    private func target(_ server: ScriptedBroker) throws -> PostgresTarget {
        var target = PostgresTarget(try PostgresURL("postgres://kymo@127.0.0.1:\(server.port)/readings"))
        target.timeout = 600_000
        return target
    }

    /// One that is to end has sent nothing that it would have to wait for.
    @Test func aConnectionThatHangsIsNotAwaited() throws {
        let server = ScriptedBroker()
        let target = try target(server)
        let delivery = try ServerDelivery(base: "readings") { inbox in
            PostgresEngine(target, queue: HubEngineTests.HubOutbox([]), inbox: inbox)
        }
        delivery.start()
        try server.accept()
        delivery.cease()
        #expect(delivery.wait(milliseconds: 60_000))
        #expect(delivery.status.lastError.isEmpty && delivery.status.retries == 0)
    }

    /// However often a database is too slow, there is no commit of the store for each entry; and it comes back.
    @Test func batchesStayLargeEnough() {
        var limit = PostgresBatchLimit(most: 1_000)
        for _ in 0..<12 { limit.shrink(to: limit.entries / 2) }
        #expect(limit.entries == 8)
        limit.shrink(to: 1)
        #expect(limit.entries == 8)
        var batches = 0
        while limit.entries < 1_000 {
            limit.grow()
            batches += 1
        }
        #expect(batches < 60)
        limit.grow()
        #expect(limit.entries == 1_000)
        var small = PostgresBatchLimit(most: 3)
        small.shrink(to: 1)
        #expect(small.entries == 3)
    }

    /// Nor does it begin anything.
    @Test func nothingIsBegunAtTheEnd() throws {
        let server = ScriptedBroker()
        var target = try target(server)
        // Where nobody listens.
        target.url = try PostgresURL("postgres://kymo@127.0.0.1:9/readings")
        let engine = PostgresEngine(
            target, queue: HubEngineTests.HubOutbox([]), inbox: try DeliveryInbox())
        engine.cease()
        engine.turn()
        #expect(engine.status.lastError.isEmpty && engine.status.retries == 0 && !engine.isUnderWay)
    }
}
