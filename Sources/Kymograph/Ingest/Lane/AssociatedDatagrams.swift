import KymographCore

/// Reads datagrams that come by DTLS to UDP sockets, each with the clients of its own. Of the lane's thread.
final class AssociatedDatagrams {
    private let sockets: DatagramSockets
    private let sources: LaneSources
    private let notices: ClientNotices
    private let clock: LaneClock
    private let datagrams: DatagramBatch
    /// Clients by DTLS, by source.
    private var associations: [Int: AssociationTable] = [:]

    init(_ sockets: DatagramSockets, _ sources: LaneSources, _ notices: ClientNotices, _ clock: LaneClock) {
        (self.sockets, self.sources, self.notices, self.clock) = (sockets, sources, notices, clock)
        datagrams = sockets.batch
    }

    /// Begins to read source `index`, which has no clients yet.
    func start(_ index: Int, _ form: OpenedSource.Associations) {
        associations[index] = AssociationTable(
            at: sources[index].opened.descriptor.raw, form.tls.current { _ in })
    }

    /// Forgets source `index`.
    func end(_ index: Int) { associations[index] = nil }

    /// Takes batches from socket `index` until it is empty, at most `maxBatches`.
    func receive(
        _ index: Int, _ associations: OpenedSource.Associations, maxBatches: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard let table = self.associations[index] else { return }
        let name = sources[index].name
        sockets.noteOthers()
        _ = try sockets.receive(index, maxBatches: maxBatches) { count in
            table.follow(associations.tls.current { consumer.noted("\(name): \($0)") })
            deliver(count, from: index, table, &consumer)
        }
    }

    private func deliver(
        _ count: Int, from index: Int, _ table: AssociationTable, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        consumer.batchBegin()
        var counts = SourceCounts()
        for place in 0..<count {
            let bytes = datagrams.datagram(place)
            guard let sender = datagrams.endpoint(place) else { continue }
            let segment = datagrams.segmentLength(place)
            let length = segment > 0 && segment < bytes.count ? segment : max(bytes.count, 1)
            var start = 0
            repeat {
                let datagram = bytes[start..<min(start + length, bytes.count)]
                take(datagram, of: sender, at: place, source: index, table, &counts, &consumer)
                start += length
            } while start < bytes.count
        }
        sockets.noteDrops(count, of: index, in: &counts)
        sources[index].counters.add(counts)
        sources[index].counters.note(openStreams: table.establishedCount)
        consumer.batchEnd()
    }

    private func take(
        _ datagram: ByteView, of sender: DatagramEndpoint, at place: Int, source index: Int, _ table: AssociationTable,
        _ counts: inout SourceCounts, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let route = table.route(
            datagram, of: sender, to: datagrams.localAddress(place), sources[index].configuration.associations,
            at: clock.lastIdle
        ) { datagrams.sender(place) }
        switch route {
        case .nothing: return
        case .refused(let refusal):
            note(refusal, index)
            let limit = ClientLimit(kind: .association(refusal, ""), source: index)
            // Of a flood, nobody is named but the first.
            guard !notices.knows(limit) else { return }
            notices.tell(limit, datagrams.sender(place).map { .network($0) }, &consumer)
        case .begun(let association, let handshake):
            advance(association, handshake, source: index, table, &counts, &consumer)
        case .handshake(let association, let handshake):
            _ = give(datagram, to: handshake.connection, of: association, source: index, &consumer)
            advance(association, handshake, source: index, table, &counts, &consumer)
        case .established(let association, let established):
            let isWhole = give(datagram, to: established.connection, of: association, source: index, &consumer)
            let isTaken = read(association, established, source: index, table, &counts, &consumer)
            // What was sealed by the new key of a client that begins again.
            guard isWhole, !isTaken, let handshake = association.handshake else { return }
            _ = give(datagram, to: handshake.connection, of: association, source: index, &consumer)
            advance(association, handshake, source: index, table, &counts, &consumer)
        }
    }

    /// Gives `datagram` to `connection`, and counts what is cut off it; false when something is.
    private func give(
        _ datagram: ByteView, to connection: DatagramTLSConnection, of association: Association, source index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        switch connection.give(datagram) {
        case .none: return true
        case .badRecord: refuse(association.peer, .badRecord, "", index, &consumer)
        case .earlyRecord: refuse(association.peer, .earlyRecord, "", index, &consumer)
        }
        return false
    }

    private func advance(
        _ association: Association, _ handshake: Association.Handshake, source index: Int, _ table: AssociationTable,
        _ counts: inout SourceCounts, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        let configuration = sources[index].configuration
        let progress = table.advance(association, handshake, at: clock.lastIdle) {
            configuration.peers.map { StreamAccess($0, former: configuration.former, hasRequests: false) }
        }
        switch progress {
        case .waiting: return
        case .failed(let refusal, let text): refuse(association.peer, refusal, text, index, &consumer)
        case .done(let established):
            counts.connections += 1
            // Who is not known hears so at once.
            guard admit(association, established, source: index, table, &consumer) else { return }
            _ = read(association, established, source: index, table, &counts, &consumer)
        }
    }

    /// Looks whether the client of `association` is of the list of peers, by a key or certificate that is still good,
    /// and ends it if not.
    private func admit(
        _ association: Association, _ established: Association.Established, source index: Int,
        _ table: AssociationTable, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        if let reason = table.endIfWithdrawn(association) {
            refuse(association.peer, .withdrawn, reason, index, &consumer)
            return false
        }
        guard let access = established.access else { return true }
        let name = sources[index].name
        access.refresh({ association.identity(established.connection) }) { consumer.rereadList("\(name): \($0)") }
        guard access.isRefused else { return true }
        let failure = association.identity(established.connection).failure
        table.end(association, tells: true)
        notices.refuseStranger(association.peer, failure, source: index, &consumer)
        return false
    }

    /// Hands on the payloads of the datagram that `association` was given. False when it was not of it.
    private func read(
        _ association: Association, _ established: Association.Established, source index: Int,
        _ table: AssociationTable, _ counts: inout SourceCounts, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        var isTaken = false
        while true {
            switch table.plain.read(established.connection) {
            case .none: return isTaken
            case .ended:
                table.end(association, tells: false)
                return true
            case .failed:
                table.end(association, tells: false)
                refuse(association.peer, .failed, "", index, &consumer)
                return true
            case .bytes(let count):
                if !isTaken, !admit(association, established, source: index, table, &consumer) { return true }
                isTaken = true
                association.established?.lastReceived = clock.lastIdle
                counts.datagrams += 1
                counts.bytes += UInt64(count)
                consumer.sender(association.peer)
                consumer.admit(established.access?.admission, mapping: nil)
                consumer.datagram(
                    table.plain.view(0..<count), source: sources[index].configuration.number,
                    received: WallClock.now())
            }
        }
    }

    // MARK: Now and then

    /// Sends again what was not answered, and ends what has taken too long, was silent for too long, or has a key or
    /// certificate that is not good any more.
    func tend(
        _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        for (index, table) in associations {
            for (association, refusal, text) in table.tendHandshakes(now) {
                refuse(association.peer, refusal, text, index, &consumer)
            }
            if case .associations(let associations) = sources[index].opened.form {
                let name = sources[index].name
                table.follow(associations.tls.current { consumer.noted("\(name): \($0)") })
            }
            for (association, reason) in table.endWithdrawn() {
                refuse(association.peer, .withdrawn, reason, index, &consumer)
            }
            for association in table.endExpired(at: WallClock.now().nanoseconds / 1_000_000_000) {
                refuse(association.peer, .withdrawn, "certificate has expired", index, &consumer)
            }
            let idle = sources[index].configuration.associations.idle
            if idle > 0 {
                for association in table.endIdle(since: now - .nanoseconds(idle)) {
                    refuse(association.peer, .idle, "", index, &consumer)
                }
            }
            sources[index].counters.note(openStreams: table.establishedCount)
        }
    }

    /// Tells the clients of source `index`, if it has such, that nothing more is read.
    func endAll(of index: Int) {
        guard let table = associations[index] else { return }
        table.endAll()
        sources[index].counters.note(openStreams: 0)
    }

    /// Counts what was not taken of `peer`, and says why; `fault` is that of a handshake.
    private func refuse(
        _ peer: Peer?, _ refusal: AssociationRefusal, _ fault: String, _ index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        note(refusal, index)
        if refusal.isOfLogin { consumer.refusedClient(of: sources[index].name, refusal.rawValue) }
        notices.tell(ClientLimit(kind: .association(refusal, fault), source: index), peer, &consumer)
    }

    private func note(_ refusal: AssociationRefusal, _ index: Int) {
        var counts = SourceCounts()
        if refusal.isOfHandshake { counts.tlsFailures = 1 }
        if refusal.isOfLimit { counts.refusedConnections = 1 }
        if case .idle = refusal { counts.idleConnections = 1 }
        sources[index].counters.add(counts)
        sources[index].counters.note(refusal)
    }
}
