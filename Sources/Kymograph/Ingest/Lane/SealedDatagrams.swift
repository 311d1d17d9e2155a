import KymographCore

/// Reads sealed datagrams from UDP sockets, each by the keys of its own. Of the lane's thread.
final class SealedDatagrams {
    /// What a batch has brought, and by which key the last payload came.
    private struct SealedBatch {
        /// Of the source.
        let number: Int
        let received: Instant
        var counts = SourceCounts()
        var lastKey: Int?
    }

    private let sockets: DatagramSockets
    private let sources: LaneSources
    private let notices: ClientNotices
    private let datagrams: DatagramBatch
    /// Sockets of sealed datagrams, by source.
    private var sealed: [Int: SealedSocket] = [:]

    init(_ sockets: DatagramSockets, _ sources: LaneSources, _ notices: ClientNotices) {
        (self.sockets, self.sources, self.notices, datagrams) = (sockets, sources, notices, sockets.batch)
    }

    /// Begins to read source `index`, of which no key is known yet.
    func start(_ index: Int) { sealed[index] = SealedSocket() }

    /// Forgets source `index`.
    func end(_ index: Int) { sealed[index] = nil }

    /// Takes batches from socket `index` until it is empty, at most `maxBatches`.
    func receive(
        _ index: Int, _ form: OpenedSource.Sealed, maxBatches: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard let socket = sealed[index] else { return }
        let isEmpty = try sockets.receive(index, maxBatches: maxBatches) { count in
            followKeys(of: socket, form, source: index, &consumer)
            deliver(count, from: index, socket, &consumer)
        }
        if !isEmpty { sockets.noteOthers() }
    }

    private func deliver(
        _ count: Int, from index: Int, _ socket: SealedSocket, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        consumer.batchBegin()
        var batch = SealedBatch(number: sources[index].configuration.number, received: WallClock.now())
        for place in 0..<count {
            let size = datagrams.datagram(place).count
            let segment = datagrams.segmentLength(place)
            let length = segment > 0 && segment < size ? segment : max(size, 1)
            var start = 0
            batch.counts.bytes += UInt64(size)
            repeat {
                batch.counts.datagrams += 1
                take(start..<min(start + length, size), at: place, source: index, socket, &batch, &consumer)
                start += length
            } while start < size
        }
        sockets.noteDrops(count, of: index, in: &batch.counts)
        sources[index].counters.add(batch.counts)
        sockets.notePace(batch.counts, at: batch.received)
        consumer.batchEnd()
    }

    /// Takes the datagram at `range` of message `place`.
    private func take(
        _ range: Range<Int>, at place: Int, source index: Int, _ socket: SealedSocket, _ batch: inout SealedBatch,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        if datagrams.isTruncated(place) {
            // Its tag is lost, and nothing shows who sent it.
            return refuse(range, at: place, .notSealed, source: index, &batch, &consumer)
        }
        switch socket.route(datagrams.datagram(place)[range]) {
        case .refused(let reason): refuse(range, at: place, reason, source: index, &batch, &consumer)
        case .key(let key, let sequence):
            guard let keys = socket.keys, datagrams.open(range, at: place, by: keys, key) else {
                return refuse(range, at: place, .sealBroken, source: index, &batch, &consumer)
            }
            if let reason = socket.take(sequence, by: key) {
                // Another lane has had it meanwhile. What was decrypted is in no letter: only its head is kept.
                let head = range.lowerBound..<range.lowerBound + SealedHead.bytes
                return refuse(head, at: place, reason, source: index, &batch, &consumer)
            }
            let payload = range.lowerBound + SealedHead.bytes..<range.upperBound - SealedHead.tagBytes
            hand(payload, at: place, of: key, source: index, socket, &batch, &consumer)
        }
    }

    /// Hands on the payload at `range` of message `place`, which the key has sealed.
    private func hand(
        _ range: Range<Int>, at place: Int, of key: Int, source index: Int, _ socket: SealedSocket,
        _ batch: inout SealedBatch, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let payload = datagrams.datagram(place)[range]
        let sender = socket.senders[key]
        if batch.lastKey != key {
            batch.lastKey = key
            consumer.sender(sender.peer)
            consumer.admit(sender.admission ?? (socket.hasList ? .nobody : nil), mapping: nil)
        }
        guard !socket.hasList || sender.admission != nil else {
            batch.counts.rejected += 1
            batch.counts.authFailures[.sealedKey] += 1
            consumer.rejected(.unknownPeer, bytes: payload, source: batch.number, received: batch.received)
            return
        }
        consumer.datagram(payload, source: batch.number, received: batch.received)
    }

    /// Rejects what nothing shows to be of whom it names. The first of each reason is told.
    private func refuse(
        _ range: Range<Int>, at place: Int, _ reason: Rejection, source index: Int, _ batch: inout SealedBatch,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let datagram = datagrams.datagram(place)[range]
        let peer = datagrams.sender(place).map { Peer.network($0) }
        batch.lastKey = nil
        batch.counts.rejected += 1
        if [.notSealed, .unknownKey, .sealBroken].contains(reason) { batch.counts.authFailures[.sealedKey] += 1 }
        consumer.sender(peer)
        consumer.admit(.nobody, mapping: nil)
        consumer.rejected(reason, bytes: datagram, source: batch.number, received: batch.received)
        guard notices.note(ClientLimit(kind: .sealed(reason), source: index)) else { return }
        let key = SealedHead(datagram).map { " with the key id \(DatagramKeys.digits($0.key))" } ?? ""
        consumer.noted(
            "\(sources[index].name): rejected a datagram of \(peer?.name ?? "a client")\(key) as \(reason.name): "
                + "\(reason.explanation); further ones are only counted")
    }

    // MARK: Now and then

    /// Looks at the files of keys, so that one that was withdrawn is wiped however silent its sender is.
    func tend(_ consumer: inout some PayloadConsumer & ~Copyable) {
        for (index, socket) in sealed {
            guard case .sealed(let form) = sources[index].opened.form else { continue }
            followKeys(of: socket, form, source: index, &consumer)
        }
    }

    private func followKeys(
        of socket: SealedSocket, _ form: OpenedSource.Sealed, source index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let name = sources[index].name
        let keys = form.keys.current { consumer.rereadList("\(name): \($0)") }
        let list = sources[index].configuration.peers?.current { consumer.rereadList("\(name): \($0)") }
        socket.follow(keys, list, consumer.sequences)
    }
}
