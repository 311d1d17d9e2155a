import KymographCore

/// Tells when a source falls silent, or has brought nothing since the start, and when it receives again; and when the
/// kernel begins and ends to drop its datagrams.
struct SourceWatch {
    private let name: String
    /// Silence that is told of; nil for none.
    private var limit: Duration?
    /// What was received until then, and when it was first seen; nil before anything was received.
    private var received: (total: UInt64, at: ContinuousClock.Instant, time: Instant)?
    /// When it was first looked at.
    private var began: ContinuousClock.Instant?
    private var isSilent = false
    private var drops = Drops()

    /// Datagrams that the kernel has dropped.
    private struct Drops {
        var total = 0
        /// How many there were before they began, and when more came last; nil while there are none.
        var episode: (before: Int, last: ContinuousClock.Instant)?
    }

    /// Time without drops after which they have ended.
    private static let calm = Duration.seconds(60)

    /// `limit` in nanoseconds, 0 for none.
    init(_ name: String, silentAfter limit: Int64) {
        self.name = name
        follow(silentAfter: limit)
    }

    /// Goes by another limit from here on.
    mutating func follow(silentAfter limit: Int64) { self.limit = limit > 0 ? .nanoseconds(limit) : nil }

    /// What has changed; `time` is that of day.
    mutating func entries(
        _ source: PipelineSummary.Source, at now: ContinuousClock.Instant, time: Instant
    ) -> [LogEntry] {
        [silence(of: source, now, time), dropping(Int(source.counts.kernelDrops), now)].compactMap(\.self)
    }

    private mutating func silence(
        of source: PipelineSummary.Source, _ now: ContinuousClock.Instant, _ time: Instant
    ) -> LogEntry? {
        let total = source.counts.bytes &+ UInt64(source.received)
        guard total == received?.total ?? 0 else {
            let since = received?.at ?? began ?? now
            received = (total, now, time)
            guard isSilent else { return nil }
            isSilent = false
            return .change(
                .info, "source.back", ("source", name),
                "source \(name): receives again, after \(since.duration(to: now).inWholeSeconds) of silence")
        }
        if began == nil { began = now }
        let last = received?.at ?? began ?? now
        guard let limit, !isSilent, last.duration(to: now) >= limit else { return nil }
        isSilent = true
        guard let received else {
            return .change(
                .warning, "source.silent", ("source", name),
                "source \(name): nothing has come since the start, for \(limit.inWholeSeconds) (log.silentAfter): "
                    + "check its senders and the network, or take it out of the configuration")
        }
        return .change(
            .warning, "source.silent", ("source", name),
            "source \(name): silent for \(limit.inWholeSeconds) (log.silentAfter), since "
                + "\(received.time.inWholeSeconds): check its senders and the network")
    }

    private mutating func dropping(_ total: Int, _ now: ContinuousClock.Instant) -> LogEntry? {
        defer { drops.total = total }
        guard total == drops.total else {
            defer { drops.episode = (drops.episode?.before ?? drops.total, now) }
            guard drops.episode == nil else { return nil }
            return .change(
                .error, "source.kernelDrops", ("source", name),
                "source \(name): the kernel drops datagrams (\(total - drops.total) so far): they come faster than "
                    + "they are read; raise receiveBuffer and net.core.rmem_max, or lanes")
        }
        guard let episode = drops.episode, episode.last.duration(to: now) >= SourceWatch.calm else { return nil }
        drops.episode = nil
        return .change(
            .info, "source.kernelDropsEnded", ("source", name),
            "source \(name): the kernel has dropped no datagrams for \(SourceWatch.calm.inWholeSeconds), after "
                + "\(total - episode.before)")
    }
}
