import KymographCore

/// Sources that a lane begins to read while it runs, and such that it leaves.
extension LaneLoop {
    /// Makes the changes that wait.
    mutating func followChanges(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        let changes = inbox.take()
        // What is added is mapped by the settings that it came with.
        consumer.batchBegin()
        consumer.batchEnd()
        for change in changes {
            switch change {
            case .add(let source): try add(source)
            case .remove(let number): for index in places(of: number) { try remove(index, &consumer) }
            // The batch has looked.
            case .look: break
            case .limit(let configuration):
                streams.makeRoom(longestLine: configuration.lineCap)
                for index in places(of: configuration.number) {
                    sources[index].configuration.takeLimits(of: configuration)
                    toldLimits = toldLimits.filter { $0.source != index }
                }
            }
        }
        showSources()
        // What was added may be paused.
        heldGeneration = -1
    }

    /// Shows other threads what the lane reads, and which clients are still there of what it has left.
    mutating func showSources() {
        let leaving = sources.indices.filter { sources[$0].isGone && streams.connections(of: $0) > 0 }
        hasLeaving = !leaving.isEmpty
        inbox.publish(sources, leaving: Set(leaving.map { sources[$0].configuration.number }))
    }

    /// Where the source `number` is read.
    private func places(of number: Int) -> [Int] {
        sources.indices.filter { sources[$0].configuration.number == number && !sources[$0].isGone }
    }

    private mutating func add(_ source: LaneSource) throws(SourceError) {
        let index = place(source)
        // Closed at the end, whatever comes between.
        showSources()
        toldLimits = toldLimits.filter { $0.source != index }
        liveSources += 1
        pace = LaneLoop.pace(sources)
        try start(index)
    }

    /// Gives `source` a place: that of the former one of the same number, whose counts go on, once its clients
    /// are gone.
    private mutating func place(_ source: LaneSource) -> Int {
        let former = sources.indices.first { index in
            sources[index].isGone && sources[index].configuration.number == source.configuration.number
                && streams.connections(of: index) == 0
        }
        guard let former else {
            sources.append(source)
            drops.append(DropCounter())
            return sources.count - 1
        }
        var source = source
        source.counters = sources[former].counters
        (sources[former], drops[former]) = (source, DropCounter())
        return former
    }

    /// Reads what has come by source `index`, as at the end, and closes it. Its clients hear what became of what they
    /// sent, and then that nothing more is read.
    private mutating func remove(
        _ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        leaving = index
        defer { leaving = nil }
        if held.contains(index) { takeHeld([index], &consumer) }
        try takeQueued(index, &consumer)
        readiness.remove(sources[index].opened.descriptor.raw)
        pausedListeners.removeAll { $0 == index }
        held.remove(index)
        for slot in streams.slots {
            guard let stream = streams.stream(slot), stream.source == index else { continue }
            buffered.remove(slot)
            alwaysReady.removeAll { $0 == slot }
            readiness.remove(stream.descriptor.raw)
            try drainStream(slot, &consumer)
        }
        (lostStreams[index], brokers[index], associations[index], sealed[index]) = (nil, nil, nil, nil)
        sources[index].opened.close()
        sources[index].isGone = true
        liveSources -= 1
        live.leave()
    }

    /// Whether source `index` takes what waits for the last time.
    func isLeaving(_ index: Int) -> Bool { isStopping || leaving == index }
}
