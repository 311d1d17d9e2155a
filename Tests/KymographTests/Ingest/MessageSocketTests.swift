import Glibc
@testable import Kymograph
import KymographCore
import Testing

/// Unix sockets that keep messages apart (SOCK_SEQPACKET).
@Suite struct MessageSocketTests {
    private let scratch = Scratch()
    private var path: String { scratch.file("kymo.sock") }

    private func lane(_ change: (inout SourceConfiguration) -> Void = { _ in }) throws -> Lane {
        var configuration = SourceConfiguration(.unixSeqpacket(path: path), number: 5)
        change(&configuration)
        return try Lane([configuration])
    }

    @Test func everyMessageIsAPayload() throws {
        let lane = try lane()
        let clients = (0..<3).map { _ in Client.messages(path) }
        for client in clients { for number in 0..<70 { client.send("{\"n\":\(number),\n\"m\":1}") } }
        let consumer = try lane.collect()
        #expect(consumer.datagrams.count == 210 && consumer.datagrams.allSatisfy { $0.source == 5 })
        #expect(consumer.datagrams.prefix(70).map(\.text) == (0..<70).map { "{\"n\":\($0),\n\"m\":1}" })
        #expect(lane.counts(0).datagrams == 210 && lane.counts(0).connections == 3)
    }

    @Test func aClientThatEndsMakesRoomForTheNext() throws {
        let lane = try lane { $0.maxConnections = 1 }
        let last = AtomicFlag()
        let thread = TestThread {
            var consumer = RecordingConsumer()
            consumer.onDatagram = { if $0 == 5 { last.set() } }
            _ = try? lane.run(&consumer)
            return consumer.datagrams.map(\.text)
        }
        for number in 0..<5 { Client.messages(path).send("\(number)") }
        #expect(Patience.until { last.isSet })
        lane.stop()
        #expect(thread.join() == (0..<5).map(String.init))
    }

    @Test func aMessageThatIsTooLongIsRejected() throws {
        let lane = try lane()
        let client = Client.messages(path)
        client.send(String(repeating: "a", count: 65_537))
        client.send("short")
        let consumer = try lane.collect()
        #expect(consumer.rejects.map(\.reason) == [.truncatedDatagram])
        #expect(consumer.datagrams.map(\.text) == ["short"])
    }

    @Test func messagesAreAcknowledged() throws {
        let lane = try lane()
        let client = Client.messages(path)
        for text in ["{\"kymo\":\"ack\"}", "one", "two"] { client.send(text) }
        lane.stop()
        var consumer = MarkingConsumer(isDurable: true)
        _ = try lane.run(&consumer)
        #expect(consumer.lines == ["one", "two"])
        #expect(Files.readAll(client.descriptor) == Array("{\"ack\":2}\n".utf8))
    }

    /// What is rejected says who sent it.
    @Test(arguments: [true, false])
    func theSenderIsKnown(hasMessages: Bool) throws {
        let lane = try Lane([
            hasMessages
                ? SourceConfiguration(.unixSeqpacket(path: path)) : SourceConfiguration(.unixStream(path: path)),
            SourceConfiguration(.udp(host: "127.0.0.1", port: 0)),
        ])
        let client = hasMessages ? Client.messages(path) : Client.unix(path, stream: true)
        client.send("{\n")
        Client.udp(lane.address(1)).send("{")
        lane.stop()
        var consumer = SenderConsumer()
        _ = try lane.run(&consumer)
        #expect(consumer.senders.count == 2)
        let peer = try #require(consumer.senders.compactMap(\.self).first)
        let expected = "sent by process \(getpid()) of user \(geteuid()) and group \(getegid())"
        #expect(peer.text == expected)
        #expect(consumer.senders.contains(nil), "UDP does not tell")
    }

    /// What is given up at the stop is not taken for another client's.
    @Test func whatIsGivenUpHasItsOwnSender() throws {
        let (reader, writer) = Files.pipe()
        let lane = try Lane([
            SourceConfiguration(.unixStream(path: path)), SourceConfiguration(.standardInput(descriptor: reader)),
        ])
        let client = Client.unix(path, stream: true)
        let (hasInput, hasClient) = (AtomicFlag(), AtomicFlag())
        let thread = TestThread {
            var consumer = SenderConsumer()
            consumer.onLine = { ($0 == nil ? hasInput : hasClient).set() }
            _ = try? lane.run(&consumer)
            return consumer.rejected
        }
        Files.write(writer, Array("one\nunfinished".utf8))
        #expect(Patience.until { hasInput.isSet })
        client.write("two\nalso unfinished")
        #expect(Patience.until { hasClient.isSet })
        lane.stop()
        let rejected = thread.join()
        #expect(rejected.count == 2 && rejected.filter { $0 == nil }.count == 1)
        close(reader)
        close(writer)
    }
}

/// Keeps who sent each payload.
private struct SenderConsumer: PayloadConsumer {
    var senders: [Peer?] = []
    var rejected: [Peer?] = []
    var onLine: @Sendable (Peer?) -> Void = { _ in }
    private var peer: Peer?

    mutating func sender(_ peer: Peer?) { self.peer = peer }
    mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        senders.append(peer)
        onLine(peer)
    }
    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) { senders.append(peer) }
    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        rejected.append(peer)
    }
    mutating func batchEnd() {}
}
