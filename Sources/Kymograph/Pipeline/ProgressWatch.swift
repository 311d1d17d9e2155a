/// Decides which threads hang: those that have begun no round for a while, neither wait for room nor have ended.
///
/// Threads that have nothing to do begin rounds, too: lanes four, shards twenty and the store's thread one a second.
struct ProgressWatch {
    /// How long a thread may take for one round.
    let limit: Duration
    /// Rounds of each thread, nil when it does not count, and when they were seen first.
    private var seen: [(rounds: Int?, since: ContinuousClock.Instant)] = []

    /// A watch that lets each round take `limit`.
    init(limit: Duration) { self.limit = limit }

    /// The names of those of `threads`, always the same ones in the same order, that hang at `now`.
    mutating func hanging(_ threads: [ThreadProgress], now: ContinuousClock.Instant) -> [String] {
        if seen.count != threads.count { seen = threads.map { _ in (nil, now) } }
        return threads.indices.compactMap { index in
            let rounds = threads[index].isWaitingForRoom ? nil : threads[index].rounds
            guard let rounds, rounds == seen[index].rounds else {
                seen[index] = (rounds, now)
                return nil
            }
            return seen[index].since.duration(to: now) > limit ? threads[index].name : nil
        }
    }
}
