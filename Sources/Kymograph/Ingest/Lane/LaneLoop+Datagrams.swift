import CKymographLinux
import Glibc
import KymographCore

/// Datagrams.
extension LaneLoop {
    /// Takes batches from socket `index` until it is empty, at most `maxBatches`.
    mutating func receive(
        _ index: Int, maxBatches: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let descriptor = sources[index].opened.descriptor.raw
        for _ in 0..<maxBatches {
            let count = datagrams.receive(descriptor)
            if count == -Int(EAGAIN) || count == -Int(EINTR) || count == -Int(ENOMEM) { return }
            guard count >= 0 else {
                throw .system(Int32(-count), "receive from", sources[index].name)
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
        // The last datagram of a batch has the latest count.
        if let dropped = datagrams.dropCount(count - 1) { counts.kernelDrops = drops[index].observe(dropped) }
        sources[index].counters.add(counts)
        notePace(counts, of: index, at: received)
        consumer.batchEnd()
    }

    /// Where few datagrams fit, and senders wait, nothing gathers.
    private mutating func notePace(_ counts: SourceCounts, of index: Int, at received: Instant) {
        guard case .datagrams(mayGather: true) = sources[index].opened.form else {
            hasEmptied = false
            return
        }
        pace.note(Int(counts.datagrams), bytes: Int(counts.bytes), at: received)
    }

    /// Hands on the datagrams of `length` bytes, the last one perhaps shorter, that came as one message; or rejects
    /// them, when their sender is not known. Returns how many they are.
    private mutating func deliver(
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

    /// Hands on the messages that wait in the connection of `stream`, at most a batch. An empty one is the end: the
    /// kernel gives both alike.
    mutating func readMessages(
        _ stream: Stream, _ intake: inout StreamIntake, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> StreamTable.Outcome {
        let count = datagrams.receive(stream.descriptor.raw)
        guard count > 0 else { return streams.readFailure(count) }
        intake.noteRead()
        for place in 0..<count {
            let message = datagrams.datagram(place)
            guard message.count > 0 else { return .ended }
            intake.message(message, isTruncated: datagrams.isTruncated(place), to: &consumer)
        }
        return .more
    }

    /// Asks the kernel how many datagrams it has dropped up to now; unlike SO_RXQ_OVFL this also tells of drops after
    /// the last datagram. Returns the bytes that wait in the socket.
    @discardableResult
    mutating func refreshDrops(_ index: Int) -> Int {
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
