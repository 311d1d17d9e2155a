import CKymographLinux
import Synchronization

/// The sources that one thread reads.
///
/// Opening happens in ``init(_:)``, so that errors show before anything runs; ``run(_:)`` then belongs to one thread.
/// Everything else may be called from every thread.
///
/// ```swift
/// let lane = try Lane([SourceConfiguration(.udp(parsing: "127.0.0.1:5757"))])
/// try lane.run(&mapper)       // on the lane's own thread; returns after lane.stop()
/// ```
package final class Lane: Sendable {
    /// Why ``run(_:)`` returned.
    package enum End: Sendable {
        /// ``stop()`` was called.
        case stopped
        /// All sources came to their end.
        case sourcesEnded
    }

    /// What other threads tell the lane.
    let inbox: LaneInbox
    var sources: [LaneSource] { inbox.sources }
    let stopEvent: Descriptor
    private let hasRun = Atomic(false)
    private let holds: SourceHolds
    private let live: LiveSources

    /// Opens `configurations`.
    ///
    /// - Throws: the first ``SourceError``; what was opened before it is closed again.
    package convenience init(_ configurations: [SourceConfiguration]) throws(SourceError) {
        try self.init(configurations, holds: SourceHolds())
    }

    /// Opens `configurations`, and does not read those that `holds` say, if they can wait. `live` counts them, with
    /// those of other lanes.
    ///
    /// - Throws: the first ``SourceError``; what was opened before it is closed again.
    init(
        _ configurations: [SourceConfiguration], holds: SourceHolds, live: LiveSources = LiveSources(mayGrow: false)
    ) throws(SourceError) {
        (self.holds, self.live) = (holds, live)
        let raw = kymo_event_create()
        guard raw >= 0 else { throw .system(-raw, "create", "an event for stopping") }
        stopEvent = Descriptor(raw)
        var opened: [LaneSource] = []
        do {
            for configuration in configurations { opened.append(try LaneSource(configuration)) }
        } catch {
            for source in opened { source.opened.close() }
            throw error
        }
        inbox = LaneInbox(opened)
        live.enter(opened.count)
    }

    deinit {
        for source in sources { source.opened.close() }
    }

    /// The numbers of its sources by their places, of those that are gone, too.
    var numbers: [Int] { sources.map(\.configuration.number) }

    /// Number of sources, in the order they were given.
    package var count: Int { sources.count }

    /// What source `index` listens to, with the port that the kernel chose.
    package func address(_ index: Int) -> any SourceAddress { sources[index].opened.address }

    /// Bytes of receive buffer that the kernel granted source `index`, comparable with what was asked for; 0 for
    /// streams. The kernel counts its own bookkeeping against it: small datagrams take 768 bytes each and more.
    package func receiveBufferBytes(_ index: Int) -> Int {
        let source = sources[index]
        return source.isGone ? 0 : source.opened.bufferBytes
    }

    /// When the first of the certificates ends that source `index` shows its clients or its broker, in seconds since
    /// 1970; nil without any. Its files are looked at, as for a new connection.
    package func certificateExpiry(_ index: Int) -> Double? {
        let source = sources[index]
        guard !source.isGone else { return nil }
        return switch source.opened.form {
        case .listener(let listener): listener.tls?.renewedExpiry()
        case .associations(let associations): associations.tls.renewedExpiry()
        case .broker(let broker): broker.tls?.expiry
        case .datagrams, .sealed, .stream, .returningStream, .records: nil
        }
    }

    /// What source `index` received so far; exact once ``run(_:)`` has returned.
    package func counts(_ index: Int) -> SourceCounts { sources[index].counters.snapshot }

    /// Whether the broker of source `index` has granted a session that keeps messages.
    func keepsMessages(_ index: Int) -> Bool { sources[index].session.keeps == true }

    /// Makes ``run(_:)`` return: sockets give what the kernel has already queued, streams on standard input end at the
    /// next chunk. Does not wait.
    package func stop() {
        _ = kymo_event_raise(stopEvent.raw)
    }

    /// Reads the sources until ``stop()``, or until all have ended, and closes them. To be called once.
    ///
    /// - Throws: ``SourceError`` when a source cannot be read any more. All sources are closed then, too.
    package func run(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) -> End {
        precondition(!hasRun.exchange(true, ordering: .relaxed), "a lane runs once")
        defer {
            let sources = inbox.end()
            for source in sources {
                source.opened.close()
                source.counters.note(openStreams: 0)
            }
            for source in sources { source.opened.waitForEnd() }
        }
        let loop = try LaneLoop(inbox, holds: holds, live: live)
        try loop.start(stopEvent: stopEvent)
        return try loop.run(&consumer)
    }
}

/// One open source of a lane, and what it has received.
struct LaneSource: Sendable {
    var configuration: SourceConfiguration
    let opened: OpenedSource
    var counters = SourceCounters()
    /// Whether it is read no more: it was removed.
    var isGone = false
    /// Of a broker.
    let session = SessionGrant()

    /// Opens what `configuration` says.
    init(_ configuration: SourceConfiguration) throws(SourceError) {
        self.configuration = configuration
        opened = try configuration.address.open(configuration)
    }

    /// The name, with the port that the kernel chose.
    var name: String { opened.address.name }
}
