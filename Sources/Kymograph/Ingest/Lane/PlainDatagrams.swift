import KymographCore

/// Reads datagrams that come as they are, from UDP and Unix sockets.
struct PlainDatagrams {
    private let sockets: DatagramSockets
    private let sources: LaneSources
    private let datagrams: DatagramBatch

    init(_ sockets: DatagramSockets, _ sources: LaneSources) {
        (self.sockets, self.sources, datagrams) = (sockets, sources, sockets.batch)
    }

    /// Takes batches from socket `index` until it is empty, at most `maxBatches`.
    func receive(
        _ index: Int, maxBatches: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let isEmpty = try sockets.receive(index, maxBatches: maxBatches) { deliver($0, from: index, &consumer) }
        if !isEmpty { sockets.noteOthers() }
    }

    private func deliver(
        _ count: Int, from index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        consumer.batchBegin()
        consumer.sender(nil)
        consumer.admit(nil, mapping: nil)
        let peers = sources[index].configuration.peers
        let received = WallClock.now()
        let number = sources[index].configuration.number
        var counts = SourceCounts()
        for place in 0..<count {
            let bytes = datagrams.datagram(place)
            counts.bytes += UInt64(bytes.count)
            counts.datagrams += 1
            let isKnown = peers.map { admitSender(ofDatagram: place, source: index, $0, &consumer) } ?? true
            if datagrams.isTruncated(place) {
                counts.rejected += 1
                if !isKnown { counts.authFailures[.address] += 1 }
                consumer.rejected(.truncatedDatagram, bytes: bytes, source: number, received: received)
                continue
            }
            let segment = datagrams.segmentLength(place)
            let length = segment > 0 && segment < bytes.count ? segment : max(bytes.count, 1)
            let arrival = Arrival(source: number, received: received)
            let parts = deliver(segments: length, of: bytes, arrival, isKnown: isKnown, &consumer)
            counts.datagrams += parts - 1
            if !isKnown {
                counts.rejected += parts
                counts.authFailures[.address] += parts
            }
        }
        sockets.noteDrops(count, of: index, in: &counts)
        sources[index].counters.add(counts)
        notePace(counts, of: index, at: received)
        consumer.batchEnd()
    }

    /// Where few datagrams fit, and senders wait, nothing gathers.
    private func notePace(_ counts: SourceCounts, of index: Int, at received: Instant) {
        guard case .datagrams(mayGather: true) = sources[index].opened.form else {
            sockets.noteOthers()
            return
        }
        sockets.notePace(counts, at: received)
    }

    /// Hands on the datagrams of `length` bytes, the last one perhaps shorter, that came as one message; or rejects
    /// them, when their sender is not known. Returns how many they are.
    private func deliver(
        segments length: Int, of bytes: ByteView, _ arrival: Arrival, isKnown: Bool,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> UInt64 {
        var (start, parts): (Int, UInt64) = (0, 0)
        repeat {
            let datagram = bytes[start..<min(start + length, bytes.count)]
            if isKnown {
                consumer.datagram(datagram, source: arrival.source, received: arrival.received)
            } else {
                consumer.rejected(
                    .unknownPeer, bytes: datagram, source: arrival.source, received: arrival.received)
            }
            (start, parts) = (start + length, parts + 1)
        } while start < bytes.count
        return parts
    }

    /// Says who sends datagram `place` of source `index`; false when the list of `peers` does not know it.
    private func admitSender(
        ofDatagram place: Int, source index: Int, _ peers: PeerBook,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        let name = sources[index].name
        let list = peers.current { consumer.rereadList("\(name): \($0)") }
        let address = datagrams.sender(place)
        let sender = list.peer(PeerIdentity(address: address.flatMap { NetworkRange.bytes(of: $0.host) }))
        consumer.sender(address.map { .network($0) })
        consumer.admit(sender?.single ?? .nobody, mapping: nil)
        return sender != nil
    }
}
