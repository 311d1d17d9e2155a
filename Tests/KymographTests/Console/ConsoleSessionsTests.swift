import Synchronization
import Testing

@testable import Kymograph

/// Codes and sessions of the console, over time.
@Suite struct ConsoleSessionsTests {
    /// A clock that moves when it is told to.
    private final class Clock: Sendable {
        private let offset = Mutex(Duration.zero)
        private let start = ContinuousClock.now

        func pass(_ time: Duration) { offset.withLock { $0 += time } }
        var now: ContinuousClock.Instant { start + offset.withLock { $0 } }
    }

    private let clock = Clock()

    private var sessions: ConsoleSessions {
        let clock = clock
        return ConsoleSessions { clock.now }
    }

    @Test func aCodeOpensOneSession() throws {
        let sessions = sessions
        let code = sessions.issue(.operate).code
        #expect(code.wholeMatch(of: /[A-Z1-9]{4}-[A-Z1-9]{4}-[A-Z1-9]{4}/) != nil)
        let (secret, session) = try sessions.open(" " + code.lowercased().replacing("-", with: " "))
        #expect(session.role == .operate && sessions.session(secret)?.name == session.name)
        #expect(!secret.lowercased().contains(session.name))
        #expect(throws: ConsoleSessions.Refusal.unknownCode) { try sessions.open(code) }
        #expect(sessions.session(secret + "A") == nil && sessions.session("") == nil)
        sessions.close(secret)
        #expect(sessions.session(secret) == nil)
    }

    @Test func aCodeIsGoodForTwoMinutes() throws {
        let sessions = sessions
        let (first, second) = (sessions.issue(.view).code, sessions.issue(.view).code)
        clock.pass(.seconds(119))
        _ = try sessions.open(first)
        clock.pass(.seconds(1))
        #expect(throws: ConsoleSessions.Refusal.unknownCode) { try sessions.open(second) }
    }

    @Test func aSessionEndsUnusedOrAfterTwelveHours() throws {
        let sessions = sessions
        let (idle, used) = (
            try sessions.open(sessions.issue(.view).code).secret, try sessions.open(sessions.issue(.view).code).secret
        )
        for _ in 0..<13 {
            clock.pass(.seconds(3_300))
            #expect(sessions.session(used) != nil)
        }
        #expect(sessions.session(idle) == nil)
        clock.pass(.seconds(299))
        #expect(sessions.session(used) != nil)
        clock.pass(.seconds(1))
        #expect(sessions.session(used) == nil)
    }

    /// Else whoever reaches the listener could keep all others out.
    @Test func wrongCodesAreAnsweredTenTimesAMinuteAndARightOneAlways() throws {
        let sessions = sessions
        let (first, second) = (sessions.issue(.view).code, sessions.issue(.operate).code)
        for _ in 0..<10 { #expect(throws: ConsoleSessions.Refusal.unknownCode) { try sessions.open("AAAA") } }
        #expect(throws: ConsoleSessions.Refusal.tooManyAttempts) { try sessions.open("AAAA") }
        #expect(try sessions.open(first).session.role == .view)
        #expect(throws: ConsoleSessions.Refusal.tooManyAttempts) { try sessions.open(first) }
        clock.pass(.seconds(60))
        #expect(throws: ConsoleSessions.Refusal.unknownCode) { try sessions.open("AAAA") }
        #expect(try sessions.open(second).session.role == .operate)
    }

    @Test func aSessionKnowsWhoAskedForItsCode() throws {
        let sessions = sessions
        let (code, name) = sessions.issue(.operate, to: "process 12 of user 7")
        let session = try sessions.open(code).session
        #expect(session.name == name && session.asker == "process 12 of user 7")
    }

    @Test func theOldestMakesRoom() throws {
        let sessions = sessions
        let codes = (0...ConsoleSessions.mostCodes).map { _ in
            clock.pass(.milliseconds(1))
            return sessions.issue(.view).code
        }
        #expect(throws: ConsoleSessions.Refusal.unknownCode) { try sessions.open(codes[0]) }
        #expect(try sessions.open(codes[1]).session.role == .view)
        let secrets = try (0...ConsoleSessions.mostSessions).map { _ in
            clock.pass(.milliseconds(1))
            return try sessions.open(sessions.issue(.view).code).secret
        }
        #expect(sessions.session(secrets[0]) == nil && sessions.session(secrets[1]) != nil)
    }

    @Test func rolesAreOrdered() {
        #expect(ConsoleRole.view < .operate && ConsoleRole.operate < .edit)
    }
}
