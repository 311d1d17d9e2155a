import KymographCore

/// The ids that a server gave lately: at most 5,000, each for a while after it was asked for.
///
/// The key is all that a reading names, so that another patient or encounter of a device is seen at once (quirk 22). A
/// device that is given to another patient on the server is seen when the answer has aged, however often it sends.
/// Failures are kept for half a minute, so that a device that nobody registered does not cost a search per reading.
struct IdentityCache {
    private struct Entry {
        var result: Result<ResolvedIdentity, IdentityFailure>
        var made: Instant
        var expiry: Instant
    }

    /// Most entries.
    static let capacity = 5_000
    private static let failureLifetime: Int64 = 30 * 1_000_000_000
    private let lifetime: Int64
    private var entries: [IdentityQuery: Entry] = [:]

    /// Keeps answers for `lifetime` nanoseconds.
    init(lifetime: Int64) { self.lifetime = lifetime }

    /// Entries now.
    var count: Int { entries.count }

    /// When the oldest answer that may still be used was given; nil when there is none.
    func oldest(now: Instant) -> Instant? { entries.values.filter { $0.expiry > now }.map(\.made).min() }

    /// What is known of `query`.
    func find(_ query: IdentityQuery, now: Instant) -> Result<ResolvedIdentity, IdentityFailure>? {
        guard let entry = entries[query], entry.expiry > now else { return nil }
        return entry.result
    }

    /// Keeps what became of `query`.
    mutating func keep(_ result: Result<ResolvedIdentity, IdentityFailure>, of query: IdentityQuery, now: Instant) {
        if entries.count >= Self.capacity { makeRoom(now) }
        var lifetime = lifetime
        if case .failure = result { lifetime = min(lifetime, Self.failureLifetime) }
        entries[query] = Entry(result: result, made: now, expiry: now.advanced(by: lifetime))
    }

    /// Forgets all answers: the server is asked again.
    mutating func removeAll() { entries.removeAll() }

    /// Removes what has expired, or else the tenth that was asked for longest ago.
    private mutating func makeRoom(_ now: Instant) {
        entries = entries.filter { $0.value.expiry > now }
        guard entries.count >= Self.capacity else { return }
        let oldest = entries.sorted { $0.value.made < $1.value.made }.prefix(Self.capacity / 10)
        for (query, _) in oldest { entries[query] = nil }
    }
}
