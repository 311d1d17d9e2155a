import KymographCore

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

    /// The unfinished line; valid until the next call.
    var unfinishedLine: ByteView { unfinished.view }

    /// Hands on the lines in `piece`, before which is what ``unfinishedLine`` was.
    mutating func split(
        _ piece: StreamPiece, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        let bytes = piece.bytes
        unfinished.removeAll()
        var (start, unsearched) = (0, piece.keptCount)
        while true {
            if let length = takeKnown(bytes, from: start, arrival, counts: &counts, to: &consumer) {
                start &+= length &+ 1
                unsearched = start
                continue
            }
            guard let newline = bytes.firstIndex(of: 0x0A, from: unsearched) else { break }
            if isSkipping {
                isSkipping = false
            } else {
                deliver(bytes[start..<newline], arrival, counts: &counts, to: &consumer)
            }
            start = newline + 1
            unsearched = start
        }
        guard !isSkipping else { return }
        keep(bytes[start..<bytes.count], arrival, counts: &counts, to: &consumer)
    }

    /// Hands on the line at `start` if the consumer can tell it before its newline is looked for; its length.
    @inline(__always)
    private func takeKnown(
        _ bytes: ByteView, from start: Int, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Int? {
        guard !isSkipping else { return nil }
        // No further than a line may reach.
        let reach = min(bytes.count, start + cap + 1)
        guard
            let length = consumer.knownLine(
                bytes[start..<reach], source: arrival.source, received: arrival.received)
        else { return nil }
        counts.lines &+= 1
        return length
    }

    /// The line that `bytes` up to a newline are; nil when it is empty, or the end of one that was too long.
    func line(_ bytes: ByteView) -> ByteView? {
        let length = lengthWithoutReturn(bytes)
        return isSkipping || length == 0 ? nil : bytes[0..<length]
    }

    /// Forgets the unfinished line.
    mutating func forget() { unfinished.removeAll() }

    /// Hands on one line without its newline.
    @inline(__always)
    func deliver(
        _ line: ByteView, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadReceiver & ~Copyable
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
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        guard lengthWithoutReturn(rest) > cap else { return unfinished.append(rest) }
        isSkipping = true
        reject(.lineTooLong, rest, arrival, counts: &counts, to: &consumer)
    }

    /// Gives up the unfinished line `rest`, of which the end will not be read.
    func giveUp(
        _ reason: Rejection, _ rest: ByteView, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        counts.lines += 1
        counts.rejected += 1
        consumer.rejected(reason, bytes: rest, source: arrival.source, received: arrival.received)
    }

    /// Gives up `line`, of which up to the cap is kept.
    func reject(
        _ reason: Rejection, _ line: ByteView, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadReceiver & ~Copyable
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
