import KymographCore

/// Serial lines that are unplugged and come back.
extension LaneLoop {
    /// Notes that the line of source `index` has gone, and waits for it.
    mutating func lose(_ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable) {
        lostLines[index] = LostLine(at: .now)
        consumer.noted("\(sources[index].boundKind.name) has gone; waiting for it")
    }

    /// Opens the lines that are due and there again.
    mutating func reopenLines(
        _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for (index, line) in lostLines where line.isDue(now) { try reopen(index, line, now, &consumer) }
    }

    private mutating func reopen(
        _ index: Int, _ line: LostLine, _ now: ContinuousClock.Instant,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard case .serial(let serial) = sources[index].configuration.kind else { return }
        let descriptor: Descriptor
        do throws(SourceError) {
            descriptor = try serial.open()
        } catch {
            var line = line
            line.postpone(now)
            if !line.isTold { consumer.noted("\(error.message); trying again") }
            line.isTold = true
            lostLines[index] = line
            return
        }
        lostLines[index] = nil
        try open(descriptor, source: index)
        var counts = SourceCounts()
        counts.connections = 1
        sources[index].counters.add(counts)
        consumer.noted("\(sources[index].boundKind.name) is there")
    }
}
