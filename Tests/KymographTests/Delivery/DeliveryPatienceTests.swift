import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// What a server fails at for ever is given up while others get through; what an outage does to it does not count.
@Suite struct DeliveryPatienceTests {
    private typealias Reading = TestRow.Reading

    /// Lets a reading of another device come every minute until something is given up; how many came.
    private func wait(_ rehearsal: DeliveryRehearsal, most: Int, _ isTransaction: Bool) -> Int {
        for number in 1...most {
            rehearsal.outbox.add(TestRow.row([Reading("other", number % 50, number, patient: "p")], isTransaction))
            rehearsal.run(seconds: rehearsal.seconds + 60)
            if rehearsal.engine.status.undeliverable > 0 { return number }
        }
        return most
    }

    @Test(arguments: [true, false], [Compatibility.none, .iomtFHIR])
    func givenUpWhileOthersGetThrough(isTransaction: Bool, compatibility: Compatibility) throws {
        // A Patient in common, which the server does not have yet.
        let readings = [Reading("a", 1, 901, patient: "p"), Reading("a", 2, patient: "p")]
        let rehearsal = try DeliveryRehearsal.failing([TestRow.row(readings, isTransaction)]) {
            $0.compatibility = compatibility
        }
        let others = wait(rehearsal, most: 400, isTransaction)
        #expect((10...120).contains(others), "\(others)")
        rehearsal.run(seconds: rehearsal.seconds + 600)
        let aside = rehearsal.outbox.undeliverable
        #expect(aside.map { "\($0.resource) \($0.reason)" } == ["Observation/a-1 serverFailed"])
        #expect(aside.allSatisfy { $0.detail.hasPrefix("500 exception") && $0.attempts >= 1 })
        #expect(rehearsal.values.keys.contains("a-2") && rehearsal.outbox.isSettled)
    }

    /// Nobody can tell whether a server that gets nothing else would take it.
    @Test func aloneItIsGivenUpAfterADay() throws {
        let rehearsal = try DeliveryRehearsal.failing([TestRow.transaction([Reading("a", 1, 901), Reading("a", 2)])])
        rehearsal.run(seconds: 80_000)
        #expect(rehearsal.outbox.undeliverable.isEmpty && !rehearsal.outbox.isSettled)
        rehearsal.run(seconds: 200_000)
        #expect(rehearsal.engine.status.undeliverable == 1)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.serverFailed])
        #expect(rehearsal.values.keys.sorted() == ["a-2"] && rehearsal.outbox.isSettled)
    }

    /// An entry that is not done leaves room for those behind it; when they fill it, there is proof enough.
    @Test func rowsBehindItAreTaken() throws {
        let others = (1...200).map { TestRow.transaction([Reading("b\($0 % 4)", $0)]) }
        let rehearsal = try DeliveryRehearsal.failing([TestRow.transaction([Reading("a", 1, 901)])] + others) {
            $0.rowBytes = others[0].utf8.count * 20
        }
        rehearsal.run(seconds: 180)
        #expect(rehearsal.values.count > 25 && rehearsal.outbox.settledThrough == 0)
        #expect(rehearsal.engine.rows.outcomeBytes < others[0].utf8.count * 60)
        rehearsal.run(seconds: 7_200)
        #expect(rehearsal.outbox.isSettled && rehearsal.values.count == 200)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.serverFailed])
    }

    /// Whatever an outage looks like, and however long it is.
    @Test func anOutageGivesNothingUp() throws {
        let outages: [MemoryServer.Step] = [
            .fail(.unreachable), .fail(.lost), .fail(.timeout), .status(503), .status(502), .status(504), .status(429),
            .entries([0: 503, 1: 503, 2: 503, 3: 429]),
        ]
        for outage in outages {
            let rehearsal = try DeliveryRehearsal([
                TestRow.batch([Reading("a", 1), Reading("a", 2)]), TestRow.batch([Reading("b", 1)]),
            ]) { $0.maxEntries = 4 }
            rehearsal.turn()
            rehearsal.outbox.add(TestRow.batch([Reading("a", 3), Reading("b", 2)]))
            rehearsal.server.otherwise = { _ in outage }
            rehearsal.run(seconds: 3 * 86_400)
            #expect(rehearsal.outbox.undeliverable.isEmpty && rehearsal.engine.status.undeliverable == 0, "\(outage)")
            rehearsal.server.otherwise = nil
            rehearsal.run(seconds: 4 * 86_400)
            #expect(rehearsal.values.count == 5 && rehearsal.outbox.isSettled, "\(outage)")
        }
    }

    /// The first answer about an entry after an outage is the first, and not the last straw.
    @Test func anOutageUsesUpNoPatience() throws {
        let rehearsal = try DeliveryRehearsal([TestRow.batch([Reading("a", 1), Reading("a", 2)])])
        rehearsal.server.steps = Array(repeating: .fail(.unreachable), count: 40) + [.entries([2: 500, 0: 500])]
        rehearsal.run(seconds: 86_400)
        #expect(rehearsal.values.count == 2 && rehearsal.outbox.undeliverable.isEmpty)
        #expect(rehearsal.outbox.receipts.contains { $0.attempts == 42 })
    }

    @Test func aDoubtfulRefusalAfterAnOutageIsNotBelievedAtOnce() throws {
        let rehearsal = try DeliveryRehearsal((1...4).map { TestRow.transaction([Reading("d\($0)", 1)]) }) {
            $0.maxEntries = 3
        }
        var count = 0
        rehearsal.server.otherwise = { request in
            guard String(decoding: request.body, as: UTF8.self).contains("\"d2-1\"") else { return .pass }
            count += 1
            return count <= 12 ? .status(503) : count == 13 ? .status(403) : .pass
        }
        rehearsal.run(seconds: 7_200)
        #expect(rehearsal.values.count == 4 && rehearsal.outbox.undeliverable.isEmpty && count == 14)
    }

    /// As many as there are requests at once do not keep others from being sent.
    @Test func manyDoNotStopTheRest() throws {
        let bad = (1...12).map { TestRow.transaction([Reading("bad\($0)", 1, 901)]) }
        let rehearsal = try DeliveryRehearsal.failing(bad) { $0.maxConcurrency = 3 }
        rehearsal.run(seconds: 3_600)
        #expect(rehearsal.values.isEmpty && rehearsal.outbox.undeliverable.isEmpty)
        for number in 1...20 { rehearsal.outbox.add(TestRow.transaction([Reading("good", number)])) }
        rehearsal.run(seconds: 4_200)
        #expect(rehearsal.values.count == 20)
    }

    @Test func whatCounts() {
        let now = Instant(seconds: 1_000_000)
        var alone = Rebuffs(taken: 5)
        for _ in 0..<100 { alone.note(taken: 5, now: now, isOwn: true) }
        #expect(alone.isDoubtful && !alone.isSuspicious && !alone.isExhausted(now: now, isBlocking: false))
        #expect(alone.isExhausted(now: now, isBlocking: true))
        #expect(alone.isExhausted(now: now.advanced(by: 86_400 * 1_000_000_000), isBlocking: false))
        var vouched = Rebuffs(taken: 5)
        for taken in 6..<36 { vouched.note(taken: taken, now: now, isOwn: false) }
        #expect(vouched.isSuspicious && vouched.isExhausted(now: now, isBlocking: false))
        var away = Rebuffs(taken: 5)
        for _ in 0..<100 { away.note(taken: 5, now: now, isOwn: false) }
        #expect(away.count == 0 && !away.isExhausted(now: now, isBlocking: true))
    }
}
