import KymographCore

/// Streams that go and come back, such as serial lines.
extension LaneLoop {
    /// Notes that the stream of source `index` has gone, and waits for it.
    mutating func lose(_ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable) {
        lostStreams[index] = LostStream(at: .now)
        let name = sources[index].name
        consumer.connection(of: name, .lost, "\(name) has gone; waiting for it")
    }

    /// Opens the streams that are due and there again.
    mutating func reopenStreams(
        _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for (index, lost) in lostStreams where lost.isDue(now) {
            switch sources[index].opened.form {
            case .returningStream(let reopen): try self.reopen(index, lost, reopen, now, &consumer)
            case .datagrams, .associations, .sealed, .listener, .stream, .broker, .records: break
            }
        }
    }

    private mutating func reopen(
        _ index: Int, _ lost: LostStream, _ reopen: OpenedSource.Reopen, _ now: ContinuousClock.Instant,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let descriptor: Descriptor
        do throws(SourceError) {
            descriptor = try reopen()
        } catch {
            var lost = lost
            lost.postpone(now)
            if !lost.isTold { consumer.connection(of: sources[index].name, .lost, "\(error.message); trying again") }
            lost.isTold = true
            lostStreams[index] = lost
            return
        }
        lostStreams[index] = nil
        try open(Stream(descriptor, source: index, configuration: sources[index].configuration))
        var counts = SourceCounts()
        counts.connections = 1
        sources[index].counters.add(counts)
        let name = sources[index].name
        consumer.connection(of: name, .made, "\(name) is there")
    }
}
