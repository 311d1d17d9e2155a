import Glibc
import KymographCore

/// One open stream: a client's connection, a serial line, or standard input.
final class Stream {
    let descriptor: Descriptor
    /// Index of the source it belongs to.
    let source: Int
    /// The source's number for the consumer.
    let number: Int
    fileprivate(set) var framer: LineFramer
    /// What cuts the stream when it is not NDJSON.
    fileprivate let frames: FrameSplitter?
    /// What cuts the stream when it is the output of a Bluetooth tool.
    fileprivate let capture: CaptureSplitter?
    /// Who the client is, where the kernel says it.
    let peer: PeerCredentials?
    /// Whether the kernel keeps messages apart.
    let hasMessages: Bool
    /// What the client is told of its lines, once it has asked for it.
    var acknowledger: Acknowledger?
    /// Whether the client writes no more, and waits for its acknowledgements.
    var isHalfClosed = false
    /// Whether nothing has come yet: the first payload may ask for acknowledgements, or be the rest of one that began
    /// before the line was opened.
    var isFresh: Bool
    /// Whether payloads may begin before the stream is opened, and end after it has gone, and nothing else tells.
    let hasOpenEnds: Bool

    init(_ descriptor: Descriptor, source: Int, configuration: SourceConfiguration, peer: PeerCredentials?) {
        self.descriptor = descriptor
        self.peer = peer
        if case .unixSeqpacket = configuration.kind { hasMessages = true } else { hasMessages = false }
        self.source = source
        number = configuration.number
        framer = LineFramer(cap: configuration.lineCap)
        let cap = configuration.lineCap
        if case .frames(let framing) = configuration.framing {
            frames = FrameSplitter(framing, cap: cap)
        } else {
            frames = nil
        }
        if case .capture(let framing) = configuration.framing {
            capture = CaptureSplitter(framing, cap: cap)
        } else {
            capture = nil
        }
        hasOpenEnds = configuration.hasOpenEnds
        isFresh = configuration.kind.isListener || configuration.hasOpenEnds
    }

    /// Whether `payload`, the first or the unfinished last one, may be a part of what was sent. A part of a JSON
    /// document is none, but one of a packet can be another packet.
    func mayBePart(_ payload: ByteView) -> Bool {
        guard hasOpenEnds else { return false }
        var start = payload.startBehindByteOrderMark
        while start < payload.count, payload[start] <= 0x20 { start += 1 }
        return start == payload.count || payload[start] != UInt8(ascii: "{") && payload[start] != UInt8(ascii: "[")
    }

    /// Whether `payload`, frame or message, is the client's first one and asks for acknowledgements, which begin then.
    func asksForAcknowledgements(_ payload: ByteView, _ consumer: inout some PayloadConsumer & ~Copyable) -> Bool {
        guard isFresh, !hasOpenEnds else { return false }
        isFresh = false
        guard payload.equals(ByteView(Acknowledger.request)) else { return false }
        acknowledger = Acknowledger(canKeep: consumer.mark() != nil)
        return true
    }
}

/// The open streams of a lane, and the memory they are read into.
struct StreamTable: ~Copyable {
    /// How reading a chunk ended.
    enum Outcome {
        /// Bytes were read, and more may wait.
        case more
        /// Nothing waits.
        case nothing
        /// The stream has ended, or nothing can be made of its rest; its last payload has been handed on.
        case ended
        /// The read failed with this errno; the unfinished line has been handed on.
        case failed(Int32)
    }

    /// Bytes per read.
    static let chunkBytes = 262_144
    /// Most chunks that a stopping lane still takes from one connection: 4 MiB.
    static let maxDrainChunks = 16

    private var memory: ReceiveMemory
    private var streams: [Stream?] = []
    private var counts: [Int: Int] = [:]

    /// Makes a table for streams whose lines have at most `longestLine` bytes.
    init(longestLine: Int) {
        memory = ReceiveMemory(kept: LineFramer.reserve(cap: longestLine), chunk: StreamTable.chunkBytes)
    }

    /// All slots, used and free.
    var slots: Range<Int> { 0..<streams.count }

    /// The stream in `slot`, or nil when it has been closed.
    func stream(_ slot: Int) -> Stream? { streams[slot] }

    /// Open streams of source `source`.
    func connections(of source: Int) -> Int { counts[source, default: 0] }

    /// Adds a stream; returns its slot.
    mutating func open(
        _ descriptor: Descriptor, source: Int, configuration: SourceConfiguration, peer: PeerCredentials?
    ) -> Int {
        let stream = Stream(descriptor, source: source, configuration: configuration, peer: peer)
        counts[source, default: 0] += 1
        if let free = streams.firstIndex(where: { $0 == nil }) {
            streams[free] = stream
            return free
        }
        streams.append(stream)
        return streams.count - 1
    }

    /// Closes the stream in `slot` and frees the slot.
    mutating func close(_ slot: Int) {
        guard let stream = streams[slot] else { return }
        counts[stream.source, default: 0] -= 1
        stream.descriptor.close()
        streams[slot] = nil
    }

    /// What the negative errno of a failed read means.
    func readFailure(_ code: Int) -> Outcome {
        code == -Int(EAGAIN) || code == -Int(EINTR) ? .nothing : .failed(Int32(-code))
    }

    /// Reads one chunk of `stream` and hands on its lines.
    mutating func readChunk(
        _ stream: Stream, counts: inout SourceCounts, to consumer: inout some PayloadConsumer & ~Copyable
    ) -> Outcome {
        let start = stream.framer.restore(to: &memory).upperBound
        let size = memory.read(stream.descriptor.raw, at: start, count: StreamTable.chunkBytes)
        consumer.batchBegin()
        consumer.sender(stream.peer)
        let arrival = Arrival(source: stream.number, received: WallClock.now())
        guard size <= 0 else {
            counts.bytes += UInt64(size)
            return split(stream, start..<(start + size), arrival, counts: &counts, to: &consumer)
        }
        let outcome = size == 0 ? Outcome.ended : readFailure(size)
        if case .nothing = outcome { return outcome }
        let before = counts.lines
        if let frames = stream.frames {
            frames.finish(stream, arrival, counts: &counts, to: &consumer)
        } else if let capture = stream.capture {
            capture.finish(arrival, counts: &counts, to: &consumer)
        } else {
            stream.framer.finish(&memory, arrival, counts: &counts, to: &consumer) { stream.mayBePart($0) }
        }
        stream.acknowledger?.add(lines: counts.lines - before)
        return outcome
    }

    /// Hands on the payloads of a chunk, except a first one that asks for acknowledgements or may be a part.
    private mutating func split(
        _ stream: Stream, _ chunk: Range<Int>, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) -> Outcome {
        let before = counts.lines
        var outcome = Outcome.more
        if let frames = stream.frames {
            let goesOn = frames.split(memory.view(chunk), of: stream, arrival, counts: &counts, to: &consumer)
            if !goesOn { outcome = .ended }
        } else if let capture = stream.capture {
            capture.split(memory.view(chunk), arrival, counts: &counts, to: &consumer)
        } else {
            splitLines(stream, chunk, arrival, counts: &counts, to: &consumer)
        }
        stream.acknowledger?.add(lines: counts.lines - before)
        return outcome
    }

    private mutating func splitLines(
        _ stream: Stream, _ chunk: Range<Int>, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var chunk = chunk
        if stream.isFresh, let end = memory.newline(in: chunk) {
            stream.isFresh = false
            let start = chunk.lowerBound - stream.framer.unfinishedBytes
            if let line = stream.framer.line(memory.view(start..<end)),
                takeFirst(line, of: stream, arrival, counts: &counts, to: &consumer)
            {
                chunk = (end + 1)..<chunk.upperBound
                stream.framer.forget()
            }
        }
        stream.framer.split(memory, chunk: chunk, arrival, counts: &counts, to: &consumer)
    }

    /// Takes the first line if it is no payload; whether it is none.
    private func takeFirst(
        _ line: ByteView, of stream: Stream, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        if stream.mayBePart(line) {
            stream.framer.reject(.beginningMissed, line, arrival, counts: &counts, to: &consumer)
            return true
        }
        guard !stream.hasOpenEnds, line.equals(ByteView(Acknowledger.request)) else { return false }
        stream.acknowledger = Acknowledger(canKeep: consumer.mark() != nil)
        return true
    }

    /// Gives up the unfinished line or frame of `stream`.
    mutating func abandon(
        _ stream: Stream, counts: inout SourceCounts, to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        consumer.sender(stream.peer)
        let arrival = Arrival(source: stream.number, received: WallClock.now())
        if let frames = stream.frames { return frames.abandon(arrival, counts: &counts, to: &consumer) }
        if let capture = stream.capture { return capture.abandon(arrival, counts: &counts, to: &consumer) }
        stream.framer.abandon(&memory, arrival, counts: &counts, to: &consumer)
    }
}
