import CKymographLinux
import Glibc
import KymographCore

/// Connects to brokers, and keeps their connections alive. Of the lane's thread.
final class BrokerConnector {
    /// Seconds of silence after which the kernel asks whether a broker is still there, between two of its questions,
    /// and after which one has gone that does not take what it was sent; and how often the kernel asks.
    private static let (silence, interval, unread, probes): (Int32, Int32, Int32, Int32) = (60, 10, 60, 6)

    private let sources: LaneSources
    private let held: HeldSources
    private let streams: StreamTable
    private let watch: LaneWatch
    private let replies: PendingReplies
    private let reader: StreamReader
    private let connections: KeptConnections
    /// Sources that are paused, whose brokers keep nothing: what they bring is rejected.
    private var rejected: Set<Int> = []

    init(
        _ sources: LaneSources, _ held: HeldSources, _ streams: StreamTable, _ watch: LaneWatch,
        _ replies: PendingReplies, _ reader: StreamReader, _ connections: KeptConnections
    ) {
        (self.sources, self.held, self.streams, self.watch) = (sources, held, streams, watch)
        (self.replies, self.reader, self.connections) = (replies, reader, connections)
    }

    /// Connects to brokers that are due, and keeps the connections of others alive, now that `passed` has gone by.
    func tend(
        _ now: ContinuousClock.Instant, _ passed: Duration, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for (index, connection) in connections.brokers
        where !held.contains(index) || sources[index].session.keeps != true {
            switch connection.phase {
            case .waiting(let due): if now >= due { try connect(index, now, &consumer) }
            case .lookup(let lookup):
                guard let answer = lookup.answer else { continue }
                do throws(SourceError) {
                    try connections.brokers[index]?.take(answer)
                } catch {
                    connections.lose(index, error.message, &consumer)
                    continue
                }
                try connect(index, now, &consumer)
            case .open(let slot): try keepAlive(index, slot, passed, &consumer)
            }
            connections.tellNotes(index, &consumer)
        }
    }

    /// Begins to connect to the broker of source `index`, or to look up its host.
    private func connect(
        _ index: Int, _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard var connection = connections.brokers[index] else { return }
        guard let address = connection.nextAddress() else {
            connection.phase = .lookup(NameLookup(connection.broker.address))
            connections.brokers[index] = connection
            return
        }
        connection.messages.isMuted = held.contains(index)
        connections.brokers[index] = connection
        let first: [UInt8]
        do throws(SecretFault) {
            first = try connection.messages.begin()
        } catch {
            return connections.lose(index, error.message, &consumer)
        }
        // Safe: Swift lends the host as a C string for the call.
        let raw = unsafe kymo_tcp_connect(address.host, address.port)
        guard raw >= 0 else { return connections.lose(index, ErrorText.of(-raw), &consumer) }
        let descriptor = Descriptor(raw)
        kymo_tcp_watch(raw, Self.silence, Self.interval, Self.probes, Self.unread)
        let transport: StreamTransport
        do throws(TLSFault) {
            transport = try self.transport(raw, index, connection.broker, &consumer)
        } catch {
            return connections.lose(index, error.message, &consumer)
        }
        let stream = Stream(
            descriptor, source: index, configuration: sources[index].configuration, transport: transport,
            messages: connection.messages)
        stream.progress.send(first)
        let slot = try streams.open(stream)
        connections.brokers[index]?.phase = .open(slot: slot)
        replies.add(slot)
        if !transport.isEstablished { try reader.readStream(slot, &consumer) }
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
    private func keepAlive(
        _ index: Int, _ slot: Int, _ passed: Duration, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        // What is not read has all the time until it is.
        guard let stream = streams.stream(slot), !stream.isHalfClosed, !stream.isPaused,
            let messages = connections.brokers[index]?.messages
        else { return }
        // The socket does not tell when it is connected, and the broker waits for the first word.
        guard stream.transport.isEstablished else { return try reader.readStream(slot, &consumer) }
        var intake = StreamIntake(stream.progress)
        guard messages.wait(passed, &intake) else {
            // It takes nothing any more: what waits for it comes again.
            stream.progress.acknowledger = nil
            return try reader.end(slot, stream, &consumer)
        }
        if let age = messages.age {
            connections.brokers[index]?.noteReady(age)
            sources[index].session.note(messages.keepsMessages)
            if messages.isMuted, granted(index, messages, &consumer) { return }
        }
        replies.add(slot)
    }

    // MARK: Pauses

    /// Ends the connection to the broker of source `index`, whose session keeps what comes meanwhile. What it has not
    /// heard of comes again.
    func part(_ index: Int) {
        guard let connection = connections.brokers[index] else { return }
        if case .open(let slot) = connection.phase, let stream = streams.stream(slot) {
            stream.progress.acknowledger = nil
            replies.remove(slot)
            watch.forget(slot, stream.descriptor)
            streams.close(slot)
            _ = connection.messages.ended()
        }
        connections.brokers[index]?.phase = .waiting(until: .now)
    }

    /// The broker of source `index`, which is paused since before there was a connection, has granted what it grants:
    /// whether the connection ends, since it keeps what comes. Else all of it is rejected from here on.
    private func granted(
        _ index: Int, _ messages: MQTTProtocol, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        if messages.keepsMessages == true {
            part(index)
            return true
        }
        messages.isMuted = false
        rejected.insert(index)
        consumer.rejectsAll(of: sources[index].configuration.number)
        consumer.noted(
            "\(sources[index].name): it is paused, and its broker grants no session that keeps messages: what comes is "
                + "put aside as dead letters")
        return false
    }

    /// Has all of the brokers rejected again that are still paused, and keep nothing.
    func rejectHeld(_ consumer: inout some PayloadConsumer & ~Copyable) {
        rejected.formIntersection(held.places)
        for index in rejected { consumer.rejectsAll(of: sources[index].configuration.number) }
    }
}
