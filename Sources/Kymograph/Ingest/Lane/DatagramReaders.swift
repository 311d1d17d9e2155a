import KymographCore

/// What reads the sockets of datagrams of a lane, by their form.
struct DatagramReaders {
    private let sockets: DatagramSockets
    private let sources: LaneSources
    private let plain: PlainDatagrams
    private let sealed: SealedDatagrams
    private let associated: AssociatedDatagrams

    init(_ sockets: DatagramSockets, _ sources: LaneSources, _ notices: ClientNotices, _ clock: LaneClock) {
        (self.sockets, self.sources) = (sockets, sources)
        plain = PlainDatagrams(sockets, sources)
        sealed = SealedDatagrams(sockets, sources, notices)
        associated = AssociatedDatagrams(sockets, sources, notices, clock)
    }

    /// A round begins, which `isReady` says whether anything can be read in.
    func beginRound(isReady: Bool) { sockets.beginRound(isReady: isReady) }

    /// Notes that this round has read something else.
    func noteOthers() { sockets.noteOthers() }

    /// Nanoseconds to let datagrams gather before the next look; 0 for not at all.
    var rest: Int64 { sockets.rest }

    /// Begins to read source `index`, if it is a socket of datagrams that has keys.
    func start(_ index: Int) {
        switch sources[index].opened.form {
        case .sealed: sealed.start(index)
        case .associations(let form): associated.start(index, form)
        case .datagrams, .listener, .stream, .returningStream, .broker, .records: break
        }
    }

    /// Ends reading source `index`.
    func end(_ index: Int) {
        sealed.end(index)
        associated.end(index)
    }

    /// Takes batches from socket `index` until it is empty, at most `maxBatches`.
    func receive(
        _ index: Int, maxBatches: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        switch sources[index].opened.form {
        case .datagrams: try plain.receive(index, maxBatches: maxBatches, &consumer)
        case .sealed(let form): try sealed.receive(index, form, maxBatches: maxBatches, &consumer)
        case .associations(let form): try associated.receive(index, form, maxBatches: maxBatches, &consumer)
        case .listener, .stream, .returningStream, .broker, .records: break
        }
    }

    /// Takes what the kernel has queued of socket `index`, and no more.
    func takeQueued(_ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        guard sockets.isDatagram(index) else { return }
        // The kernel charges UDP at least 512 bytes for a datagram, and a Unix socket's queue is short.
        let queued = max(sockets.refreshDrops(index) / 512, 4096)
        try receive(index, maxBatches: queued / DatagramBatch.size + 1, &consumer)
        sockets.refreshDrops(index)
        associated.endAll(of: index)
    }

    /// Whether source `index` is a socket of datagrams.
    func isDatagram(_ index: Int) -> Bool { sockets.isDatagram(index) }

    // MARK: Now and then

    /// Asks the kernel how many datagrams it has dropped up to now.
    func refreshDrops() {
        for index in sources.indices where sockets.isDatagram(index) { sockets.refreshDrops(index) }
    }

    /// Looks at what ends by itself: handshakes, associations, keys.
    func tend(_ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable) {
        associated.tend(now, &consumer)
        sealed.tend(&consumer)
    }
}
