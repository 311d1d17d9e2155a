import CKymographLinux
import Glibc
import KymographCore

/// The state of a running lane: what its thread alone may touch.
struct LaneLoop: ~Copyable {
    /// What an epoll token names, in its upper half; the lower half is an index.
    private enum Token: UInt64 {
        case stop = 0
        case source = 1
        case connection = 2
    }

    /// Batches of datagrams from one socket before the others get their turn.
    private static let maxBatches = 16
    /// How long a lane waits before it asks the kernel for drops again, and for clients that it could not take.
    private static let idleMilliseconds: Int32 = 250
    /// How long a lane waits before it asks again what has become durable: a commit takes about as long.
    private static let acknowledgeMilliseconds: Int32 = 2
    /// Longest time, in milliseconds, that a stopping lane waits for the last lines to become durable.
    private static let lastAcknowledgement = 2_000
    /// Rounds of accepting clients when stopping: the kernel's queue holds 4,096 (SOMAXCONN).
    private static let maxDrainRounds = 4096

    private let sources: [LaneSource]
    private var readiness: Readiness
    private var datagrams = DatagramBatch()
    private var drops: [DropCounter]
    private var streams: StreamTable
    /// Streams that never make one wait, such as regular files.
    private var alwaysReady: [Int] = []
    private var pausedListeners: [Int] = []
    /// Streams whose clients wait to hear that their lines are durable.
    private var acknowledging: Set<Int> = []
    /// Whether one of them may hear something soon, and not only when it reads.
    private var acknowledgesSoon = false
    /// When the lane last did what is due now and then.
    private var lastIdle = ContinuousClock.now
    /// Sources that can still give something.
    private var liveSources: Int
    private var isStopping = false

    /// A loop that waits for nothing yet.
    init(sources: [LaneSource], readiness: consuming Readiness) {
        self.sources = sources
        self.readiness = readiness
        drops = Array(repeating: DropCounter(), count: sources.count)
        liveSources = sources.count
        streams = StreamTable(longestLine: sources.map(\.configuration.lineCap).max() ?? 0)
    }

    /// Begins to wait for the sources and for `stopEvent`.
    mutating func start(stopEvent: Descriptor) throws(SourceError) {
        _ = try readiness.add(stopEvent.raw, token: Token.stop.rawValue << 32)
        for index in sources.indices { try start(index) }
    }

    private mutating func start(_ index: Int) throws(SourceError) {
        let source = sources[index]
        guard source.configuration.kind.canEnd else {
            _ = try readiness.add(source.descriptor.raw, token: Token.source.rawValue << 32 | UInt64(index))
            return
        }
        let slot = streams.open(source.descriptor, source: index, configuration: source.configuration)
        try watch(slot, source.descriptor)
    }

    private mutating func watch(_ slot: Int, _ descriptor: Descriptor) throws(SourceError) {
        let waits = try readiness.add(descriptor.raw, token: Token.connection.rawValue << 32 | UInt64(slot))
        if !waits { alwaysReady.append(slot) }
    }

    /// Reads until told to stop or until every source has ended.
    mutating func run(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) -> Lane.End {
        while liveSources > 0 {
            let ready = try readiness.wait(milliseconds: patience)
            if ready == 0, alwaysReady.isEmpty { try idle(&consumer) }
            if !acknowledging.isEmpty { try acknowledge(&consumer) }
            for index in 0..<ready { try handle(readiness.token(index), &consumer) }
            if isStopping {
                try drain(&consumer)
                return .stopped
            }
            for slot in alwaysReady { try readStream(slot, &consumer) }
        }
        return .sourcesEnded
    }

    /// Milliseconds to wait for something to read.
    private var patience: Int32 {
        if !alwaysReady.isEmpty { return 0 }
        return acknowledgesSoon ? LaneLoop.acknowledgeMilliseconds : LaneLoop.idleMilliseconds
    }

    private mutating func handle(
        _ token: UInt64, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let index = Int(token & 0xFFFF_FFFF)
        switch Token(rawValue: token >> 32) {
        case .source:
            if case .unixStream = sources[index].configuration.kind {
                try accept(index)
            } else {
                try receive(index, maxBatches: LaneLoop.maxBatches, &consumer)
            }
        case .connection: try readStream(index, &consumer)
        case .stop, nil: isStopping = true
        }
    }
}

// MARK: Datagrams

extension LaneLoop {
    /// Takes batches from socket `index` until it is empty, at most `maxBatches`.
    private mutating func receive(
        _ index: Int, maxBatches: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let descriptor = sources[index].descriptor.raw
        for _ in 0..<maxBatches {
            let count = datagrams.receive(descriptor)
            if count == -Int(EAGAIN) || count == -Int(EINTR) || count == -Int(ENOMEM) { return }
            guard count >= 0 else {
                throw .system(Int32(-count), "receive from", sources[index].boundKind.name)
            }
            deliver(count, from: index, &consumer)
            if count < DatagramBatch.size { return }
        }
    }

    private mutating func deliver(
        _ count: Int, from index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard count > 0 else { return }
        consumer.batchBegin()
        let received = WallClock.now()
        let number = sources[index].configuration.number
        var counts = SourceCounts()
        for place in 0..<count {
            let bytes = datagrams.datagram(place)
            counts.bytes += UInt64(bytes.count)
            if datagrams.isTruncated(place) {
                counts.rejected += 1
                consumer.rejected(.truncatedDatagram, bytes: bytes, source: number, received: received)
            } else {
                consumer.datagram(bytes, source: number, received: received)
            }
        }
        counts.datagrams = UInt64(count)
        // The last datagram of a batch has the latest count.
        if let dropped = datagrams.dropCount(count - 1) { counts.kernelDrops = drops[index].observe(dropped) }
        sources[index].counters.add(counts)
        consumer.batchEnd()
    }

    /// Asks the kernel how many datagrams it has dropped up to now; unlike SO_RXQ_OVFL this also tells of drops after
    /// the last datagram. Returns the bytes that wait in the socket.
    @discardableResult
    private mutating func refreshDrops(_ index: Int) -> Int {
        let info = kymo_memory_info(sources[index].descriptor.raw)
        guard info.error == 0 else { return sources[index].grantedBufferBytes * 2 }
        var counts = SourceCounts()
        counts.kernelDrops = drops[index].observe(info.dropped)
        sources[index].counters.add(counts)
        return Int(info.queued_bytes)
    }

    private func isDatagram(_ index: Int) -> Bool {
        switch sources[index].configuration.kind {
        case .udp, .unixDatagram: true
        case .unixStream, .standardInput: false
        }
    }
}

// MARK: Streams

extension LaneLoop {
    /// Accepts the clients that wait at listener `index`.
    private mutating func accept(_ index: Int) throws(SourceError) {
        let source = sources[index]
        let most = source.configuration.maxConnections + heldOpen(index)
        while streams.connections(of: index) < most {
            let raw = kymo_accept(source.descriptor.raw)
            if raw == -EAGAIN || raw == -ECONNABORTED || raw == -EINTR { return }
            guard raw >= 0 else { return pause(index) }
            let descriptor = Descriptor(raw)
            let slot = streams.open(descriptor, source: index, configuration: source.configuration)
            try watch(slot, descriptor)
            var counts = SourceCounts()
            counts.connections = 1
            source.counters.add(counts)
        }
        pause(index)
    }

    /// Connections of listener `index` that a stopping lane has read, and keeps for their acknowledgements only.
    private func heldOpen(_ index: Int) -> Int {
        guard isStopping else { return 0 }
        var count = 0
        for slot in acknowledging {
            if let stream = streams.stream(slot), stream.isHalfClosed, stream.source == index { count += 1 }
        }
        return count
    }

    /// Leaves further clients in the kernel's queue until a connection ends or the lane is quiet: at the cap, or out of
    /// descriptors, the listener would stay ready and the loop would spin.
    private mutating func pause(_ index: Int) {
        readiness.remove(sources[index].descriptor.raw)
        pausedListeners.append(index)
    }

    private mutating func resumeListeners() throws(SourceError) {
        let paused = pausedListeners
        pausedListeners.removeAll()
        for index in paused {
            _ = try readiness.add(sources[index].descriptor.raw, token: Token.source.rawValue << 32 | UInt64(index))
        }
    }

    /// Reads one chunk of stream `slot`.
    private mutating func readStream(
        _ slot: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard let stream = streams.stream(slot) else { return }
        var counts = SourceCounts()
        let outcome = streams.readChunk(stream, counts: &counts, to: &consumer)
        sources[stream.source].counters.add(counts)
        consumer.batchEnd()
        note(slot, stream, &consumer)
        switch outcome {
        case .more, .nothing: return
        case .ended: break
        case .failed(let code):
            guard !sources[stream.source].configuration.kind.canEnd else {
                throw .system(code, "read", sources[stream.source].boundKind.name)
            }
        }
        try end(slot, stream, &consumer)
    }

    private mutating func end(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        // A client that has only shut down its writing side still wants to hear of its last lines.
        if stream.acknowledger?.isWaiting ?? false, !stream.isHalfClosed {
            stream.isHalfClosed = true
            readiness.remove(stream.descriptor.raw)
            return
        }
        alwaysReady.removeAll { $0 == slot }
        if sources[stream.source].configuration.kind.canEnd { liveSources -= 1 }
        readiness.remove(stream.descriptor.raw)
        streams.close(slot)
        try resumeListeners()
    }
}

// MARK: Acknowledgements

extension LaneLoop {
    /// Notes what stream `slot` has handed on, if its client wants to hear of it.
    private mutating func note(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard stream.acknowledger != nil else { return }
        if let mark = consumer.mark() { stream.acknowledger?.note(mark) }
        acknowledging.insert(slot)
        acknowledgesSoon = true
    }

    /// Tells clients what has become durable, and closes the streams that have heard all.
    private mutating func acknowledge(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        acknowledgesSoon = false
        for slot in acknowledging {
            guard let stream = streams.stream(slot) else {
                acknowledging.remove(slot)
                continue
            }
            let isReachable = answer(stream, &consumer)
            let isWaiting = stream.acknowledger?.isWaiting ?? false
            if !isWaiting || !isReachable { acknowledging.remove(slot) }
            if isWaiting, isReachable, !(stream.acknowledger?.isUnread ?? false) { acknowledgesSoon = true }
            let isRefused = stream.acknowledger?.isRefused ?? false
            if stream.isHalfClosed || isRefused, !isWaiting || !isReachable { try end(slot, stream, &consumer) }
        }
    }

    /// Writes what `stream`'s client is to hear, as far as it takes it; false when it has gone.
    private func answer(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) -> Bool {
        guard let bytes = stream.acknowledger?.answer(&consumer), !bytes.isEmpty else { return true }
        let size = bytes.withByteView { FileSystem.send(stream.descriptor.raw, $0) }
        if size > 0 { stream.acknowledger?.sent(size) }
        return size > 0 || size == -Int(EAGAIN)
    }

    /// Gives the last lines of clients that wait some time to become durable.
    private mutating func acknowledgeLast(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        var left = LaneLoop.lastAcknowledgement
        while !acknowledging.isEmpty, left > 0 {
            try acknowledge(&consumer)
            Wait.milliseconds(Int(LaneLoop.acknowledgeMilliseconds))
            left -= Int(LaneLoop.acknowledgeMilliseconds)
        }
    }
}

// MARK: Quiet and stop

extension LaneLoop {
    /// Does what is due now and then, if it is.
    private mutating func idle(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        let now = ContinuousClock.now
        guard now - lastIdle >= .milliseconds(Int64(LaneLoop.idleMilliseconds)) else { return }
        lastIdle = now
        for index in sources.indices where isDatagram(index) { refreshDrops(index) }
        try resumeListeners()
        consumer.batchBegin()
    }

    /// Takes what the kernel has already queued, and no more: senders may never pause.
    private mutating func drain(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        for index in sources.indices where isDatagram(index) {
            // The kernel charges UDP at least 512 bytes for a datagram, and a Unix socket's queue is short.
            let queued = max(refreshDrops(index) / 512, 4096)
            try receive(index, maxBatches: queued / DatagramBatch.size + 1, &consumer)
            refreshDrops(index)
        }
        for index in sources.indices {
            if case .unixStream = sources[index].configuration.kind { try drainListener(index, &consumer) }
        }
        for slot in streams.slots { try drainStream(slot, &consumer) }
        try acknowledgeLast(&consumer)
    }

    /// Takes the clients that wait at listener `index`, as many at a time as the cap allows. Those that have been read
    /// and only wait for acknowledgements do not count; when there is no descriptor left, they make room, too.
    private mutating func drainListener(
        _ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for _ in 0..<LaneLoop.maxDrainRounds {
            pausedListeners.removeAll()
            let before = streams.connections(of: index)
            try accept(index)
            let isStuck = streams.connections(of: index) == before && !acknowledging.isEmpty
            for slot in streams.slots { try drainStream(slot, &consumer) }
            if pausedListeners.isEmpty { return }
            if isStuck { try makeRoom(&consumer) }
        }
    }

    /// Ends the connections that wait for acknowledgements. What is not acknowledged in time has been handed on all the
    /// same: its client sends it again, and it counts as duplicate.
    private mutating func makeRoom(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        try acknowledgeLast(&consumer)
        for slot in acknowledging {
            guard let stream = streams.stream(slot), stream.isHalfClosed else { continue }
            try end(slot, stream, &consumer)
        }
        acknowledging.removeAll()
    }

    /// Reads what waits in a client's connection, at most as much as its send buffer can plausibly hold, and gives up
    /// the line that is not complete.
    private mutating func drainStream(
        _ slot: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard let stream = streams.stream(slot), !stream.isHalfClosed else { return }
        var counts = SourceCounts()
        var chunks = sources[stream.source].configuration.kind.canEnd ? 0 : StreamTable.maxDrainChunks
        var outcome = StreamTable.Outcome.more
        while chunks > 0, case .more = outcome {
            outcome = streams.readChunk(stream, counts: &counts, to: &consumer)
            chunks -= 1
        }
        streams.abandon(stream, counts: &counts, to: &consumer)
        sources[stream.source].counters.add(counts)
        consumer.batchEnd()
        note(slot, stream, &consumer)
        if stream.acknowledger == nil { streams.close(slot) } else { stream.isHalfClosed = true }
    }
}
