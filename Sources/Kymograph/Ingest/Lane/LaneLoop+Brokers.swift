import CKymographLinux
import Glibc
import KymographCore

/// Brokers, to which a lane connects.
extension LaneLoop {
    /// Seconds of silence after which the kernel asks whether a broker is still there, between two of its questions,
    /// and after which one has gone that does not take what it was sent; and how often the kernel asks.
    private static let (silence, interval, unread, probes): (Int32, Int32, Int32, Int32) = (60, 10, 60, 6)

    /// Connects to brokers that are due, and keeps the connections of others alive, now that `passed` has gone by.
    mutating func tendBrokers(
        _ now: ContinuousClock.Instant, _ passed: Duration, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for (index, connection) in brokers where !held.contains(index) || sources[index].session.keeps != true {
            switch connection.phase {
            case .waiting(let due): if now >= due { try connect(index, now, &consumer) }
            case .lookup(let lookup):
                guard let answer = lookup.answer else { continue }
                do throws(SourceError) {
                    try brokers[index]?.take(answer)
                } catch {
                    lose(index, error.message, &consumer)
                    continue
                }
                try connect(index, now, &consumer)
            case .open(let slot): try keepAlive(index, slot, passed, &consumer)
            }
            tellNotes(index, &consumer)
        }
    }

    /// Begins to connect to the broker of source `index`, or to look up its host.
    private mutating func connect(
        _ index: Int, _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard var connection = brokers[index] else { return }
        guard let address = connection.nextAddress() else {
            connection.phase = .lookup(NameLookup(connection.broker.address))
            brokers[index] = connection
            return
        }
        connection.messages.isMuted = held.contains(index)
        brokers[index] = connection
        let first: [UInt8]
        do throws(SecretFault) {
            first = try connection.messages.begin()
        } catch {
            return lose(index, error.message, &consumer)
        }
        // Safe: Swift lends the host as a C string for the call.
        let raw = unsafe kymo_tcp_connect(address.host, address.port)
        guard raw >= 0 else { return lose(index, ErrorText.of(-raw), &consumer) }
        let descriptor = Descriptor(raw)
        kymo_tcp_watch(raw, Self.silence, Self.interval, Self.probes, Self.unread)
        let transport: StreamTransport
        do throws(TLSFault) {
            transport = try self.transport(raw, index, connection.broker, &consumer)
        } catch {
            return lose(index, error.message, &consumer)
        }
        let stream = Stream(
            descriptor, source: index, configuration: sources[index].configuration, transport: transport,
            messages: connection.messages)
        stream.progress.send(first)
        let slot = try open(stream)
        brokers[index]?.phase = .open(slot: slot)
        acknowledging.insert(slot)
        acknowledgesSoon = true
        if !transport.isEstablished { try readStream(slot, &consumer) }
    }

    /// How the bytes of a new connection to `broker` come and go.
    private func transport(
        _ raw: Int32, _ index: Int, _ broker: OpenedSource.Broker, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(TLSFault) -> StreamTransport {
        guard let tls = broker.tls else { return .plain }
        let name = sources[index].name
        return .tls(try tls.connection(raw) { consumer.noted("\(name): \($0)") })
    }

    /// Sends what is due, and ends a connection whose broker has taken too long.
    private mutating func keepAlive(
        _ index: Int, _ slot: Int, _ passed: Duration, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        // What is not read has all the time until it is.
        guard let stream = streams.stream(slot), !stream.isHalfClosed, !stream.isPaused,
            let messages = brokers[index]?.messages
        else { return }
        // The socket does not tell when it is connected, and the broker waits for the first word.
        guard stream.transport.isEstablished else { return try readStream(slot, &consumer) }
        var intake = StreamIntake(stream.progress)
        guard messages.wait(passed, &intake) else {
            // It takes nothing any more: what waits for it comes again.
            stream.progress.acknowledger = nil
            return try end(slot, stream, &consumer)
        }
        if let age = messages.age {
            brokers[index]?.noteReady(age)
            sources[index].session.note(messages.keepsMessages)
            if messages.isMuted, granted(index, messages, &consumer) { return }
        }
        acknowledging.insert(slot)
        acknowledgesSoon = true
    }

    /// Notes that the connection to the broker of source `index` has gone, and when the next attempt is due.
    mutating func loseBroker(_ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable) {
        tellNotes(index, &consumer)
        guard let messages = brokers[index]?.messages else { return }
        lose(index, messages.ended(), wasReady: messages.hasBeenReady, &consumer)
    }

    private mutating func lose(
        _ index: Int, _ reason: String, wasReady: Bool = false, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard !isStopping, let text = brokers[index]?.lose(reason, wasReady: wasReady, at: .now) else { return }
        let name = sources[index].name
        consumer.connection(of: name, .lost, "\(name): \(text)")
    }

    private func tellNotes(_ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable) {
        guard let messages = brokers[index]?.messages else { return }
        let name = sources[index].name
        if messages.takeConnected() { consumer.connection(of: name, .made, "\(name): connected") }
        for note in messages.takeNotes() { consumer.noted("\(name): \(note)") }
    }
}
