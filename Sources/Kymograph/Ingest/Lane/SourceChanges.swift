import KymographCore

/// Sources that a lane begins to read, at the start or while it runs, and such that it leaves. Of the lane's thread.
final class SourceChanges {
    /// What other threads tell the lane.
    private let inbox: LaneInbox
    private let sources: LaneSources
    private let held: HeldSources
    private let streams: StreamTable
    private let notices: ClientNotices
    private let sockets: DatagramSockets
    private let opening: SourceOpening
    private let drain: SourceDrain
    /// Whether clients are still there of sources that are gone.
    private var hasLeaving = false

    init(
        _ inbox: LaneInbox, _ sources: LaneSources, _ held: HeldSources, _ streams: StreamTable,
        _ notices: ClientNotices, _ sockets: DatagramSockets, _ opening: SourceOpening, _ drain: SourceDrain
    ) {
        (self.inbox, self.sources, self.held, self.streams) = (inbox, sources, held, streams)
        (self.notices, self.sockets, self.opening, self.drain) = (notices, sockets, opening, drain)
    }

    /// Begins to wait for all sources.
    func start() throws(SourceError) {
        for index in sources.indices { try opening.start(index) }
    }

    /// Whether changes wait.
    var areWaiting: Bool { inbox.hasChanges }

    /// Makes the changes that wait.
    func follow(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        let changes = inbox.take()
        // What is added is mapped by the settings that it came with.
        consumer.batchBegin()
        consumer.batchEnd()
        for change in changes {
            switch change {
            case .add(let source): try add(source)
            case .remove(let number): for index in sources.places(of: number) { try drain.remove(index, &consumer) }
            // The batch has looked.
            case .look: break
            case .limit(let configuration):
                streams.makeRoom(longestLine: configuration.lineCap)
                for index in sources.places(of: configuration.number) {
                    sources[index].configuration.takeLimits(of: configuration)
                    notices.forget(index)
                }
            }
        }
        showSources()
        // What was added may be paused.
        held.followAgain()
    }

    /// Shows other threads what the lane reads, and which clients are still there of what it has left.
    private func showSources() {
        let leaving = sources.indices.filter { sources[$0].isGone && streams.connections(of: $0) > 0 }
        hasLeaving = !leaving.isEmpty
        inbox.publish(sources.list, leaving: Set(leaving.map { sources[$0].configuration.number }))
    }

    /// Shows other threads again which clients are still there of what the lane has left, if there were any.
    func showLeaving() { if hasLeaving { showSources() } }

    private func add(_ source: LaneSource) throws(SourceError) {
        let index = place(source)
        // Closed at the end, whatever comes between.
        showSources()
        notices.forget(index)
        try opening.start(index)
    }

    /// Gives `source` a place: that of the former one of the same number, whose counts go on, once its clients
    /// are gone.
    private func place(_ source: LaneSource) -> Int {
        let former = sources.indices.first { index in
            sources[index].isGone && sources[index].configuration.number == source.configuration.number
                && streams.connections(of: index) == 0
        }
        let index = sources.place(source, at: former)
        sockets.begin(index)
        return index
    }
}
