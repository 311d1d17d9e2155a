import Glibc
import KymographCore

/// Proxies that say who their clients are.
extension LaneLoop {
    /// Whether `peer` may say whose connection it brings.
    func isProxy(_ peer: Peer?, _ configuration: SourceConfiguration) -> Bool {
        guard let address = (peer?.host).flatMap(NetworkRange.bytes(of:)) else { return false }
        return configuration.proxies.contains { $0.contains(address) }
    }

    /// Reads what the proxy of `stream` says of its client, and not a byte more.
    mutating func findClient(
        of stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Entry {
        while let step = stream.proxyHeader?.step {
            let bytes: [UInt8]?
            switch step {
            case .needs(let count): bytes = Self.take(stream.descriptor.raw, count, isLine: false)
            case .needsLine(let count): bytes = Self.take(stream.descriptor.raw, count, isLine: true)
            case .client(let address): return name(stream, .network(address), &consumer)
            case .proxy:
                return name(stream, NetworkAddress.peer(of: stream.descriptor.raw).map { .network($0) }, &consumer)
            // It has no rights of an address, least of all those of its proxy.
            case .unknown: return name(stream, nil, &consumer)
            case .malformed: bytes = []
            }
            guard let bytes else { return .notYet }
            guard !bytes.isEmpty else {
                refuseProxy(stream, &consumer)
                return .no
            }
            stream.proxyHeader?.append(bytes)
        }
        return .yes
    }

    /// Notes that `peer` is the client, unless its host has too many connections.
    private mutating func name(
        _ stream: Stream, _ peer: Peer?, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Entry {
        if let limit = passedHostLimit(stream.source, peer) {
            refuse(peer, limit, source: stream.source, &consumer)
            return .no
        }
        streams.name(stream, peer)
        return .yes
    }

    /// Up to `count` bytes that have come, of a line none behind its end; nil when there is none yet, and an empty
    /// array when none will come.
    private static func take(_ raw: Int32, _ count: Int, isLine: Bool) -> [UInt8]? {
        var count = count
        if isLine {
            guard let peeked = FileSystem.peek(raw, count) else { return errno == EAGAIN ? nil : [] }
            count = peeked.firstIndex(of: 0x0A).map { $0 + 1 } ?? peeked.count
            guard count > 0 else { return [] }
        }
        var bytes: [UInt8] = []
        guard FileSystem.read(raw, count, into: &bytes) != nil else { return errno == EAGAIN ? nil : [] }
        return bytes
    }

    /// Counts a connection that does not begin as a proxy begins it.
    mutating func refuseProxy(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) {
        let proxy = NetworkAddress.peer(of: stream.descriptor.raw).map { Peer.network($0) }
        refuseProxy(.proxyHeader, proxy, source: stream.source, &consumer)
    }

    /// Counts a connection that does not come as a proxy brings it.
    mutating func refuseProxy(
        _ kind: ClientLimit.Kind, _ peer: Peer?, source index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var counts = SourceCounts()
        counts.proxyFailures = 1
        sources[index].counters.add(counts)
        tell(ClientLimit(kind: kind, source: index), peer, &consumer)
    }
}
