import KymographCore

/// The connections that a lane makes by itself, and again when they have gone: to brokers, topics and serial lines. Of
/// the lane's thread.
final class KeptConnections {
    private let sources: LaneSources
    /// Streams that are not there, by source.
    private(set) var lostStreams: [Int: LostStream] = [:]
    /// Brokers, by source.
    var brokers: [Int: BrokerConnection] = [:]

    /// None of `sources` yet.
    init(_ sources: LaneSources) { self.sources = sources }

    /// Notes that the stream of source `index` is not there since `now`.
    func noteLost(_ index: Int, at now: ContinuousClock.Instant) { lostStreams[index] = LostStream(at: now) }

    /// Notes that the stream of source `index` is there.
    func noteFound(_ index: Int) { lostStreams[index] = nil }

    /// Waits longer for the stream of source `index`, which is `lost`, after an attempt at `now` that has failed; true
    /// when the operator does not know yet.
    func postpone(_ index: Int, _ lost: LostStream, _ now: ContinuousClock.Instant) -> Bool {
        var lost = lost
        lost.postpone(now)
        defer { lostStreams[index] = lost }
        guard !lost.isTold else { return false }
        lost.isTold = true
        return true
    }

    /// Ends what source `index` waits for.
    func end(_ index: Int) { (lostStreams[index], brokers[index]) = (nil, nil) }

    /// Notes that the stream of source `index` has gone, and waits for it.
    func lose(_ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable) {
        noteLost(index, at: .now)
        let name = sources[index].name
        consumer.connection(of: name, .lost, "\(name) has gone; waiting for it")
    }

    // MARK: Brokers

    /// Notes that the connection to the broker of source `index` has gone, and when the next attempt is due.
    func loseBroker(_ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable) {
        tellNotes(index, &consumer)
        guard let messages = brokers[index]?.messages else { return }
        lose(index, messages.ended(), wasReady: messages.hasBeenReady, &consumer)
    }

    /// Decides when the next attempt is due at the broker of source `index`, and tells why there is no connection.
    func lose(
        _ index: Int, _ reason: String, wasReady: Bool = false, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard !sources.isStopping, let text = brokers[index]?.lose(reason, wasReady: wasReady, at: .now) else { return }
        let name = sources[index].name
        consumer.connection(of: name, .lost, "\(name): \(text)")
    }

    /// Tells what the broker of source `index` has said.
    func tellNotes(_ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable) {
        guard let messages = brokers[index]?.messages else { return }
        let name = sources[index].name
        if messages.takeConnected() { consumer.connection(of: name, .made, "\(name): connected") }
        for note in messages.takeNotes() { consumer.noted("\(name): \(note)") }
    }
}
