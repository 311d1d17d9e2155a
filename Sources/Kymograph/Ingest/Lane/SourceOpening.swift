import KymographCore

/// Begins to read sources, by their forms. Of the lane's thread.
struct SourceOpening {
    private let sources: LaneSources
    private let watch: LaneWatch
    private let streams: StreamTable
    private let datagrams: DatagramReaders
    private let connections: KeptConnections
    private let clock: LaneClock

    init(
        _ sources: LaneSources, _ watch: LaneWatch, _ streams: StreamTable, _ datagrams: DatagramReaders,
        _ connections: KeptConnections, _ clock: LaneClock
    ) {
        (self.sources, self.watch, self.streams) = (sources, watch, streams)
        (self.datagrams, self.connections, self.clock) = (datagrams, connections, clock)
    }

    /// Begins to read source `index`.
    func start(_ index: Int) throws(SourceError) {
        let source = sources[index]
        streams.makeRoom(longestLine: source.configuration.lineCap)
        datagrams.start(index)
        switch source.opened.form {
        case .datagrams, .sealed, .associations, .listener: try watch.watch(source: index, source.opened.descriptor)
        case .returningStream where source.opened.descriptor.raw < 0: connections.noteLost(index, at: clock.lastIdle)
        case .broker(let broker):
            connections.brokers[index] = BrokerConnection(
                broker, longest: source.configuration.lineCap, at: clock.lastIdle)
        // Opened with the first look at it.
        case .records: connections.noteLost(index, at: clock.lastIdle)
        case .stream, .returningStream:
            try streams.open(Stream(source.opened.descriptor, source: index, configuration: source.configuration))
        }
    }
}
