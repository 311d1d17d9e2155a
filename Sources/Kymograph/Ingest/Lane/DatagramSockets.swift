import CKymographLinux
import Glibc
import KymographCore

/// What the sockets of datagrams of a lane share: the memory that is received into, what the kernel has dropped, and
/// how densely datagrams come. Of the lane's thread.
final class DatagramSockets {
    private let sources: LaneSources
    let batch = DatagramBatch()
    private var drops: [DropCounter]
    /// How densely datagrams come.
    private var pace: ArrivalPace
    /// Whether this round has read nothing but UDP sockets, and has emptied them.
    private var hasEmptied = false

    /// Those of `sources`, of which nothing has come yet.
    init(_ sources: LaneSources) {
        self.sources = sources
        drops = Array(repeating: DropCounter(), count: sources.indices.count)
        pace = DatagramSockets.pace(sources.list)
    }

    /// How densely datagrams of `sources` come, before any has.
    private static func pace(_ sources: [LaneSource]) -> ArrivalPace {
        let open = sources.filter { !$0.isGone }
        return ArrivalPace(
            longestRest: open.map(\.configuration.longestRest).min() ?? 0,
            bufferBytes: open.map(\.opened.bufferBytes).filter { $0 > 0 }.min() ?? 0)
    }

    /// Begins to count for source `index`, which was added.
    func begin(_ index: Int) {
        if index < drops.count { drops[index] = DropCounter() } else { drops.append(DropCounter()) }
        pace = DatagramSockets.pace(sources.list)
    }

    // MARK: Pace

    /// A round begins, which `isReady` says whether anything can be read in.
    func beginRound(isReady: Bool) { hasEmptied = isReady }

    /// Notes that this round has read what is no UDP socket, or has not emptied one.
    func noteOthers() { hasEmptied = false }

    /// Nanoseconds to let datagrams gather before the next look; 0 for not at all.
    var rest: Int64 { hasEmptied ? pace.rest : 0 }

    /// Notes what a batch has brought that was received at `received`.
    func notePace(_ counts: SourceCounts, at received: Instant) {
        pace.note(Int(counts.datagrams), bytes: Int(counts.bytes), at: received)
    }

    // MARK: Batches

    /// Takes batches from socket `index` until it is empty, at most `maxBatches`, and has `body` take each, given how
    /// many datagrams it has. False when the socket may have more.
    @inline(__always)
    func receive(
        _ index: Int, maxBatches: Int, _ body: (Int) -> Void
    ) throws(SourceError) -> Bool {
        let descriptor = sources[index].opened.descriptor.raw
        for _ in 0..<maxBatches {
            let count = batch.receive(descriptor)
            if count == -Int(EAGAIN) || count == -Int(EINTR) || count == -Int(ENOMEM) { return true }
            guard count >= 0 else {
                throw .system(Int32(-count), "receive from", sources[index].name)
            }
            if count > 0 { body(count) }
            if count < DatagramBatch.size { return true }
        }
        return false
    }

    /// Counts what the kernel has dropped of source `index`, as the last of `count` datagrams of a batch says.
    func noteDrops(_ count: Int, of index: Int, in counts: inout SourceCounts) {
        // The last datagram of a batch has the latest count.
        if let dropped = batch.dropCount(count - 1) { counts.kernelDrops = drops[index].observe(dropped) }
    }

    /// Asks the kernel how many datagrams it has dropped up to now; unlike SO_RXQ_OVFL this also tells of drops after
    /// the last datagram. Returns the bytes that wait in the socket.
    @discardableResult
    func refreshDrops(_ index: Int) -> Int {
        let info = kymo_memory_info(sources[index].opened.descriptor.raw)
        guard info.error == 0 else { return sources[index].opened.bufferBytes * 2 }
        var counts = SourceCounts()
        counts.kernelDrops = drops[index].observe(info.dropped)
        sources[index].counters.add(counts)
        return Int(info.queued_bytes)
    }

    /// Whether source `index` is a socket of datagrams.
    func isDatagram(_ index: Int) -> Bool {
        switch sources[index].opened.form {
        case .datagrams, .associations, .sealed: !sources[index].isGone
        case .listener, .stream, .returningStream, .broker, .records: false
        }
    }
}
