import KymographCore

/// The ids that a server gave lately for what readings name.
///
/// The key is all that a reading names, so that another patient or encounter of a device is seen at once (quirk 22). A
/// device that is given to another patient on the server is seen when the answer has aged, however often it sends.
typealias IdentityCache = AnswerCache<IdentityQuery, ResolvedIdentity>

/// Answers that a server gave lately: at most ``capacity``, each for a while from when it was asked for.
///
/// Failures are kept for half a minute, so that a device that nobody registered does not cost a search per reading.
struct AnswerCache<Query: Hashable, Answer> {
    /// An answer, and when the server was asked for it.
    struct Known {
        var result: Result<Answer, IdentityFailure>
        var asked: Instant
        fileprivate var expiry: Instant
    }

    /// Most entries.
    let capacity: Int
    private let lifetime: Int64
    private let failureLifetime: Int64 = 30 * 1_000_000_000
    /// How long an answer may be used that took its whole lifetime to come, in nanoseconds.
    private let grace: Int64 = 1_000_000_000
    private var entries: [Query: Known] = [:]

    /// Keeps answers for `lifetime` nanoseconds.
    init(lifetime: Int64, capacity: Int = 5_000) {
        self.lifetime = lifetime
        self.capacity = capacity
    }

    /// Entries now.
    var count: Int { entries.count }

    /// When the oldest answer that may still be used was asked for; nil when there is none.
    func oldest(now: Instant) -> Instant? { entries.values.filter { $0.expiry > now }.map(\.asked).min() }

    /// What is known of `query`.
    func find(_ query: Query, now: Instant) -> Known? {
        guard let entry = entries[query], entry.expiry > now else { return nil }
        return entry
    }

    /// Keeps what became of `query`, which the server was asked at `asked`.
    mutating func keep(_ result: Result<Answer, IdentityFailure>, of query: Query, asked: Instant, now: Instant) {
        if entries.count >= capacity { makeRoom(now) }
        var lifetime = lifetime
        if case .failure = result { lifetime = min(lifetime, failureLifetime) }
        let expiry = max(asked.advanced(by: lifetime), now.advanced(by: min(lifetime, grace)))
        entries[query] = Known(result: result, asked: asked, expiry: expiry)
    }

    /// Forgets the answer to `query`.
    mutating func remove(_ query: Query) { entries[query] = nil }

    /// Forgets all answers: the server is asked again.
    mutating func removeAll() { entries.removeAll() }

    /// Removes what has expired, or else the tenth that was asked for longest ago.
    private mutating func makeRoom(_ now: Instant) {
        entries = entries.filter { $0.value.expiry > now }
        guard entries.count >= capacity else { return }
        let oldest = entries.sorted { $0.value.asked < $1.value.asked }.prefix(capacity / 10)
        for (query, _) in oldest { entries[query] = nil }
    }
}
