import CKymographLinux
import Glibc
import KymographCore

/// The state of a running lane: what its thread alone may touch.
struct LaneLoop: ~Copyable {
    /// What an epoll token names, in its upper half; the lower half is an index.
    enum Token: UInt64 {
        case stop = 0
        case source = 1
        case connection = 2
    }

    /// Batches of datagrams from one socket before the others get their turn.
    static let maxBatches = 16
    /// How long a lane waits before it asks the kernel for drops again, and for clients that it could not take.
    static let idleMilliseconds: Int32 = 250
    /// How long a lane waits before it asks again what has become durable: a commit takes about as long.
    static let acknowledgeMilliseconds: Int32 = 2
    /// Longest time, in milliseconds, that a stopping lane waits for the last lines to become durable.
    static let lastAcknowledgement = 2_000
    /// How long a client may take until TLS is agreed on.
    static let handshakeTime = Duration.seconds(10)
    /// Rounds of accepting clients when stopping: the kernel's queue holds 4,096 (SOMAXCONN).
    static let maxDrainRounds = 4096

    /// Most clients that are refused in one go.
    static let maxRefusals = 64
    /// Most bytes that a stopping lane still takes from a stream that may come back.
    static let queuedLineBytes = 4 << 20

    var sources: [LaneSource]
    /// What other threads tell the lane.
    let inbox: LaneInbox
    /// Sources of all lanes.
    let live: LiveSources
    /// The source that takes what waits for the last time.
    var leaving: Int?
    /// Whether clients are still there of sources that are gone.
    var hasLeaving = false
    var readiness: Readiness
    var datagrams = DatagramBatch()
    var drops: [DropCounter]
    var streams: StreamTable
    /// Streams that never make one wait, such as regular files.
    var alwaysReady: [Int] = []
    var pausedListeners: [Int] = []
    /// Streams that are not there, by source.
    var lostStreams: [Int: LostStream] = [:]
    /// Brokers, by source.
    var brokers: [Int: BrokerConnection] = [:]
    /// Clients by DTLS, by source.
    var associations: [Int: AssociationTable] = [:]
    /// Sockets of sealed datagrams, by source.
    var sealed: [Int: SealedSocket] = [:]
    /// What is paused, the generation that the loop follows, and the sources of which nothing is read for that.
    let holds: SourceHolds
    var heldGeneration = 0
    var held: Set<Int> = []
    /// Sources that are paused, whose brokers keep nothing: what they bring is rejected.
    var rejectedBrokers: Set<Int> = []
    /// Streams of which bytes have been taken from the socket that were not read yet.
    var buffered: Set<Int> = []
    /// Limits of clients that the operator has been told of.
    var toldLimits: Set<ClientLimit> = []
    /// Streams whose clients wait to hear that their lines are durable.
    var acknowledging: Set<Int> = []
    /// Whether one of them may hear something soon, and not only when it reads.
    var acknowledgesSoon = false
    /// When the lane last did what is due now and then.
    var lastIdle = ContinuousClock.now
    /// Sources that can still give something.
    var liveSources: Int
    var isStopping = false
    /// How densely datagrams come.
    var pace: ArrivalPace
    /// Whether this round has read nothing but UDP sockets, and has emptied them.
    var hasEmptied = false

    /// A loop that waits for nothing yet.
    init(_ inbox: LaneInbox, readiness: consuming Readiness, holds: SourceHolds, live: LiveSources) {
        let sources = inbox.sources
        (self.inbox, self.live, self.sources) = (inbox, live, sources)
        self.holds = holds
        self.readiness = readiness
        drops = Array(repeating: DropCounter(), count: sources.count)
        liveSources = sources.count
        pace = LaneLoop.pace(sources)
        streams = StreamTable(longestLine: sources.map(\.configuration.lineCap).max() ?? 0)
    }

    /// How densely datagrams of `sources` come, before any has.
    static func pace(_ sources: [LaneSource]) -> ArrivalPace {
        let open = sources.filter { !$0.isGone }
        return ArrivalPace(
            longestRest: open.map(\.configuration.longestRest).min() ?? 0,
            bufferBytes: open.map(\.opened.bufferBytes).filter { $0 > 0 }.min() ?? 0)
    }

    /// Begins to wait for the sources and for `stopEvent`.
    mutating func start(stopEvent: Descriptor) throws(SourceError) {
        _ = try readiness.add(stopEvent.raw, token: Token.stop.rawValue << 32)
        for index in sources.indices { try start(index) }
    }

    mutating func start(_ index: Int) throws(SourceError) {
        let source = sources[index]
        streams.makeRoom(longestLine: source.configuration.lineCap)
        switch source.opened.form {
        case .datagrams, .listener: try watch(source: index)
        case .sealed:
            sealed[index] = SealedSocket()
            try watch(source: index)
        case .associations(let form):
            associations[index] = AssociationTable(at: source.opened.descriptor.raw, form.tls.current { _ in })
            try watch(source: index)
        case .returningStream where source.opened.descriptor.raw < 0: lostStreams[index] = LostStream(at: lastIdle)
        case .broker(let broker):
            brokers[index] = BrokerConnection(broker, longest: source.configuration.lineCap, at: lastIdle)
        // Opened with the first look at it.
        case .records: lostStreams[index] = LostStream(at: lastIdle)
        case .stream, .returningStream:
            try open(Stream(source.opened.descriptor, source: index, configuration: source.configuration))
        }
    }

    /// Begins to read a stream; gives its slot.
    @discardableResult
    mutating func open(_ stream: Stream) throws(SourceError) -> Int {
        let slot = streams.open(stream)
        noteOpenStreams(of: stream.source)
        try watch(slot, stream.descriptor)
        return slot
    }

    /// Closes the stream in `slot`.
    mutating func close(_ slot: Int, _ stream: Stream) {
        streams.close(slot)
        noteOpenStreams(of: stream.source)
    }

    private func noteOpenStreams(of index: Int) {
        sources[index].counters.note(openStreams: streams.connections(of: index))
    }

    /// Begins to wait for the socket of source `index`.
    mutating func watch(source index: Int) throws(SourceError) {
        let token = Token.source.rawValue << 32 | UInt64(index)
        _ = try readiness.add(sources[index].opened.descriptor.raw, token: token)
    }

    mutating func watch(_ slot: Int, _ descriptor: Descriptor) throws(SourceError) {
        let waits = try readiness.add(descriptor.raw, token: Token.connection.rawValue << 32 | UInt64(slot))
        if !waits { alwaysReady.append(slot) }
    }

    /// Reads until told to stop or until every source has ended.
    mutating func run(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) -> Lane.End {
        while !isDone {
            let ready = try readiness.wait(milliseconds: patience)
            if inbox.hasChanges { try followChanges(&consumer) }
            if holds.generation != heldGeneration { try followHolds(&consumer) }
            try idle(&consumer)
            if !acknowledging.isEmpty { try acknowledge(&consumer) }
            hasEmptied = ready > 0
            for index in 0..<ready { try handle(readiness.token(index), &consumer) }
            if isStopping {
                try drain(&consumer)
                return .stopped
            }
            for slot in alwaysReady { try readStream(slot, &consumer) }
            try readBuffered(&consumer)
            if rests { kymo_rest(pace.rest) }
        }
        return .sourcesEnded
    }

    /// Whether nothing can come any more: of others, only where sources may be added.
    private var isDone: Bool { liveSources == 0 && (!live.mayGrow || live.isZero) }

    /// Whether to let datagrams gather before the next look.
    private var rests: Bool {
        hasEmptied && pace.rest > 0 && alwaysReady.isEmpty && buffered.isEmpty && !acknowledgesSoon
    }

    /// Milliseconds to wait for something to read.
    var patience: Int32 {
        if !alwaysReady.isEmpty || !buffered.isEmpty { return 0 }
        return acknowledgesSoon ? LaneLoop.acknowledgeMilliseconds : LaneLoop.idleMilliseconds
    }

    mutating func handle(
        _ token: UInt64, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let index = Int(token & 0xFFFF_FFFF)
        switch Token(rawValue: token >> 32) {
        // What is held, or was removed, may have been ready before.
        case .source where held.contains(index) || sources[index].isGone: break
        case .source:
            switch sources[index].opened.form {
            case .datagrams: try receive(index, maxBatches: LaneLoop.maxBatches, &consumer)
            case .sealed(let form): try receive(index, form, maxBatches: LaneLoop.maxBatches, &consumer)
            case .associations(let associations):
                hasEmptied = false
                try receive(index, associations, maxBatches: LaneLoop.maxBatches, &consumer)
            case .listener(let listener):
                hasEmptied = false
                try accept(index, listener, &consumer)
            case .stream, .returningStream, .broker, .records: break
            }
        case .connection:
            hasEmptied = false
            try readStream(index, &consumer)
        case .stop, nil: isStopping = true
        }
    }
}
