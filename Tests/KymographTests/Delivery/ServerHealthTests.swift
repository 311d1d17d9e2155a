@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// What failures in a row say of a server.
@Suite struct ServerHealthTests {
    private let refusing = DeliveryTrouble(.refusing, "the server answers 503")
    private let token = DeliveryTrouble(.noToken, "invalid_client", isDefinite: true)

    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test func passingTroubleCountsWhenItLasts() {
        var health = ServerHealth()
        health.fail(refusing, isWrite: true, now: at(1_000), civil: Instant(seconds: 5))
        #expect(health.trouble(now: at(2_999), isLeftAlone: false) == nil)
        #expect(health.trouble(now: at(2_999), isLeftAlone: true)?.cause == .refusing)
        health.fail(refusing, isWrite: true, now: at(2_900), civil: Instant(seconds: 7))
        let trouble = health.trouble(now: at(3_000), isLeftAlone: false)
        #expect(trouble?.since == "1970-01-01T00:00:05Z" && trouble?.seconds == 2)
        health.succeed(isWrite: true)
        #expect(health.trouble(now: at(9_000), isLeftAlone: false) == nil)
    }

    @Test func whatWillNotPassCountsAtOnce() {
        var health = ServerHealth()
        health.fail(token, isWrite: false, now: at(0), civil: Instant(seconds: 0))
        #expect(health.trouble(now: at(0), isLeftAlone: false)?.cause == .noToken)
    }

    /// A server that lets Patients be read and takes no Observation is not well.
    @Test func readsDoNotMendWrites() {
        var health = ServerHealth()
        health.fail(token, isWrite: true, now: at(0), civil: Instant(seconds: 0))
        health.succeed(isWrite: false)
        #expect(health.trouble(now: at(0), isLeftAlone: false) != nil)
        health.succeed(isWrite: true)
        #expect(health.trouble(now: at(0), isLeftAlone: false) == nil)
    }

    /// The answer by which a server shows itself unfit is an answer.
    @Test func unfitnessLastsUntilTheServerIsFit() {
        var health = ServerHealth()
        let unfit = DeliveryTrouble(.unfit, "no CapabilityStatement", isDefinite: true)
        health.judge(unfit: unfit, now: at(0), civil: Instant(seconds: 1))
        health.succeed(isWrite: false)
        health.judge(unfit: unfit, now: at(60_000), civil: Instant(seconds: 61))
        #expect(health.trouble(now: at(60_000), isLeftAlone: false)?.since == "1970-01-01T00:00:01Z")
        health.judge(unfit: nil, now: at(120_000), civil: Instant(seconds: 121))
        #expect(health.trouble(now: at(120_000), isLeftAlone: false) == nil)
    }

    /// What a server says may quote content, which must not come into the log.
    @Test func causesAreTakenFromTheAnswer() {
        let body = Array(#"{"resourceType":"OperationOutcome","issue":[{"diagnostics":"patient 12345"}]}"#.utf8)
        let causes: [(Int, DeliveryTrouble.Cause)] = [
            (401, .credentialsRefused), (403, .credentialsRefused), (404, .refusing), (429, .refusing),
            (503, .refusing), (200, .refusing),
        ]
        for (status, cause) in causes {
            let trouble = DeliveryTrouble(.success(HTTPResponse(status: status, body: body)))
            #expect(trouble.cause == cause && trouble.isDefinite == (status == 401))
            #expect(trouble.reason.contains("\(status)") && !trouble.reason.contains("12345"))
        }
        #expect(DeliveryTrouble(.failure(HTTPFailure(.security, "no secure connection"))).cause == .insecure)
        #expect(DeliveryTrouble(.failure(HTTPFailure(.lost, "no whole answer"))).cause == .unreachable)
    }

    /// From a token that cannot be fetched to the status, and back.
    @Test func theStatusHasIt() throws {
        let rehearsal = try DeliveryRehearsal([TestRow.transaction([TestRow.Reading("a", 1)])])
        rehearsal.authorizer.failure = AuthorizationFailure(isRetriable: false, "the key is refused")
        rehearsal.run(seconds: 30)
        let trouble = rehearsal.engine.status.trouble
        #expect(trouble?.cause == .noToken && trouble?.reason == "the key is refused")
        #expect(trouble?.since == "2026-01-01T00:00:00Z" && trouble?.seconds == 30)
        #expect(rehearsal.engine.status.circuit == .open)
        rehearsal.authorizer.failure = nil
        rehearsal.run()
        #expect(rehearsal.engine.status.trouble == nil && rehearsal.outbox.isSettled)
    }
}
