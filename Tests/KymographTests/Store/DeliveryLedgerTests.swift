import GRDB
import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Bundles that a server takes out of order, on a real store that is opened again in between.
@Suite struct DeliveryLedgerTests {
    private static let lines: [[UInt8]] = (0..<120).flatMap { place in
        ["a", "b"].map { device in
            let (minute, second) = (place / 2, place % 2 * 30)
            let time = "2026-03-01T08:\(minute < 10 ? "0" : "")\(minute):\(second == 0 ? "00" : "30")Z"
            return Array(
                """
                {"deviceId":"\(device)","type":"heartRate","timestamp":"\(time)","unit":"/min",\
                "value":\(60 + place % 50)}
                """.utf8)
        }
    }

    private struct Delivery {
        let server: MemoryServer
        let engine: DeliveryEngine
        let outbox: StoredOutbox

        init(_ store: Store, _ server: MemoryServer) throws {
            self.server = server
            outbox = try StoredOutbox(store, sink: "server")
            var settings = DeliverySettings(base: "http://server/fhir", identity: .create)
            settings.maxEntries = 3
            let now = DurableRehearsal.start
            engine = DeliveryEngine(
                settings, queue: outbox, transport: server, authorizer: TestAuthorizer(),
                clock: DeliveryClock(elapsed: { now }, civil: { now }), random: SeededGenerator(seed: 1),
                inbox: try DeliveryInbox())
        }
    }

    private func persist(_ store: Store, _ set: MappingSet) throws {
        var commit = StoreCommit(store, MappingExchange(set))
        let (batch, submitted) = store.queue.take()
        try commit.commit(batch, now: DurableRehearsal.start)
        store.queue.commit(batch, through: submitted)
    }

    /// What does not agree, but for the balance: nobody counts here what was received.
    private func differences(_ scratch: Scratch) throws -> [String] {
        let verification = try StoreReader(directory: scratch.path).verifyLedger(isRunning: true) { _ in }
        return verification.differences.filter { !$0.hasPrefix("the balance") }
    }

    @Test func receiptsWaitForTheirRow() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let server = MemoryServer()
        try deliverSome(scratch, set, server)
        // The next run begins where the first is settled.
        server.held.removeAll()
        server.otherwise = nil
        let store = try Store(path: scratch.path)
        try store.begin(sinks: ["server"])
        let second = try Delivery(store, server)
        #expect(second.outbox.settledThrough < store.tail.newest)
        second.engine.turn()
        try persist(store, set)
        #expect(second.outbox.settledThrough == store.tail.newest)
        let found = try differences(scratch)
        #expect(found == [])
        let counts = store.read { db in
            try Row.fetchOne(db, sql: "SELECT count(*), count(DISTINCT outbox || ' ' || resource) FROM receipt")
                .map { ($0[0] as Int, $0[1] as Int) }
        }
        let (all, different) = try #require(counts ?? nil)
        #expect(all > 20 && all == different)
        store.close()
    }

    /// One device's bundles are answered, the other's are not.
    private func deliverSome(_ scratch: Scratch, _ set: MappingSet, _ server: MemoryServer) throws {
        var run = try StoredRun(scratch.path, set: set)
        try run.store.begin(sinks: ["server"])
        try run.take(Self.lines, delivers: false)
        let first = try Delivery(run.store, server)
        server.otherwise = { $0.method == "POST" ? .hold : .pass }
        first.engine.turn()
        var answered = 0
        while let place = server.held.firstIndex(where: { Self.isAbout("a", $0.request) }) {
            server.answerHeld(place)
            answered += 1
            first.engine.turn()
        }
        try #require(answered > 3 && server.held.count == 1)
        try persist(run.store, set)
        let found = try differences(scratch)
        #expect(found == [])
        first.engine.channel.abandon()
        run.store.close()
    }

    private static func isAbout(_ device: String, _ request: HTTPRequest) -> Bool {
        String(decoding: request.body, as: UTF8.self).contains("\"value\":\"\(device)\"")
    }
}
