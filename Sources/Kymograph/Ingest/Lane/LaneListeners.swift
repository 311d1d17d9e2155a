import CKymographLinux
import Glibc
import KymographCore

/// The listeners of a lane, and which of them leave clients in the kernel's queue. Of the lane's thread.
final class LaneListeners {
    /// Most clients that are refused in one go.
    private static let maxRefusals = 64

    private let sources: LaneSources
    private let streams: StreamTable
    private let watch: LaneWatch
    private let notices: ClientNotices
    private let replies: PendingReplies
    private let held: HeldSources
    private var paused: [Int] = []

    init(
        _ sources: LaneSources, _ streams: StreamTable, _ watch: LaneWatch, _ notices: ClientNotices,
        _ replies: PendingReplies, _ held: HeldSources
    ) {
        (self.sources, self.streams, self.watch) = (sources, streams, watch)
        (self.notices, self.replies, self.held) = (notices, replies, held)
    }

    /// Accepts the clients that wait at listener `index`.
    func accept(
        _ index: Int, _ listener: OpenedSource.Listener, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let source = sources[index]
        var refusals = 0
        while hasRoom(index, listener) {
            let raw = kymo_accept(source.opened.descriptor.raw)
            if raw == -EAGAIN || raw == -ECONNABORTED || raw == -EINTR { return }
            guard raw >= 0 else { return pause(index) }
            let descriptor = Descriptor(raw)
            var peer = listener.peer(raw)
            var header: ProxyHeader?
            if !source.configuration.proxies.isEmpty {
                guard isProxy(peer, source.configuration) else {
                    notices.refuseProxy(.noProxy, peer, source: index, &consumer)
                    refusals += 1
                    guard refusals < LaneListeners.maxRefusals else { return }
                    continue
                }
                (peer, header) = (nil, ProxyHeader())
            }
            if let limit = passedLimit(index, listener, peer) {
                notices.refuse(peer, limit, source: index, &consumer)
                refusals += 1
                // Others have their turn, however quickly one connects.
                guard refusals < LaneListeners.maxRefusals else { return }
                continue
            }
            listener.prepare(raw)
            guard let transport = transport(raw, index, listener, &consumer) else { return pause(index) }
            try streams.open(
                Stream(
                    descriptor, source: index, configuration: source.configuration, listener: listener, peer: peer,
                    proxyHeader: header, transport: transport))
            var counts = SourceCounts()
            counts.connections = 1
            source.counters.add(counts)
        }
        pause(index)
    }

    /// How the bytes of a new connection come and go; nil when there is no memory for it.
    private func transport(
        _ raw: Int32, _ index: Int, _ listener: OpenedSource.Listener,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> StreamTransport? {
        guard let tls = listener.tls else { return .plain }
        let name = sources[index].name
        let context = tls.current { consumer.noted("\(name): \($0)") }
        return context.accept(raw).map { .tls($0) }
    }

    /// Connections of listener `index` that have been read for the last time, and are kept for their acknowledgements
    /// only.
    private func heldOpen(_ index: Int) -> Int {
        guard sources.isLeaving(index) else { return 0 }
        var count = 0
        for slot in replies.slots {
            if let stream = streams.stream(slot), stream.isHalfClosed, stream.source == index { count += 1 }
        }
        return count
    }

    /// Leaves further clients in the kernel's queue until a connection ends or the lane is quiet: at the cap, or out of
    /// descriptors, the listener would stay ready and the loop would spin.
    func pause(_ index: Int) {
        guard !paused.contains(index) else { return }
        watch.remove(sources[index].opened.descriptor)
        paused.append(index)
    }

    /// Takes clients again, where the source is not held.
    func resume() throws(SourceError) {
        guard !paused.isEmpty else { return }
        let resumed = paused.filter { !held.contains($0) }
        paused.removeAll { !held.contains($0) }
        for index in resumed { try watch.watch(source: index, sources[index].opened.descriptor) }
    }

    /// Whether clients are left in the queue of listener `index`.
    func isPaused(_ index: Int) -> Bool { paused.contains(index) }

    /// Forgets that clients are left in the queue of listener `index`.
    func forget(_ index: Int) { paused.removeAll { $0 == index } }

    // MARK: Limits

    /// Whether another client of listener `index` can be accepted, if only to be refused.
    private func hasRoom(_ index: Int, _ listener: OpenedSource.Listener) -> Bool {
        if case .isRefused = listener.overflow, !sources.isLeaving(index) { return true }
        return streams.connections(of: index) < sources[index].configuration.connectionLimit + heldOpen(index)
    }

    /// The limit that a new connection of `peer` passes; nil when it may stay. A lane that stops takes all who wait,
    /// one after the other.
    private func passedLimit(_ index: Int, _ listener: OpenedSource.Listener, _ peer: Peer?) -> ClientLimit.Kind? {
        guard case .isRefused = listener.overflow, !sources.isLeaving(index) else { return nil }
        if streams.connections(of: index) >= sources[index].configuration.connectionLimit { return .connections }
        return passedHostLimit(index, peer)
    }

    /// The limit of the host of `peer` that another connection to listener `index` passes.
    func passedHostLimit(_ index: Int, _ peer: Peer?) -> ClientLimit.Kind? {
        guard let host = peer?.host, !sources.isLeaving(index) else { return nil }
        let open = streams.connections(of: index, host: host)
        return open >= sources[index].configuration.maxConnectionsPerPeer ? .connectionsPerPeer : nil
    }

    /// Whether `peer` may say whose connection it brings.
    private func isProxy(_ peer: Peer?, _ configuration: SourceConfiguration) -> Bool {
        guard let address = (peer?.host).flatMap(NetworkRange.bytes(of:)) else { return false }
        return configuration.proxies.contains { $0.contains(address) }
    }
}
