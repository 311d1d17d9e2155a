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
    /// Rounds of accepting clients when stopping: the kernel's queue holds 4,096 (SOMAXCONN).
    static let maxDrainRounds = 4096

    let sources: [LaneSource]
    var readiness: Readiness
    var datagrams = DatagramBatch()
    var drops: [DropCounter]
    var streams: StreamTable
    /// Streams that never make one wait, such as regular files.
    var alwaysReady: [Int] = []
    var pausedListeners: [Int] = []
    /// Serial lines that are not there, by source.
    var lostLines: [Int: LostLine] = [:]
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
    init(sources: [LaneSource], readiness: consuming Readiness) {
        self.sources = sources
        self.readiness = readiness
        drops = Array(repeating: DropCounter(), count: sources.count)
        liveSources = sources.count
        pace = ArrivalPace(
            longestRest: sources.map(\.configuration.longestRest).min() ?? 0,
            bufferBytes: sources.map(\.grantedBufferBytes).filter { $0 > 0 }.min() ?? 0)
        streams = StreamTable(longestLine: sources.map(\.configuration.lineCap).max() ?? 0)
    }

    /// Begins to wait for the sources and for `stopEvent`.
    mutating func start(stopEvent: Descriptor) throws(SourceError) {
        _ = try readiness.add(stopEvent.raw, token: Token.stop.rawValue << 32)
        for index in sources.indices { try start(index) }
    }

    mutating func start(_ index: Int) throws(SourceError) {
        let source = sources[index]
        switch source.configuration.kind {
        case .udp, .unixStream, .unixSeqpacket, .unixDatagram:
            _ = try readiness.add(source.descriptor.raw, token: Token.source.rawValue << 32 | UInt64(index))
        case .serial where source.descriptor.raw < 0: lostLines[index] = LostLine(at: lastIdle)
        case .standardInput, .serial: try open(source.descriptor, source: index)
        }
    }

    /// Begins to read a stream of source `index`.
    mutating func open(
        _ descriptor: Descriptor, source index: Int, peer: PeerCredentials? = nil
    ) throws(SourceError) {
        let slot = streams.open(descriptor, source: index, configuration: sources[index].configuration, peer: peer)
        try watch(slot, descriptor)
    }

    mutating func watch(_ slot: Int, _ descriptor: Descriptor) throws(SourceError) {
        let waits = try readiness.add(descriptor.raw, token: Token.connection.rawValue << 32 | UInt64(slot))
        if !waits { alwaysReady.append(slot) }
    }

    /// Reads until told to stop or until every source has ended.
    mutating func run(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) -> Lane.End {
        while liveSources > 0 {
            let ready = try readiness.wait(milliseconds: patience)
            try idle(&consumer)
            if !acknowledging.isEmpty { try acknowledge(&consumer) }
            hasEmptied = ready > 0
            for index in 0..<ready { try handle(readiness.token(index), &consumer) }
            if isStopping {
                try drain(&consumer)
                return .stopped
            }
            for slot in alwaysReady { try readStream(slot, &consumer) }
            if rests { kymo_rest(pace.rest) }
        }
        return .sourcesEnded
    }

    /// Whether to let datagrams gather before the next look.
    private var rests: Bool { hasEmptied && pace.rest > 0 && alwaysReady.isEmpty && !acknowledgesSoon }

    /// Milliseconds to wait for something to read.
    var patience: Int32 {
        if !alwaysReady.isEmpty { return 0 }
        return acknowledgesSoon ? LaneLoop.acknowledgeMilliseconds : LaneLoop.idleMilliseconds
    }

    mutating func handle(
        _ token: UInt64, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let index = Int(token & 0xFFFF_FFFF)
        switch Token(rawValue: token >> 32) {
        case .source:
            if sources[index].configuration.kind.isListener {
                hasEmptied = false
                try accept(index)
            } else {
                try receive(index, maxBatches: LaneLoop.maxBatches, &consumer)
            }
        case .connection:
            hasEmptied = false
            try readStream(index, &consumer)
        case .stop, nil: isStopping = true
        }
    }
}
