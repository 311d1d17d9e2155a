import Glibc
import KymographCore

/// The open streams of a lane, and the memory they are read into. Of the lane's thread.
final class StreamTable {
    /// How reading a chunk ended.
    enum Outcome {
        /// Bytes were read, and more may wait.
        case more
        /// Nothing waits.
        case nothing
        /// The stream has ended, or nothing can be made of its rest; its last payload has been handed on.
        case ended
        /// The read failed with this errno; the unfinished payload has been handed on, or rejected.
        case failed(Int32)
    }

    /// A host, and the source that it has connections to.
    private struct Host: Hashable {
        var source: Int
        var name: String
    }

    /// Bytes per read.
    static let chunkBytes = 262_144

    private let sources: LaneSources
    private let watch: LaneWatch
    private var memory: ReceiveMemory
    private var streams: [Stream?] = []
    private var counts: [Int: Int] = [:]
    private var hosts: [Host: Int] = [:]

    /// Makes a table for streams of `sources`, for which `watch` waits.
    init(_ sources: LaneSources, _ watch: LaneWatch) {
        (self.sources, self.watch) = (sources, watch)
        let longestLine = sources.list.map(\.configuration.lineCap).max() ?? 0
        memory = ReceiveMemory(kept: longestLine + StreamPiece.mostHead, chunk: StreamTable.chunkBytes)
    }

    /// Makes room for payloads of at most `longestLine` bytes, too. Between batches nothing is in the memory.
    func makeRoom(longestLine: Int) {
        guard longestLine + StreamPiece.mostHead > memory.chunkStart else { return }
        memory = ReceiveMemory(kept: longestLine + StreamPiece.mostHead, chunk: StreamTable.chunkBytes)
    }

    /// All slots, used and free.
    var slots: Range<Int> { 0..<streams.count }

    /// The stream in `slot`, or nil when it has been closed.
    func stream(_ slot: Int) -> Stream? { streams[slot] }

    /// Open streams of source `source`.
    func connections(of source: Int) -> Int { counts[source, default: 0] }

    /// Open connections of the host `host` to source `source`.
    func connections(of source: Int, host: String) -> Int { hosts[Host(source: source, name: host), default: 0] }

    /// Begins to read a stream; gives its slot.
    @discardableResult
    func open(_ stream: Stream) throws(SourceError) -> Int {
        let slot = add(stream)
        noteOpenStreams(of: stream.source)
        try watch.watch(slot, stream.descriptor)
        return slot
    }

    private func noteOpenStreams(of index: Int) {
        sources[index].counters.note(openStreams: connections(of: index))
    }

    /// Adds a stream; returns its slot.
    private func add(_ stream: Stream) -> Int {
        counts[stream.source, default: 0] += 1
        if let host = stream.peer?.host { hosts[Host(source: stream.source, name: host), default: 0] += 1 }
        if let free = streams.firstIndex(where: { $0 == nil }) {
            streams[free] = stream
            return free
        }
        streams.append(stream)
        return streams.count - 1
    }

    /// Notes who the client of an open stream is, which was not known before.
    func name(_ stream: Stream, _ peer: Peer?) {
        stream.name(peer)
        if let host = peer?.host { hosts[Host(source: stream.source, name: host), default: 0] += 1 }
    }

    /// Closes the stream in `slot` and frees the slot.
    func close(_ slot: Int) {
        guard let stream = streams[slot] else { return }
        counts[stream.source, default: 0] -= 1
        if let name = stream.peer?.host {
            let host = Host(source: stream.source, name: name)
            let left = hosts[host, default: 0] - 1
            hosts[host] = left > 0 ? left : nil
        }
        stream.transport.end()
        stream.descriptor.close()
        streams[slot] = nil
        noteOpenStreams(of: stream.source)
    }

    /// What the negative errno of a failed read means.
    func readFailure(_ code: Int) -> Outcome {
        code == -Int(EAGAIN) || code == -Int(EINTR) ? .nothing : .failed(Int32(-code))
    }

    /// Reads one chunk of `stream` and hands on its payloads by `decoder`. `broken` is what a failed read makes of the
    /// unfinished one.
    func readChunk(
        _ stream: Stream, _ decoder: StreamDecoder, broken: StreamEnding, _ intake: inout StreamIntake,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) -> Outcome {
        let kept = memory.storeBeforeChunk(decoder.kept)
        let start = kept.upperBound
        let size = memory.read(
            stream.descriptor.raw, by: stream.transport, at: start, count: StreamTable.chunkBytes)
        intake.noteRead()
        guard size <= 0 else {
            intake.counts.bytes += UInt64(size)
            let piece = StreamPiece(memory.view(kept.lowerBound..<(start + size)), keptCount: kept.count)
            return decoder.take(piece, &intake, to: &consumer) ? .more : .ended
        }
        let outcome = size == 0 ? Outcome.ended : readFailure(size)
        switch outcome {
        case .ended: decoder.end(.ended, memory.view(kept), &intake, to: &consumer)
        case .failed: decoder.end(broken, memory.view(kept), &intake, to: &consumer)
        case .more, .nothing: break
        }
        return outcome
    }

    /// Hands on what `decoder` has left for want of room for replies; false when the stream ends with it.
    func resume(
        _ decoder: StreamDecoder, _ intake: inout StreamIntake, to consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        let kept = memory.storeBeforeChunk(decoder.kept)
        return decoder.take(StreamPiece(memory.view(kept), keptCount: kept.count), &intake, to: &consumer)
    }

    /// Gives up the unfinished payload of a stream, for `reason`.
    func abandon(
        _ decoder: StreamDecoder, _ reason: Rejection, _ intake: inout StreamIntake,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let kept = memory.storeBeforeChunk(decoder.kept)
        decoder.end(.cut(reason), memory.view(kept), &intake, to: &consumer)
    }
}
