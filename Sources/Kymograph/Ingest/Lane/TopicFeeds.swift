import KymographCore

/// Topics, which threads of their own read for the lane. Of the lane's thread.
struct TopicFeeds {
    private let sources: LaneSources
    private let held: HeldSources
    private let streams: StreamTable
    private let connections: KeptConnections

    init(_ sources: LaneSources, _ held: HeldSources, _ streams: StreamTable, _ connections: KeptConnections) {
        (self.sources, self.held, self.streams, self.connections) = (sources, held, streams, connections)
    }

    /// Opens those that are due, and passes on what their threads say.
    func tend(
        _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for index in sources.indices where !sources[index].isGone {
            guard case .records(let records) = sources[index].opened.form else { continue }
            if let lost = connections.lostStreams[index], lost.isDue(now), !held.contains(index) {
                try open(records.feed, index, lost, now, &consumer)
            }
            let news = records.feed.takeNews()
            for notice in news.notices { tell(notice, of: index, &consumer) }
            var counts = SourceCounts()
            counts.missedRecords = news.missed
            sources[index].counters.add(counts)
            sources[index].counters.note(records.feed.progress)
        }
    }

    private func open(
        _ feed: KafkaFeed, _ index: Int, _ lost: LostStream, _ now: ContinuousClock.Instant,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let descriptor: Descriptor
        do throws(SourceError) {
            descriptor = try feed.open(keeping: consumer.positions)
        } catch {
            if connections.postpone(index, lost, now) { consumer.noted("\(error.message); trying again") }
            return
        }
        connections.noteFound(index)
        try streams.open(
            Stream(
                descriptor, source: index, configuration: sources[index].configuration, records: RecordProtocol()))
    }

    private func tell(
        _ notice: KafkaNotice, of index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let name = sources[index].name
        switch notice {
        case .connected(let text):
            var counts = SourceCounts()
            counts.connections = 1
            sources[index].counters.add(counts)
            consumer.connection(of: name, .made, "\(name): \(text)")
        case .disconnected(let text): consumer.connection(of: name, .lost, "\(name): \(text); trying again")
        case .note(let text): consumer.noted("\(name): \(text)")
        }
    }
}
