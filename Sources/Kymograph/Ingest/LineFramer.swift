import KymographCore

/// Where and when bytes arrived.
struct Arrival {
    /// The source's number.
    var source: Int
    /// When the batch was received.
    var received: Instant
}

/// Cuts one byte stream into lines, whatever the chunks it comes in.
///
/// Chunks are read into memory that the lane's streams share; only the unfinished line at a chunk's end is copied here,
/// so that an idle connection costs next to nothing.
struct LineFramer: ~Copyable {
    private var unfinished = ByteWriter(capacity: 64)
    private var isSkipping = false
    /// Longest line in bytes, without its end.
    let cap: Int

    init(cap: Int) {
        self.cap = cap
    }

    /// Bytes that the shared memory needs before a chunk: the longest unfinished line, with a carriage return.
    static func reserve(cap: Int) -> Int { cap + 1 }

    /// Puts the unfinished line right before the place of the next chunk in `memory`, and returns where it is.
    func restore(to memory: inout ReceiveMemory) -> Range<Int> { memory.storeBeforeChunk(unfinished.view) }

    /// Bytes of the unfinished line.
    var unfinishedBytes: Int { unfinished.count }

    /// Hands on the lines in `memory`: what ``restore(to:)`` put there, then the new bytes `chunk` behind that.
    mutating func split(
        _ memory: borrowing ReceiveMemory, chunk: Range<Int>, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var start = chunk.lowerBound - unfinished.count
        unfinished.removeAll()
        var unsearched = chunk.lowerBound
        while true {
            if let length = takeKnown(memory, start..<chunk.upperBound, arrival, counts: &counts, to: &consumer) {
                start += length + 1
                unsearched = start
                continue
            }
            guard let newline = memory.newline(in: unsearched..<chunk.upperBound) else { break }
            if isSkipping {
                isSkipping = false
            } else {
                deliver(memory.view(start..<newline), arrival, counts: &counts, to: &consumer)
            }
            start = newline + 1
            unsearched = start
        }
        guard !isSkipping else { return }
        keep(memory.view(start..<chunk.upperBound), arrival, counts: &counts, to: &consumer)
    }

    /// Hands on the first line of `range` if the consumer can tell it before its newline is looked for; its length.
    @inline(__always)
    private func takeKnown(
        _ memory: borrowing ReceiveMemory, _ range: Range<Int>, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) -> Int? {
        guard !isSkipping else { return nil }
        // No further than a line may reach.
        let reach = min(range.upperBound, range.lowerBound + cap + 1)
        let bytes = memory.view(range.lowerBound..<reach)
        guard let length = consumer.knownLine(bytes, source: arrival.source, received: arrival.received) else {
            return nil
        }
        counts.lines += 1
        return length
    }

    /// The line that `bytes` up to a newline are; nil when it is empty, or the end of one that was too long.
    func line(_ bytes: ByteView) -> ByteView? {
        let length = lengthWithoutReturn(bytes)
        return isSkipping || length == 0 ? nil : bytes[0..<length]
    }

    /// Forgets the unfinished line.
    mutating func forget() { unfinished.removeAll() }

    /// Hands on the last line, which had no newline, unless it may be a part. `memory` is scratch.
    mutating func finish(
        _ memory: inout ReceiveMemory, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable, mayBePart: (ByteView) -> Bool
    ) {
        let rest = restore(to: &memory)
        unfinished.removeAll()
        if let line = line(memory.view(rest)), mayBePart(line) {
            return reject(.frameIncomplete, line, arrival, counts: &counts, to: &consumer)
        }
        deliver(memory.view(rest), arrival, counts: &counts, to: &consumer)
    }

    /// Gives up the unfinished line of a stream that is still open, because nobody will read its rest.
    mutating func abandon(
        _ memory: inout ReceiveMemory, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let rest = restore(to: &memory)
        unfinished.removeAll()
        guard !rest.isEmpty else { return }
        counts.lines += 1
        counts.rejected += 1
        consumer.rejected(.shutdown, bytes: memory.view(rest), source: arrival.source, received: arrival.received)
    }

    /// Hands on one line without its newline.
    @inline(__always)
    private func deliver(
        _ line: ByteView, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let length = lengthWithoutReturn(line)
        guard length > 0 else { return }
        guard length <= cap else { return reject(.lineTooLong, line, arrival, counts: &counts, to: &consumer) }
        counts.lines += 1
        consumer.line(line[0..<length], source: arrival.source, received: arrival.received)
    }

    /// Keeps `rest` until its newline comes, unless it is too long already.
    private mutating func keep(
        _ rest: ByteView, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard lengthWithoutReturn(rest) > cap else { return unfinished.append(rest) }
        isSkipping = true
        reject(.lineTooLong, rest, arrival, counts: &counts, to: &consumer)
    }

    /// Gives up `line`, of which up to the cap is kept.
    func reject(
        _ reason: Rejection, _ line: ByteView, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        counts.lines += 1
        counts.rejected += 1
        consumer.rejected(
            reason, bytes: line[0..<min(line.count, cap)], source: arrival.source, received: arrival.received)
    }

    @inline(__always)
    private func lengthWithoutReturn(_ line: ByteView) -> Int {
        line.count > 0 && line[line.count - 1] == 0x0D ? line.count - 1 : line.count
    }
}
