import Glibc
import KymographCore

/// One open stream: a client's connection, or standard input.
final class Stream {
    let descriptor: Descriptor
    /// Index of the source it belongs to.
    let source: Int
    /// The source's number for the consumer.
    let number: Int
    fileprivate(set) var framer: LineFramer
    /// What the client is told of its lines, once it has asked for it.
    var acknowledger: Acknowledger?
    /// Whether the client writes no more, and waits for its acknowledgements.
    var isHalfClosed = false
    /// Whether nothing has come yet: the first line may ask for acknowledgements.
    fileprivate var isFresh: Bool

    init(_ descriptor: Descriptor, source: Int, configuration: SourceConfiguration) {
        self.descriptor = descriptor
        self.source = source
        number = configuration.number
        framer = LineFramer(cap: configuration.lineCap)
        if case .unixStream = configuration.kind { isFresh = true } else { isFresh = false }
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
        /// The stream has ended; its last line has been handed on.
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
        memory = ReceiveMemory(capacity: LineFramer.reserve(cap: longestLine) + StreamTable.chunkBytes)
    }

    /// All slots, used and free.
    var slots: Range<Int> { 0..<streams.count }

    /// The stream in `slot`, or nil when it has been closed.
    func stream(_ slot: Int) -> Stream? { streams[slot] }

    /// Open streams of source `source`.
    func connections(of source: Int) -> Int { counts[source, default: 0] }

    /// Adds a stream; returns its slot.
    mutating func open(_ descriptor: Descriptor, source: Int, configuration: SourceConfiguration) -> Int {
        let stream = Stream(descriptor, source: source, configuration: configuration)
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
        let start = stream.framer.restore(to: &memory)
        let size = memory.read(stream.descriptor.raw, at: start, count: StreamTable.chunkBytes)
        consumer.batchBegin()
        let arrival = Arrival(source: stream.number, received: WallClock.now())
        guard size <= 0 else {
            counts.bytes += UInt64(size)
            split(stream, start..<(start + size), arrival, counts: &counts, to: &consumer)
            return .more
        }
        let outcome = size == 0 ? Outcome.ended : readFailure(size)
        if case .nothing = outcome { return outcome }
        stream.framer.finish(&memory, arrival, counts: &counts, to: &consumer)
        return outcome
    }

    /// Hands on the lines of a chunk, except a first one that asks for acknowledgements.
    private mutating func split(
        _ stream: Stream, _ chunk: Range<Int>, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var chunk = chunk
        if stream.isFresh {
            guard let line = stream.framer.firstLine(memory, chunk: chunk) else {
                return stream.framer.split(memory, chunk: chunk, arrival, counts: &counts, to: &consumer)
            }
            stream.isFresh = false
            if memory.view(0..<line).equals(ByteView(Acknowledger.request)) {
                stream.acknowledger = Acknowledger(canKeep: consumer.mark() != nil)
                memory.drop(line + 1, of: chunk.upperBound)
                chunk = 0..<(chunk.upperBound - line - 1)
                stream.framer.forget()
            }
        }
        let before = counts.lines
        stream.framer.split(memory, chunk: chunk, arrival, counts: &counts, to: &consumer)
        stream.acknowledger?.add(lines: counts.lines - before)
    }

    /// Gives up the unfinished line of `stream`.
    mutating func abandon(
        _ stream: Stream, counts: inout SourceCounts, to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let arrival = Arrival(source: stream.number, received: WallClock.now())
        stream.framer.abandon(&memory, arrival, counts: &counts, to: &consumer)
    }
}
