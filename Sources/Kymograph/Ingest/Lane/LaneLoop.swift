import CKymographLinux
import KymographCore

/// A running lane, of its thread alone: waits for what is ready, and has the part read it that it belongs to.
///
/// Each part has its own state, and knows only of parts that ``init(_:holds:live:)`` makes before it.
struct LaneLoop: ~Copyable {
    /// Batches of datagrams from one socket before the others get their turn.
    static let maxBatches = 16

    private let sources: LaneSources
    private let watch: LaneWatch
    private let datagrams: DatagramReaders
    private let listeners: LaneListeners
    private let streams: StreamReader
    private let replies: ReplySender
    private let pauses: SourcePauses
    private let drain: SourceDrain
    private let changes: SourceChanges
    private let upkeep: LaneUpkeep

    /// A loop that waits for nothing yet.
    init(_ inbox: LaneInbox, holds: SourceHolds, live: LiveSources) throws(SourceError) {
        (sources, watch) = (LaneSources(inbox.sources, live), try LaneWatch())
        let (clock, held, notices) = (LaneClock(), HeldSources(holds), ClientNotices(sources))
        let sockets = DatagramSockets(sources)
        datagrams = DatagramReaders(sockets, sources, notices, clock)
        let (table, pending) = (StreamTable(sources, watch), PendingReplies())
        let connections = KeptConnections(sources)
        listeners = LaneListeners(sources, table, watch, notices, pending, held)
        let check = ClientCheck(sources, table, notices, pending, listeners)
        streams = StreamReader(
            sources, table, watch, clock, notices, pending, listeners, check, connections, sockets.batch)
        replies = ReplySender(table, pending, watch, check, streams)
        let brokers = BrokerConnector(sources, held, table, watch, pending, streams, connections)
        pauses = SourcePauses(sources, held, table, watch, pending, listeners, brokers, connections)
        let streamDrain = StreamDrain(sources, table, pending, listeners, check, streams, replies)
        drain = SourceDrain(
            sources, held, pauses, watch, datagrams, listeners, table, replies, streamDrain, connections)
        let opening = SourceOpening(sources, watch, table, datagrams, connections, clock)
        changes = SourceChanges(inbox, sources, held, table, notices, sockets, opening, drain)
        upkeep = LaneUpkeep(
            clock, datagrams, changes, listeners, ClientTimeouts(sources, table, notices, streams, clock),
            StreamReopener(sources, table, connections), brokers, TopicFeeds(sources, held, table, connections))
    }

    /// Begins to wait for the sources and for `stopEvent`.
    func start(stopEvent: Descriptor) throws(SourceError) {
        try watch.watch(stopEvent: stopEvent)
        try changes.start()
    }

    /// Reads until told to stop or until every source has ended.
    func run(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) -> Lane.End {
        while !sources.areDone {
            let ready = try watch.wait(milliseconds: patience)
            if changes.areWaiting { try changes.follow(&consumer) }
            if pauses.haveChanged { try pauses.follow(&consumer) }
            try upkeep.idle(&consumer)
            if replies.areWaiting { try replies.acknowledge(&consumer) }
            datagrams.beginRound(isReady: ready > 0)
            for place in 0..<ready { try handle(watch.ready(place), &consumer) }
            if sources.isStopping {
                try drain.drain(&consumer)
                return .stopped
            }
            for slot in watch.alwaysReady { try streams.readStream(slot, &consumer) }
            try streams.readBuffered(&consumer)
            // Lets datagrams gather before the next look.
            if datagrams.rest > 0, !watch.isBusy, !replies.areDueSoon { kymo_rest(datagrams.rest) }
        }
        return .sourcesEnded
    }

    /// Milliseconds to wait for something to read.
    private var patience: Int32 {
        if watch.isBusy { return 0 }
        return replies.areDueSoon ? ReplySender.pauseMilliseconds : LaneClock.idleMilliseconds
    }

    private func handle(
        _ ready: LaneWatch.Ready, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        switch ready {
        // What is held, or was removed, may have been ready before.
        case .source(let index) where pauses.holds(index) || sources[index].isGone: break
        case .source(let index):
            guard case .listener(let listener) = sources[index].opened.form else {
                return try datagrams.receive(index, maxBatches: LaneLoop.maxBatches, &consumer)
            }
            datagrams.noteOthers()
            try listeners.accept(index, listener, &consumer)
        case .stream(let slot):
            datagrams.noteOthers()
            try streams.readStream(slot, &consumer)
        case .stop: sources.isStopping = true
        }
    }
}
