import KymographCore

/// The ids that a server gave lately: at most 5,000, each for two hours after its last use (mapping dialect, section
/// 7).
///
/// The key is all that a reading names, so that another patient or encounter of a device is seen at once (quirk 22).
/// Failures are kept for half a minute, so that a device that nobody registered does not cost a search per reading.
struct IdentityCache {
    private struct Entry {
        var result: Result<ResolvedIdentity, IdentityFailure>
        var expiry: Instant
    }

    /// Most entries.
    static let capacity = 5_000
    private static let lifetime: Int64 = 7_200 * 1_000_000_000
    private static let failureLifetime: Int64 = 30 * 1_000_000_000
    private var entries: [IdentityQuery: Entry] = [:]

    /// Entries now.
    var count: Int { entries.count }

    /// What is known of `query`; another two hours when it is found.
    mutating func find(_ query: IdentityQuery, now: Instant) -> Result<ResolvedIdentity, IdentityFailure>? {
        guard var entry = entries[query], entry.expiry > now else { return nil }
        guard case .success = entry.result else { return entry.result }
        entry.expiry = now.advanced(by: Self.lifetime)
        entries[query] = entry
        return entry.result
    }

    /// Keeps what became of `query`.
    mutating func keep(_ result: Result<ResolvedIdentity, IdentityFailure>, of query: IdentityQuery, now: Instant) {
        if entries.count >= Self.capacity { makeRoom(now) }
        var lifetime = Self.lifetime
        if case .failure = result { lifetime = Self.failureLifetime }
        entries[query] = Entry(result: result, expiry: now.advanced(by: lifetime))
    }

    /// Removes what has expired, or else the tenth that was used longest ago.
    private mutating func makeRoom(_ now: Instant) {
        entries = entries.filter { $0.value.expiry > now }
        guard entries.count >= Self.capacity else { return }
        let oldest = entries.sorted { $0.value.expiry < $1.value.expiry }.prefix(Self.capacity / 10)
        for (query, _) in oldest { entries[query] = nil }
    }
}
