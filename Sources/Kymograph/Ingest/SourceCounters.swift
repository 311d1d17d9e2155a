import Synchronization

/// What a source received so far. Published once per batch, so it may lag a batch behind.
package struct SourceCounts: Hashable, Sendable {
    /// Datagrams, those rejected as too long included.
    package var datagrams: UInt64 = 0
    /// Lines or frames, those rejected included and empty ones not.
    package var lines: UInt64 = 0
    /// Bytes of datagrams, or of streams with everything between payloads.
    package var bytes: UInt64 = 0
    /// Lines and datagrams handed to ``PayloadConsumer/rejected(_:bytes:source:received:)``.
    package var rejected: UInt64 = 0
    /// Datagrams that the kernel dropped, mostly because the receive buffer was full.
    package var kernelDrops: UInt64 = 0
    /// Clients accepted since the start; for a serial line, how often it came back.
    package var connections: UInt64 = 0
    /// Clients that were refused because too many were connected.
    package var refusedConnections: UInt64 = 0
    /// Clients that were disconnected because they were silent for too long.
    package var idleConnections: UInt64 = 0
    /// Clients and brokers with which there was no TLS: they did not speak it, or showed no certificate that is good
    /// here, or did not accept the one that they were shown.
    package var tlsFailures: UInt64 = 0
    /// Connections that were to come by a proxy, and did not begin as the PROXY protocol says.
    package var proxyFailures: UInt64 = 0
    /// Connections, requests and datagrams of senders that are none of the list of peers.
    package var authFailures = AuthFailures()
    /// Requests that were refused, or not complete, by the status of the answer.
    package var refusedRequests: [Int: UInt64] = [:]
    /// What a socket that speaks DTLS has not taken.
    package var associations = AssociationRefusals()
    /// Records of a topic that could not be read, because it no longer had them, at most.
    package var missedRecords: UInt64 = 0
    /// Streams that are open now: connections of clients, a serial line, standard input; associations of DTLS.
    package var openStreams: UInt64 = 0

    /// How far the reading of a topic is; nil of other sources.
    package var topic: KafkaProgress?

    /// Nothing received.
    package init() {}

    /// Adds what another socket received.
    mutating func add(_ other: SourceCounts) {
        datagrams += other.datagrams
        lines += other.lines
        bytes += other.bytes
        rejected += other.rejected
        kernelDrops += other.kernelDrops
        connections += other.connections
        refusedConnections += other.refusedConnections
        idleConnections += other.idleConnections
        tlsFailures += other.tlsFailures
        proxyFailures += other.proxyFailures
        authFailures.add(other.authFailures)
        refusedRequests.merge(other.refusedRequests, uniquingKeysWith: +)
        associations.add(other.associations)
        missedRecords += other.missedRecords
        openStreams += other.openStreams
        if let more = other.topic { topic = topic.map { $0.adding(more) } ?? more }
    }
}

/// The counters of one source, written by the lane's thread and readable from every thread.
final class SourceCounters: Sendable {
    private let datagrams = Atomic<UInt64>(0)
    private let lines = Atomic<UInt64>(0)
    private let bytes = Atomic<UInt64>(0)
    private let rejected = Atomic<UInt64>(0)
    private let kernelDrops = Atomic<UInt64>(0)
    private let connections = Atomic<UInt64>(0)
    private let refusedConnections = Atomic<UInt64>(0)
    private let idleConnections = Atomic<UInt64>(0)
    private let tlsFailures = Atomic<UInt64>(0)
    private let proxyFailures = Atomic<UInt64>(0)
    private let authFailures = Mutex(AuthFailures())
    private let refusedRequests = Mutex<[Int: UInt64]>([:])
    private let associations = Mutex(AssociationRefusals())
    private let missedRecords = Atomic<UInt64>(0)
    private let openStreams = Atomic<UInt64>(0)
    private let topic = Mutex<KafkaProgress?>(nil)

    /// Adds what a batch brought, but for ``SourceCounts/openStreams``, ``SourceCounts/associations`` and
    /// ``SourceCounts/topic``; `kernelDrops` too is what is new.
    func add(_ counts: SourceCounts) {
        datagrams.add(counts.datagrams, ordering: .relaxed)
        lines.add(counts.lines, ordering: .relaxed)
        bytes.add(counts.bytes, ordering: .relaxed)
        rejected.add(counts.rejected, ordering: .relaxed)
        kernelDrops.add(counts.kernelDrops, ordering: .relaxed)
        connections.add(counts.connections, ordering: .relaxed)
        refusedConnections.add(counts.refusedConnections, ordering: .relaxed)
        idleConnections.add(counts.idleConnections, ordering: .relaxed)
        tlsFailures.add(counts.tlsFailures, ordering: .relaxed)
        proxyFailures.add(counts.proxyFailures, ordering: .relaxed)
        missedRecords.add(counts.missedRecords, ordering: .relaxed)
        if counts.authFailures != AuthFailures() { authFailures.withLock { $0.add(counts.authFailures) } }
        guard !counts.refusedRequests.isEmpty else { return }
        refusedRequests.withLock { $0.merge(counts.refusedRequests, uniquingKeysWith: +) }
    }

    /// Notes how many streams are open.
    func note(openStreams count: Int) { openStreams.store(UInt64(count), ordering: .relaxed) }

    /// Notes how far the reading of a topic is.
    func note(_ progress: KafkaProgress) { topic.withLock { $0 = progress } }

    /// Counts a datagram or client of DTLS that was not taken.
    func note(_ refusal: AssociationRefusal) { associations.withLock { $0[refusal] += 1 } }

    /// The present values.
    var snapshot: SourceCounts {
        var counts = SourceCounts()
        counts.datagrams = datagrams.load(ordering: .relaxed)
        counts.lines = lines.load(ordering: .relaxed)
        counts.bytes = bytes.load(ordering: .relaxed)
        counts.rejected = rejected.load(ordering: .relaxed)
        counts.kernelDrops = kernelDrops.load(ordering: .relaxed)
        counts.connections = connections.load(ordering: .relaxed)
        counts.refusedConnections = refusedConnections.load(ordering: .relaxed)
        counts.idleConnections = idleConnections.load(ordering: .relaxed)
        counts.tlsFailures = tlsFailures.load(ordering: .relaxed)
        counts.proxyFailures = proxyFailures.load(ordering: .relaxed)
        counts.authFailures = authFailures.withLock { $0 }
        counts.refusedRequests = refusedRequests.withLock { $0 }
        counts.associations = associations.withLock { $0 }
        counts.missedRecords = missedRecords.load(ordering: .relaxed)
        counts.openStreams = openStreams.load(ordering: .relaxed)
        counts.topic = topic.withLock { $0 }
        return counts
    }
}
