import Glibc
import KymographCore

/// Who is let in. Of the lane's thread.
struct ClientCheck {
    /// Whether what a client sends is read.
    enum Entry {
        case yes
        /// More has to come before it is known who it is.
        case notYet
        case no
    }

    private let sources: LaneSources
    private let streams: StreamTable
    private let notices: ClientNotices
    private let replies: PendingReplies
    private let listeners: LaneListeners

    init(
        _ sources: LaneSources, _ streams: StreamTable, _ notices: ClientNotices, _ replies: PendingReplies,
        _ listeners: LaneListeners
    ) {
        (self.sources, self.streams, self.notices) = (sources, streams, notices)
        (self.replies, self.listeners) = (replies, listeners)
    }

    /// Looks who the client of `stream` is, and counts one that is not let in.
    func letIn(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) -> Entry {
        if stream.proxyHeader != nil, case let entry = findClient(of: stream, &consumer), entry != .yes { return entry }
        if !stream.transport.isEstablished {
            switch stream.transport.establish() {
            // What waits for it can be sent.
            case 0: if stream.progress.acknowledger?.isWaiting ?? false { replies.noteDue() }
            case -Int(EAGAIN): return .notYet
            case let code:
                notices.noteFailure(-code, of: stream, &consumer)
                return .no
            }
        }
        guard let access = stream.progress.access else { return .yes }
        let name = sources[stream.source].name
        access.refresh({ stream.identity }) { consumer.rereadList("\(name): \($0)") }
        guard access.isRefused else { return .yes }
        notices.refuseStranger(stream.peer, stream.identity.failure, source: stream.source, &consumer)
        return .no
    }

    // MARK: Proxies

    /// Reads what the proxy of `stream` says of its client, and not a byte more.
    private func findClient(
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
                notices.refuseProxy(stream, &consumer)
                return .no
            }
            stream.proxyHeader?.append(bytes)
        }
        return .yes
    }

    /// Notes that `peer` is the client, unless its host has too many connections.
    private func name(
        _ stream: Stream, _ peer: Peer?, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Entry {
        if let limit = listeners.passedHostLimit(stream.source, peer) {
            notices.refuse(peer, limit, source: stream.source, &consumer)
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
}
