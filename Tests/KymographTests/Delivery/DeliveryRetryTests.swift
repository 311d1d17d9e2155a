import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// What is sent again, when, and what is not.
@Suite struct DeliveryRetryTests {
    private typealias Reading = TestRow.Reading
    private let row = TestRow.transaction([TestRow.Reading("a", 1, 10)])

    /// Failures after which the server may or may not have stored the bundle.
    private static let failures: [MemoryServer.Step] = [
        .status(429), .status(500), .status(502), .status(503), .status(503, [], "<html>busy</html>"), .status(504),
        .status(408), .status(403), .status(404), .status(302), .fail(.unreachable), .fail(.security), .fail(.lost),
        .lose(.lost), .lose(.timeout), .lose(.tooLong), .cut, .status(200, [], "<html>hello</html>"),
    ]

    @Test(arguments: 0..<Self.failures.count) func theSameBundleAgain(place: Int) throws {
        for form in [row, TestRow.batch([Reading("a", 1, 10)])] {
            let rehearsal = try DeliveryRehearsal([form])
            rehearsal.server.steps = [Self.failures[place], Self.failures[place]]
            rehearsal.run(seconds: 60)
            #expect(rehearsal.values == ["a-1": 10])
            #expect(rehearsal.server.resources.count == 3)
            let bodies = rehearsal.server.bundles.map(\.body)
            #expect(bodies.count == 3 && Set(bodies).count == 1)
            #expect(rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty)
            #expect(rehearsal.outbox.receipts.allSatisfy { $0.attempts == 3 })
            #expect(rehearsal.engine.status.retries == 2 && !rehearsal.engine.status.lastError.isEmpty)
        }
    }

    /// Each row counts once, when the server has all of it; what it refuses has never come there.
    @Test func timesFromTheMakingOfRows() throws {
        let rehearsal = try DeliveryRehearsal()
        let since = rehearsal.time.now
        for value in 1...2 { rehearsal.outbox.add(TestRow.transaction([Reading("a", value)]), since: since) }
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 3)]))
        rehearsal.server.steps = [.status(503, [("retry-after", "7")])]
        rehearsal.run()
        #expect(rehearsal.outbox.isSettled && rehearsal.values.count == 3)
        let times = rehearsal.engine.status.deliveryTimes
        #expect(times.buckets.reduce(0, +) == 2 && times.seconds >= 14, "\(times)")
        let refused = try DeliveryRehearsal()
        refused.outbox.add("no bundle", since: since)
        refused.run()
        #expect(refused.engine.status.deliveryTimes == DurationCounts() && refused.outbox.undeliverable.count == 1)
    }

    @Test func waitsAsLongAsTheServerAsks() throws {
        for (text, seconds) in [
            ("7", 7.0), ("Thu, 01 Jan 2026 00:00:09 GMT", 9), ("86400", 600), ("Fri, 02 Jan 2026 00:00:00 GMT", 600),
        ] {
            let rehearsal = try DeliveryRehearsal([row])
            rehearsal.server.steps = [.status(503, [("retry-after", text)])]
            rehearsal.turn()
            #expect(rehearsal.engine.nextWake == rehearsal.time.now.advanced(by: Int64(seconds * 1e9)), "\(text)")
            #expect(rehearsal.engine.status.nextAttempt == rehearsal.time.now.advanced(by: Int64(seconds * 1e9)))
            rehearsal.run()
            #expect(rehearsal.seconds == seconds && rehearsal.outbox.isSettled)
        }
    }

    @Test func heedsTheLimitsOfServers() throws {
        for fields in [
            [("RateLimit-Remaining", "0"), ("RateLimit-Reset", "30")], [("RateLimit", "\"default\";r=0;t=30")],
            [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225630")],
        ] {
            let rehearsal = try DeliveryRehearsal([row])
            rehearsal.server.steps = [.status(429, fields.map { (name: $0.0, value: $0.1) })]
            rehearsal.run()
            #expect(rehearsal.seconds == 30)
        }
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.server.steps = [.status(429, [("RateLimit-Remaining", "5"), ("RateLimit-Reset", "30")])]
        rehearsal.run()
        #expect(rehearsal.seconds < 1)
    }

    /// A limit that is used up by an answer that was good.
    @Test func newBundlesWaitForTheLimitToo() throws {
        let rehearsal = try DeliveryRehearsal([row, TestRow.transaction([Reading("a", 1, 20)])])
        rehearsal.server.used = [("RateLimit-Remaining", "0"), ("RateLimit-Reset", "30")]
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 20] && rehearsal.seconds == 30)
        #expect(rehearsal.server.bundles.count == 2)
    }

    @Test func boundsDouble() {
        let backoff = Backoff(first: 1_000, longest: 60_000)
        #expect((1...8).map { backoff.bound(failures: $0) } == [1, 2, 4, 8, 16, 32, 60, 60].map { $0 * 1_000 })
        #expect(backoff.bound(failures: 1_000) == 60_000)
        var random: any RandomNumberGenerator = SeededGenerator(seed: 7)
        let waits = (0..<1_000).map { _ in backoff.wait(failures: 7, using: &random) }
        #expect(waits.allSatisfy { (600...60_000).contains($0) })
        // Full jitter: spread over all of it.
        #expect(waits.count { $0 < 20_000 } > 200 && waits.count { $0 > 40_000 } > 200)
    }

    /// Blocked for a day, it asks at most about once in half of the longest wait, and wakes for nothing else.
    @Test func doesNotSpinWhileBlocked() throws {
        let rehearsal = try DeliveryRehearsal(
            (0..<50).map { TestRow.transaction([Reading("d\($0)", 1)]) })
        rehearsal.server.otherwise = { _ in .fail(.unreachable) }
        let wakes = rehearsal.run(seconds: 86_400)
        #expect((100...5_000).contains(rehearsal.server.bundles.count), "\(rehearsal.server.bundles.count)")
        #expect(wakes <= rehearsal.server.bundles.count * 2 + 10, "\(wakes)")
        #expect(rehearsal.engine.status.circuit == .open)
        let age = try #require(rehearsal.engine.status.oldestRowAge)
        #expect(age > 86_000 * 1_000_000_000)
        rehearsal.server.otherwise = nil
        rehearsal.run(seconds: 90_000)
        #expect(rehearsal.values.count == 50 && rehearsal.outbox.isSettled)
        #expect(rehearsal.engine.status.circuit == .closed)
    }

    @Test func asksWithOneRequestWhetherTheServerIsBack() throws {
        let rehearsal = try DeliveryRehearsal((0..<20).map { TestRow.transaction([Reading("d\($0)", 1)]) }) {
            $0.maxEntries = 3
        }
        rehearsal.server.otherwise = { _ in .status(503) }
        rehearsal.run(seconds: 30)
        #expect(rehearsal.engine.channel.limit.count == 1)
        guard case .open(let until) = rehearsal.engine.channel.circuit.state else {
            Issue.record("the circuit is open")
            return
        }
        rehearsal.time.advance(to: until)
        rehearsal.server.otherwise = { _ in .hold }
        rehearsal.turn()
        #expect(rehearsal.server.held.count == 1 && rehearsal.engine.status.circuit == .halfOpen)
        rehearsal.server.answerHeld(0)
        rehearsal.turn()
        #expect(rehearsal.engine.status.circuit == .closed)
    }

    @Test func sendsMoreAtOnceWhileAllGoesWell() {
        var limit = ConcurrencyLimit(largest: 8)
        #expect(limit.count == 2)
        for _ in 0..<100 { limit.succeed() }
        #expect(limit.count == 8)
        let now = Instant(seconds: 100)
        limit.fail(sent: Instant(seconds: 99), now: now)
        limit.fail(sent: Instant(seconds: 99), now: now)
        #expect(limit.count == 4, "what was under way together counts once")
        limit.fail(sent: Instant(seconds: 101), now: Instant(seconds: 102))
        limit.fail(sent: Instant(seconds: 103), now: Instant(seconds: 104))
        limit.fail(sent: Instant(seconds: 105), now: Instant(seconds: 106))
        #expect(limit.count == 1)
    }

    @Test func renewsTheTokenOnce() throws {
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.authorizer.values = ["none", "old", "new"]
        rehearsal.server.steps = [.status(401)]
        rehearsal.run()
        #expect(rehearsal.seconds == 0, "at once")
        #expect(rehearsal.authorizer.refusals == ["old"])
        #expect(rehearsal.server.bundles.map { $0.headers.last?.value } == ["old", "new"])
        #expect(rehearsal.outbox.isSettled)
    }

    @Test func waitsWhileTheCredentialsAreRefused() throws {
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.server.otherwise = { _ in .status(401) }
        rehearsal.run(seconds: 3_600)
        #expect((10...800).contains(rehearsal.server.bundles.count))
        #expect(rehearsal.engine.status.lastError.contains("401"))
        #expect(rehearsal.outbox.undeliverable.isEmpty && !rehearsal.outbox.isSettled)
        rehearsal.server.otherwise = nil
        rehearsal.run(seconds: 7_200)
        #expect(rehearsal.outbox.isSettled)
    }

    @Test func waitsWhileThereIsNoToken() throws {
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.turn()
        rehearsal.outbox.add(TestRow.transaction([Reading("b", 1)]))
        rehearsal.authorizer.failure = AuthorizationFailure(isRetriable: true, "no token endpoint")
        rehearsal.run(seconds: 600)
        #expect(rehearsal.engine.status.lastError == "no token endpoint")
        #expect(rehearsal.server.bundles.count == 1)
        rehearsal.authorizer.failure = nil
        rehearsal.run(seconds: 1_200)
        #expect(rehearsal.outbox.isSettled)
    }

    @Test func readsDatesOfHTTP() {
        #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT") == Instant(seconds: 784_111_777))
        #expect(HTTPDate.parse("Thu, 29 Feb 2024 23:59:60 GMT") == Instant(seconds: 1_709_251_200))
        for text in ["", "soon", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT", "1994-11-06"] {
            #expect(HTTPDate.parse(text) == nil)
        }
    }
}
