import KymographCore

/// Opens streams again that go and come back, such as serial lines. Of the lane's thread.
struct StreamReopener {
    private let sources: LaneSources
    private let streams: StreamTable
    private let connections: KeptConnections

    init(_ sources: LaneSources, _ streams: StreamTable, _ connections: KeptConnections) {
        (self.sources, self.streams, self.connections) = (sources, streams, connections)
    }

    /// Opens the streams that are due and there again.
    func reopenStreams(
        _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for (index, lost) in connections.lostStreams where lost.isDue(now) {
            switch sources[index].opened.form {
            case .returningStream(let reopen): try self.reopen(index, lost, reopen, now, &consumer)
            case .datagrams, .associations, .sealed, .listener, .stream, .broker, .records: break
            }
        }
    }

    private func reopen(
        _ index: Int, _ lost: LostStream, _ reopen: OpenedSource.Reopen, _ now: ContinuousClock.Instant,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let descriptor: Descriptor
        do throws(SourceError) {
            descriptor = try reopen()
        } catch {
            if connections.postpone(index, lost, now) {
                consumer.connection(of: sources[index].name, .lost, "\(error.message); trying again")
            }
            return
        }
        connections.noteFound(index)
        try streams.open(Stream(descriptor, source: index, configuration: sources[index].configuration))
        var counts = SourceCounts()
        counts.connections = 1
        sources[index].counters.add(counts)
        let name = sources[index].name
        consumer.connection(of: name, .made, "\(name) is there")
    }
}
