import Synchronization

/// Who may use the console: codes that are good once, and the sessions that they were exchanged for. They are in memory
/// only, so that the end of the process ends all.
final class ConsoleSessions: Sendable {
    /// A browser that has logged in.
    struct Session: Sendable {
        /// What it may do.
        var role: ConsoleRole
        /// Names it in the log; not secret, and of no use for logging in.
        var name: String
        /// Who asked for its code, as the kernel says.
        var asker: String
        fileprivate var began: ContinuousClock.Instant
        fileprivate var lastUsed: ContinuousClock.Instant
    }

    /// Why a code opens no session.
    enum Refusal: Error {
        case unknownCode
        case tooManyAttempts
    }

    fileprivate struct Code {
        var role: ConsoleRole
        /// Of the session that it opens.
        var name: String
        var asker: String
        var ends: ContinuousClock.Instant
    }

    fileprivate struct State {
        var codes: [String: Code] = [:]
        var sessions: [String: Session] = [:]
        /// When wrong codes were tried, of the last minute.
        var failures: [ContinuousClock.Instant] = []
    }

    /// How long a code is good.
    static let codeTime = Duration.seconds(120)
    /// How long a session lasts, and how long when it is not used.
    static let (sessionTime, idleTime) = (Duration.seconds(12 * 3_600), Duration.seconds(3_600))
    /// Most codes and sessions at a time: a further one ends the oldest.
    static let (mostCodes, mostSessions) = (16, 64)
    /// Most wrong codes in a minute that are told apart from a right one.
    static let mostFailures = 10

    private let state = Mutex(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Nobody yet; times are those of `now`.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// A new code for `role`, twelve letters and digits in groups of four, and the name of the session that it will
    /// open. `asker` is who has asked for it.
    func issue(_ role: ConsoleRole, to asker: String = "nobody known") -> (code: String, session: String) {
        let (letters, name) = (ConsoleSecret.code(), ConsoleSecret.name())
        let now = now()
        state.withLock { state in
            state.codes = state.codes.filter { $0.value.ends > now }
            while state.codes.count >= Self.mostCodes,
                let oldest = state.codes.min(by: { $0.value.ends < $1.value.ends })?.key
            {
                state.codes[oldest] = nil
            }
            state.codes[letters] = Code(role: role, name: name, asker: asker, ends: now + Self.codeTime)
        }
        return (ConsoleSecret.grouped(letters), name)
    }

    /// Opens a session for `code`, which is of no use afterwards; gives the secret that the browser keeps. A right code
    /// is taken however many wrong ones were tried: else whoever reaches the listener could keep all others out.
    func open(_ code: String) throws(Refusal) -> (secret: String, session: Session) {
        let (now, letters) = (now(), ConsoleSecret.plain(code))
        let outcome = state.withLock { state -> Result<(String, Session), Refusal> in
            state.failures.removeAll { $0.duration(to: now) >= .seconds(60) }
            guard let code = state.codes.removeValue(forKey: letters), code.ends > now else {
                guard state.failures.count < Self.mostFailures else { return .failure(.tooManyAttempts) }
                state.failures.append(now)
                return .failure(.unknownCode)
            }
            let secret = ConsoleSecret.session()
            let session = Session(
                role: code.role, name: code.name, asker: code.asker, began: now, lastUsed: now)
            state.forget(at: now)
            while state.sessions.count >= Self.mostSessions,
                let oldest = state.sessions.min(by: { $0.value.lastUsed < $1.value.lastUsed })?.key
            {
                state.sessions[oldest] = nil
            }
            state.sessions[secret] = session
            return .success((secret, session))
        }
        let (secret, session) = try outcome.get()
        return (secret, session)
    }

    /// The session of `secret`; nil when there is none, or it has ended.
    func session(_ secret: String) -> Session? {
        let now = now()
        return state.withLock { state in
            state.forget(at: now)
            state.sessions[secret]?.lastUsed = now
            return state.sessions[secret]
        }
    }

    /// Ends the session of `secret`.
    func close(_ secret: String) { state.withLock { $0.sessions[secret] = nil } }
}

extension ConsoleSessions.State {
    /// Forgets sessions that have ended.
    fileprivate mutating func forget(at now: ContinuousClock.Instant) {
        sessions = sessions.filter { _, session in
            session.began.duration(to: now) < ConsoleSessions.sessionTime
                && session.lastUsed.duration(to: now) < ConsoleSessions.idleTime
        }
    }
}
