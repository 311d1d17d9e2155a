/// What a lane does now and then, about four times a second, however busy it is.
struct LaneUpkeep {
    private let clock: LaneClock
    private let datagrams: DatagramReaders
    private let changes: SourceChanges
    private let listeners: LaneListeners
    private let timeouts: ClientTimeouts
    private let reopener: StreamReopener
    private let brokers: BrokerConnector
    private let feeds: TopicFeeds

    init(
        _ clock: LaneClock, _ datagrams: DatagramReaders, _ changes: SourceChanges, _ listeners: LaneListeners,
        _ timeouts: ClientTimeouts, _ reopener: StreamReopener, _ brokers: BrokerConnector, _ feeds: TopicFeeds
    ) {
        (self.clock, self.datagrams, self.changes, self.listeners) = (clock, datagrams, changes, listeners)
        (self.timeouts, self.reopener, self.brokers, self.feeds) = (timeouts, reopener, brokers, feeds)
    }

    /// Does what is due now and then, if it is, however busy the lane.
    func idle(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        guard let (now, passed) = clock.pass() else { return }
        datagrams.refreshDrops()
        changes.showLeaving()
        try listeners.resume()
        try timeouts.endIdleClients(now, &consumer)
        // While the lane waited for room, nobody could send.
        let countedTime = min(passed, .milliseconds(2 * Int64(LaneClock.idleMilliseconds)))
        try timeouts.endSlowClients(countedTime, &consumer)
        try reopener.reopenStreams(now, &consumer)
        datagrams.tend(now, &consumer)
        try brokers.tend(now, countedTime, &consumer)
        try feeds.tend(now, &consumer)
        consumer.batchBegin()
        consumer.idled()
    }
}
