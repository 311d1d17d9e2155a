import CKymographLinux
import Glibc
import KymographCore

/// Datagrams.
extension LaneLoop {
    /// Takes batches from socket `index` until it is empty, at most `maxBatches`.
    mutating func receive(
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
        hasEmptied = false
    }

    mutating func deliver(
        _ count: Int, from index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard count > 0 else { return }
        consumer.batchBegin()
        consumer.sender(nil)
        let received = WallClock.now()
        let number = sources[index].configuration.number
        var counts = SourceCounts()
        for place in 0..<count {
            let bytes = datagrams.datagram(place)
            counts.bytes += UInt64(bytes.count)
            counts.datagrams += 1
            if datagrams.isTruncated(place) {
                counts.rejected += 1
                consumer.rejected(.truncatedDatagram, bytes: bytes, source: number, received: received)
            } else if case let length = datagrams.segmentLength(place), length > 0, length < bytes.count {
                let arrival = Arrival(source: number, received: received)
                counts.datagrams += deliver(segments: length, of: bytes, arrival, &consumer)
            } else {
                consumer.datagram(bytes, source: number, received: received)
            }
        }
        // The last datagram of a batch has the latest count.
        if let dropped = datagrams.dropCount(count - 1) { counts.kernelDrops = drops[index].observe(dropped) }
        sources[index].counters.add(counts)
        notePace(counts, of: index, at: received)
        consumer.batchEnd()
    }

    /// A Unix socket holds few datagrams, and makes its senders wait: there nothing gathers.
    private mutating func notePace(_ counts: SourceCounts, of index: Int, at received: Instant) {
        guard case .udp = sources[index].configuration.kind else {
            hasEmptied = false
            return
        }
        pace.note(Int(counts.datagrams), bytes: Int(counts.bytes), at: received)
    }

    /// Hands on the datagrams of `length` bytes, the last one perhaps shorter, that came as one message. Returns how
    /// many they are beyond the first.
    private mutating func deliver(
        segments length: Int, of bytes: ByteView, _ arrival: Arrival,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> UInt64 {
        for start in stride(from: 0, to: bytes.count, by: length) {
            let datagram = bytes[start..<min(start + length, bytes.count)]
            consumer.datagram(datagram, source: arrival.source, received: arrival.received)
        }
        return UInt64((bytes.count - 1) / length)
    }

    /// Hands on the messages that wait in the connection of `stream`, at most a batch. An empty one is the end: the
    /// kernel gives both alike.
    mutating func readMessages(
        _ stream: Stream, counts: inout SourceCounts, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> StreamTable.Outcome {
        let count = datagrams.receive(stream.descriptor.raw)
        guard count > 0 else { return streams.readFailure(count) }
        consumer.batchBegin()
        consumer.sender(stream.peer)
        let arrival = Arrival(source: stream.number, received: WallClock.now())
        let before = counts.datagrams
        var outcome = StreamTable.Outcome.more
        for place in 0..<count {
            guard datagrams.datagram(place).count > 0 else {
                outcome = .ended
                break
            }
            deliver(message: place, of: stream, arrival, counts: &counts, &consumer)
        }
        stream.acknowledger?.add(lines: counts.datagrams - before)
        return outcome
    }

    private func deliver(
        message place: Int, of stream: Stream, _ arrival: Arrival, counts: inout SourceCounts,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let bytes = datagrams.datagram(place)
        counts.bytes += UInt64(bytes.count)
        if stream.asksForAcknowledgements(bytes, &consumer) { return }
        counts.datagrams += 1
        guard datagrams.isTruncated(place) else {
            return consumer.datagram(bytes, source: arrival.source, received: arrival.received)
        }
        counts.rejected += 1
        consumer.rejected(.truncatedDatagram, bytes: bytes, source: arrival.source, received: arrival.received)
    }

    /// Asks the kernel how many datagrams it has dropped up to now; unlike SO_RXQ_OVFL this also tells of drops after
    /// the last datagram. Returns the bytes that wait in the socket.
    @discardableResult
    mutating func refreshDrops(_ index: Int) -> Int {
        let info = kymo_memory_info(sources[index].descriptor.raw)
        guard info.error == 0 else { return sources[index].grantedBufferBytes * 2 }
        var counts = SourceCounts()
        counts.kernelDrops = drops[index].observe(info.dropped)
        sources[index].counters.add(counts)
        return Int(info.queued_bytes)
    }

    func isDatagram(_ index: Int) -> Bool {
        switch sources[index].configuration.kind {
        case .udp, .unixDatagram: true
        case .unixStream, .unixSeqpacket, .standardInput, .serial: false
        }
    }
}
