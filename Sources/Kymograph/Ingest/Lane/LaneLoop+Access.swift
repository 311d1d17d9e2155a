import Glibc

/// Who is let in.
extension LaneLoop {
    /// Whether what a client sends is read.
    enum Entry {
        case yes
        /// More has to come before it is known who it is.
        case notYet
        case no
    }

    /// Looks who the client of `stream` is, and counts one that is not let in.
    mutating func letIn(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) -> Entry {
        if stream.proxyHeader != nil, case let entry = findClient(of: stream, &consumer), entry != .yes { return entry }
        if !stream.transport.isEstablished {
            switch stream.transport.establish() {
            // What waits for it can be sent.
            case 0: acknowledgesSoon = acknowledgesSoon || stream.progress.acknowledger?.isWaiting ?? false
            case -Int(EAGAIN): return .notYet
            case let code:
                noteFailure(-code, of: stream, &consumer)
                return .no
            }
        }
        guard let access = stream.progress.access else { return .yes }
        let name = sources[stream.source].name
        access.refresh({ stream.identity }) { consumer.noted("\(name): \($0)") }
        guard access.isRefused else { return .yes }
        refuseStranger(stream.peer, stream.identity.failure, source: stream.source, &consumer)
        return .no
    }

    /// Counts a client that the list of peers does not know.
    mutating func refuseStranger(
        _ peer: Peer?, _ failure: AuthFailure, source index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var counts = SourceCounts()
        counts.authFailures[failure] = 1
        sources[index].counters.add(counts)
        consumer.refusedClient(of: sources[index].name, failure.rawValue)
        tell(ClientLimit(kind: .stranger, source: index), peer, &consumer)
    }

    /// Says who sends datagram `place` of source `index`; false when the list of `peers` does not know it.
    mutating func admitSender(
        ofDatagram place: Int, source index: Int, _ peers: PeerBook,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        let name = sources[index].name
        let list = peers.current { consumer.noted("\(name): \($0)") }
        let address = datagrams.sender(place)
        let sender = list.peer(PeerIdentity(address: address.flatMap { NetworkRange.bytes(of: $0.host) }))
        consumer.sender(address.map { .network($0) })
        consumer.admit(sender?.single ?? .nobody, mapping: nil)
        return sender != nil
    }
}
