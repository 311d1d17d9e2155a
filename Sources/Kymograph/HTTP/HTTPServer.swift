import CKymographLinux
import Glibc
import Synchronization

/// Listens for HTTP/1.1 on one address, by TLS or not, and answers requests, one after the other, on one thread.
///
/// Made for a few clients: it waits with `poll`, and a reply that takes time is made by another thread
/// (``LaterAnswer``), since one slow handler keeps all waiting. What clients send, how fast, and how many there are is
/// limited by ``HTTPLimits``. Decision 0029 tells why it is ours.
final class HTTPServer: Sendable {
    /// Where it listens, with the port that the kernel chose.
    let address: NetworkAddress
    private let limits: HTTPLimits
    /// How connections are encrypted; nil when they are not.
    private let tls: RenewedTLS?
    private let listener: Descriptor
    private let stopEvent: Descriptor
    /// Raised when another thread has made a part of an answer.
    private let bell: Descriptor
    private let isRunning = Atomic(false)

    /// Seconds as for TCP sources: of silence after which the kernel asks whether a client is there, between two of its
    /// questions, how many there are, and after which a client has gone that takes nothing.
    private static let (silence, interval, probes, unread): (Int32, Int32, Int32, Int32) = (60, 10, 6, 60)

    /// Listens to `address`, and speaks `tls` there.
    ///
    /// - Throws: ``SourceError`` when it is none of this machine, or in use.
    init(_ address: NetworkAddress, tls: RenewedTLS? = nil, limits: HTTPLimits = HTTPLimits()) throws(SourceError) {
        self.limits = limits
        self.tls = tls
        let name = "http \(address.text)"
        let raw = HTTPSocket.listen(address)
        guard raw >= 0 else { throw .system(-raw, "listen to", name) }
        listener = Descriptor(raw)
        self.address = try NetworkAddress.bound(raw, name: name)
        stopEvent = try Self.event("an event for stopping")
        bell = try Self.event("an event for answers")
    }

    private static func event(_ name: String) throws(SourceError) -> Descriptor {
        let raw = kymo_event_create()
        guard raw >= 0 else { throw .system(-raw, "create", name) }
        return Descriptor(raw)
    }

    /// Answers by `handle`, on a thread called `name`, until it is stopped. What is no request of HTTP is refused with
    /// the fields `guarding`; `notes` hears of certificates that were read again, and of clients without TLS.
    func start(
        _ name: String, guarding: [ReceivedRequest.Field] = [],
        notes: @escaping @Sendable (String) -> Void = { _ in },
        handle: @escaping @Sendable (ReceivedRequest) -> HTTPAnswer
    ) {
        isRunning.store(true, ordering: .releasing)
        WorkerThread.start(name) { [self] in
            run { [bell, limits] raw in
                let context = tls?.current(note: notes)
                let secure = context?.accept(raw)
                if context != nil, secure == nil { return nil }
                let failed: @Sendable (String) -> Void = { fault in
                    notes("no TLS with \(NetworkAddress.peer(of: raw)?.host ?? "a client that has gone"): \(fault)")
                }
                return HTTPClient(
                    Descriptor(raw), by: secure.map { .tls($0) } ?? .plain, limits, bell: bell, guarding: guarding,
                    failed: failed, isCurrent: { context === self.tls?.current(note: notes) }, handle: handle)
            }
            listener.close()
            isRunning.store(false, ordering: .releasing)
        }
    }

    /// Cuts all connections, and waits up to a second until the address is free.
    func stop() {
        _ = kymo_event_raise(stopEvent.raw)
        var left = 1_000
        while isRunning.load(ordering: .acquiring), left > 0 {
            Wait.milliseconds(1)
            left -= 1
        }
        // Closed by the thread, however long that takes; without one, here.
        if left > 0 { listener.close() }
    }

    // MARK: Where it is

    /// The hosts and numeric addresses that its certificate is for, which may begin with `*.`; none without TLS.
    var certificateHosts: [String] { tls?.renewedHosts() ?? [] }

    /// When the first of the certificates ends that clients are shown, in seconds since 1970; nil without TLS.
    var certificateExpiry: Double? { tls?.renewedExpiry() }

    /// `https` or `http`.
    var scheme: String { tls == nil ? "http" : "https" }

    /// Its address for a browser: with TLS by a name of its certificate, since the browser knows it by no other.
    var url: String {
        let hosts = certificateHosts.filter { !$0.hasPrefix("*.") }
        guard let first = hosts.first, !hosts.contains(address.host) else { return "\(scheme)://\(address.text)" }
        return "\(scheme)://\(NetworkAddress(host: first, port: address.port).text)"
    }

    // MARK: The thread

    private func run(_ client: (Int32) -> HTTPClient?) {
        var clients: [HTTPClient] = []
        var chunk: [UInt8] = []
        while true {
            var entries = [
                pollfd(fd: stopEvent.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bell.raw, events: Int16(POLLIN), revents: 0),
            ]
            entries += clients.map { pollfd(fd: $0.descriptor.raw, events: $0.events, revents: 0) }
            HTTPSocket.wait(&entries, milliseconds: clients.contains(where: \.hasMore) ? 0 : patience(clients))
            if entries[0].revents != 0 { break }
            let isAnswered = entries[2].revents != 0
            if isAnswered { _ = kymo_event_wait(bell.raw, 0) }
            for (client, entry) in zip(clients, entries.dropFirst(3))
            where entry.revents != 0 || client.hasMore || isAnswered && client.awaitsAnswer {
                client.work(entry.revents, chunk: &chunk)
            }
            let now = ContinuousClock.now
            for client in clients where !client.isClosed && client.deadline <= now { client.expire() }
            if entries[1].revents != 0 { accept(&clients, client) }
            clients.removeAll(where: \.isClosed)
            // Without clients there is nothing to keep memory for.
            if clients.isEmpty { chunk = [] }
        }
        for client in clients { client.close() }
    }

    /// Milliseconds until the next client has taken too long; -1 without clients.
    private func patience(_ clients: [HTTPClient]) -> Int32 {
        guard let next = clients.map(\.deadline).min() else { return -1 }
        let left = ContinuousClock.now.duration(to: next).components
        return Int32(clamping: max(0, left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000 + 1))
    }

    private func accept(_ clients: inout [HTTPClient], _ client: (Int32) -> HTTPClient?) {
        // As many as there may be at once, then others have their turn.
        for _ in 0..<limits.clients {
            let raw = kymo_accept(listener.raw)
            guard raw >= 0 else {
                // Out of descriptors, perhaps: whoever waits is still there later.
                if -raw != EAGAIN { Wait.milliseconds(50) }
                return
            }
            kymo_tcp_watch(raw, Self.silence, Self.interval, Self.probes, Self.unread)
            clients.removeAll(where: \.isClosed)
            if clients.count >= limits.clients, let oldest = clients.min(by: { $0.since < $1.since }) {
                oldest.close()
                clients.removeAll { $0 === oldest }
            }
            guard let client = client(raw) else {
                Descriptor(raw).close()
                continue
            }
            clients.append(client)
        }
    }
}
