import Glibc
@testable import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// TCP sources, with real sockets.
@Suite struct TCPTests {
    private func lane(_ host: String = "127.0.0.1", _ change: (inout SourceConfiguration) -> Void = { _ in }) throws
        -> Lane
    {
        var configuration = SourceConfiguration(.tcp(host: host, port: 0), number: 4)
        change(&configuration)
        return try Lane([configuration])
    }

    /// Runs `lane` on a thread of its own, with `consumer`.
    private func run(_ lane: Lane, _ consumer: NotingConsumer) -> TestThread<NotingConsumer> {
        TestThread {
            var consumer = consumer
            _ = try? lane.run(&consumer)
            return consumer
        }
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func readsManyClients(host: String) throws {
        let lane = try lane(host)
        let clients = (0..<20).map { _ in Client.tcp(lane.address(0)) }
        for round in 0..<3 {
            for (number, client) in clients.enumerated() { client.write("{\"client\":\(number),\"round\":\(round)}\n") }
        }
        let consumer = try lane.collect()
        #expect(Set(consumer.texts).count == 60 && consumer.lines.allSatisfy { $0.source == 4 })
        #expect(lane.counts(0).connections == 20 && lane.counts(0).lines == 60)
        #expect(lane.address(0).name.hasPrefix(host == "::1" ? "tcp [::1]:" : "tcp 127.0.0.1:"))
    }

    /// The end of a connection ends its last document, as on a Unix socket; a connection that breaks cuts it.
    @Test(arguments: [false, true]) func theLastLineOfAConnection(breaks: Bool) throws {
        let lane = try lane()
        let hasLine = AtomicFlag()
        let (gone, stopped) = (AtomicFlag(), AtomicFlag())
        var recorder = NotingConsumer()
        recorder.onLine = { $0 == 1 ? hasLine.set() : gone.set() }
        recorder.onReject = { gone.set() }
        let thread = run(lane, recorder)
        var client: Client? = Client.tcp(lane.address(0))
        client?.write("{}\n{\"a\":1}")
        #expect(Patience.until { hasLine.isSet })
        if breaks { client?.breakAtClose() }
        client = nil
        #expect(Patience.until { gone.isSet })
        lane.stop()
        let consumer = thread.join()
        stopped.set()
        #expect(consumer.lines == (breaks ? ["{}"] : ["{}", "{\"a\":1}"]))
        #expect(consumer.rejects.map(\.reason) == (breaks ? [.frameIncomplete] : []))
        #expect(lane.counts(0).lines == 2)
    }

    /// A sender of one byte at a time is as good as any.
    @Test func aLineInManyPieces() throws {
        let lane = try lane()
        let hasLine = AtomicFlag()
        var recorder = NotingConsumer()
        recorder.onLine = { _ in hasLine.set() }
        let thread = run(lane, recorder)
        let client = Client.tcp(lane.address(0))
        for character in "{\"slow\":1}\n" {
            client.write(String(character))
            usleep(300)
        }
        #expect(Patience.until { hasLine.isSet })
        lane.stop()
        #expect(thread.join().lines == ["{\"slow\":1}"])
    }

    @Test func framesAsOnAnyStream() throws {
        let lane = try lane { $0.framing = .frames(Framing(.length(LengthField(.fixed(width: 2, isBigEndian: true))))) }
        let client = Client.tcp(lane.address(0))
        Files.write(client.descriptor, [0, 3] + Array("one".utf8) + [0, 3] + Array("two".utf8) + [0, 9, 1])
        let consumer = try lane.collect()
        #expect(consumer.datagrams.map(\.text) == ["one", "two"])
        #expect(consumer.rejects == [.init(reason: .shutdown, bytes: [0, 9, 1])])
    }

    /// A stopping lane reads what the kernel has, and tells its clients.
    @Test func acknowledgesLines() throws {
        let lane = try lane()
        let client = Client.tcp(lane.address(0))
        client.write("{\"kymo\":\"ack\"}\none\n[2]")
        _ = shutdown(client.descriptor, Int32(SHUT_WR))
        lane.stop()
        var consumer = MarkingConsumer(isDurable: true)
        _ = try lane.run(&consumer)
        let heard = String(decoding: Files.readAll(client.descriptor), as: UTF8.self)
        #expect(consumer.lines == ["one", "[2]"] && heard.hasSuffix("{\"ack\":2}\n"))
    }

    /// A client that has gone before it heard anything costs its own connection, and its lines are there.
    @Test func aClientThatHasGoneBeforeItsAcknowledgement() throws {
        let lane = try lane()
        let lines = Gate()
        let thread = TestThread {
            var consumer = MarkingConsumer(isDurable: true)
            consumer.onLine = { lines.open() }
            _ = try? lane.run(&consumer)
            return consumer.lines
        }
        for number in 0..<5 {
            let client = Client.tcp(lane.address(0))
            client.write("{\"kymo\":\"ack\"}\n\(number)\n")
            client.breakAtClose()
        }
        let last = Client.tcp(lane.address(0))
        last.write("last\n")
        lines.wait()
        lane.stop()
        #expect(thread.join().contains("last"))
    }

    /// A line that is too long is given up once, and the next one is read.
    @Test func malformedInput() throws {
        let lane = try lane { $0.lineCap = 20 }
        let client = Client.tcp(lane.address(0))
        Files.write(client.descriptor, [0, 0xFF, 0x0A] + Array(repeating: 0x78, count: 5_000) + Array("\nend\n".utf8))
        let consumer = try lane.collect()
        #expect(consumer.lines.count == 2 && consumer.texts.last == "end")
        #expect(consumer.rejects.map(\.reason) == [.lineTooLong])
    }

    @Test func tellsWhoHasSent() throws {
        let lane = try lane()
        let client = Client.tcp(lane.address(0))
        client.write("one\nhalf")
        lane.stop()
        var consumer = NotingConsumer()
        _ = try lane.run(&consumer)
        let peer = Peer.network(NetworkAddress(host: "127.0.0.1", port: client.port))
        #expect(consumer.peers == [peer] && consumer.rejects.map(\.peer) == [peer])
        #expect(peer.text == "sent by 127.0.0.1:\(client.port)")
    }

    @Test func aPortInUseAndOneThatIsFreeAgain() throws {
        let first = try lane()
        let address = first.address(0)
        let error = #expect(throws: SourceError.self) { try Lane([SourceConfiguration(address)]) }
        #expect(error?.kind == .addressInUse && error?.message.contains(address.name) == true)
        // The closing side of a connection keeps the port in TIME_WAIT.
        let client = Client.tcp(address)
        client.write("one\n")
        #expect(try first.collect().texts == ["one"])
        #expect(Files.readAll(client.descriptor) == [])
        let second = try Lane([SourceConfiguration(address)])
        Client.tcp(address).write("two\n")
        #expect(try second.collect().texts == ["two"])
    }
}

/// What limits TCP clients.
@Suite struct TCPLimitTests {
    private func lane(_ change: (inout SourceConfiguration) -> Void) throws -> Lane {
        var configuration = SourceConfiguration(.tcp(host: "127.0.0.1", port: 0))
        change(&configuration)
        return try Lane([configuration])
    }

    private func run(_ lane: Lane, _ notes: NoteList, _ onReject: @escaping @Sendable () -> Void = {}) -> TestThread<
        NotingConsumer
    > {
        TestThread {
            var consumer = NotingConsumer(notes: notes)
            consumer.onReject = onReject
            _ = try? lane.run(&consumer)
            return consumer
        }
    }

    /// Whether the other side ends the connection.
    private func isEnded(_ client: Client) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(client.descriptor, &byte, 1, 0) <= 0
    }

    /// Clients beyond the limit are refused, counted and told of once; when one goes there is room.
    @Test func tooManyClients() throws {
        let lane = try lane { $0.maxConnections = 2 }
        let notes = NoteList()
        let thread = run(lane, notes)
        var clients = [Client.tcp(lane.address(0)), Client.tcp(lane.address(0))]
        #expect(Patience.until { lane.counts(0).connections == 2 })
        for _ in 0..<3 { #expect(isEnded(Client.tcp(lane.address(0)))) }
        clients.removeLast()
        #expect(
            Patience.until {
                let client = Client.tcp(lane.address(0))
                client.write("late\n")
                return lane.counts(0).connections >= 3
            })
        #expect(Patience.until { lane.counts(0).lines >= 1 })
        lane.stop()
        #expect(Set(thread.join().lines) == ["late"])
        #expect(lane.counts(0).refusedConnections >= 3)
        #expect(notes.all.count == 1 && notes.all[0].contains("2 clients are connected; raise connections"))
    }

    /// One host cannot take the connections of all.
    @Test func tooManyConnectionsOfOneHost() throws {
        let lane = try lane { $0.maxConnectionsPerPeer = 2 }
        let notes = NoteList()
        let thread = run(lane, notes)
        let clients = [Client.tcp(lane.address(0)), Client.tcp(lane.address(0))]
        #expect(Patience.until { lane.counts(0).connections == 2 })
        #expect(isEnded(Client.tcp(lane.address(0))) && isEnded(Client.tcp(lane.address(0))))
        let other = Client.tcp(lane.address(0), from: 0x7F00_0002)
        other.write("other\n")
        #expect(Patience.until { lane.counts(0).lines == 1 })
        lane.stop()
        let consumer = thread.join()
        #expect(consumer.peers.compactMap { $0?.host } == ["127.0.0.2"])
        #expect(lane.counts(0).refusedConnections == 2 && lane.counts(0).connections == 3)
        #expect(notes.all.count == 1 && notes.all[0].contains("its host has 2 connections"), "\(notes.all)")
        withExtendedLifetime(clients) {}
    }

    /// Half a line for ever: the client is disconnected, and what it sent is not taken for a line.
    @Test func silentClients() throws {
        let lane = try lane { $0.idleLimit = 300_000_000 }
        let notes = NoteList()
        let thread = run(lane, notes)
        let (silent, busy) = (Client.tcp(lane.address(0)), Client.tcp(lane.address(0)))
        silent.write("hal")
        let isSilentEnded = TestThread { isEnded(silent) }
        let gone = { lane.counts(0).idleConnections == 1 }
        #expect(
            Patience.until {
                busy.write("x\n")
                return gone()
            })
        #expect(isSilentEnded.join())
        lane.stop()
        let consumer = thread.join()
        #expect(consumer.rejects.map(\.reason) == [.frameIncomplete] && consumer.rejects.map(\.text) == ["hal"])
        #expect(lane.counts(0).idleConnections == 1, "who sends is not silent")
        #expect(notes.all.count == 1 && notes.all[0].contains("idleLimit"))
    }

    /// A lane that stops takes all that wait in the kernel's queue, whatever the limits.
    @Test func stoppingTakesAllWhoWait() throws {
        let lane = try lane {
            $0.maxConnections = 2
            $0.maxConnectionsPerPeer = 1
        }
        for number in 0..<9 { Client.tcp(lane.address(0)).write("\(number)\n") }
        #expect(try lane.collect().texts.sorted() == (0..<9).map(String.init))
        #expect(lane.counts(0).refusedConnections == 0)
    }
}

/// What the configuration says of TCP.
@Suite struct TCPSettingsTests {
    @Test func reads() throws {
        let result = load(
            """
            sources:
              - tcp: 127.0.0.1:5757
              - insecure: true
                tcp: "[::]:5757"
                connections: 12
                connectionsPerPeer: 3
                idleLimit: 1m
              - tcp: "[::1]:0"
            """)
        #expect(result.diagnostics.map(\.text) == [])
        let configurations = result.settings.sources.map(\.configuration)
        #expect(configurations.map(\.address.name) == ["tcp 127.0.0.1:5757", "tcp [::]:5757", "tcp [::1]:0"])
        #expect(configurations.map(\.connectionLimit) == [256, 12, 256])
        #expect(configurations.map(\.maxConnectionsPerPeer) == [32, 3, 32])
        #expect(configurations.map(\.idleLimit) == [0, 60_000_000_000, 0])
    }

    @Test(arguments: ["0.0.0.0:5757", "192.0.2.7:5757", "\"[::]:5757\"", "\"[fe80::1%lo]:5757\""])
    func othersNeedAWord(address: String) throws {
        let found = messages("sources:\n- tcp: \(address)")
        let text = address.replacing("\"", with: "")
        #expect(
            found == [
                "kymo.yaml:2:8: error: sources[0].tcp: other machines can reach \(text), and TCP neither encrypts nor "
                    + "asks who sends; listen on 127.0.0.1 or [::1], name a certificateFile for TLS, or say insecure: "
                    + "true (--insecure on the command line)"
            ])
        #expect(messages("sources:\n- tcp: \(address)\n  insecure: true") == [])
    }

    @Test(arguments: ["127.0.0.1:1", "127.9.9.9:1", "\"[::1]:1\"", "\"[0:0:0:0:0:0:0:1]:1\""])
    func thisMachineNeedsNone(address: String) {
        #expect(messages("sources:\n- tcp: \(address)") == [])
    }

    @Test func flags() {
        let flag = (key: "tcp", flag: "--tcp", value: "0.0.0.0:1")
        #expect(load("", flags: [flag]).diagnostics.count == 1)
        let result = load("", flags: [flag, ("insecure", "--insecure", "true")])
        #expect(result.diagnostics.map(\.text) == [] && result.settings.sources.map(\.name) == ["tcp 0.0.0.0:1"])
        #expect(load("", environment: ["KYMO_TCP": "127.0.0.1:1,[::1]:1"]).settings.sources.count == 2)
    }

    @Test(arguments: [
        ("udp: 127.0.0.1:1", "connections: 5", "clients connect to tcp, http, mllp, unix and seqpacket only"),
        ("unix: a", "connectionsPerPeer: 5", "only clients of tcp, http and mllp have hosts"),
        ("stdin: true", "idleLimit: 5s", "clients connect to tcp, http, mllp, unix and seqpacket only"),
        ("unix: a", "insecure: true", "it is for tcp, http, mllp and mqtt only"),
        ("tcp: 127.0.0.1:1", "receiveBuffer: 5", "only udp and unixgram have a receive buffer"),
        ("tcp: 127.0.0.1:1", "coalesce: true", "only udp can take datagrams together"),
        ("tcp: 127.0.0.1:1", "socketMode: 0600", "only Unix sockets have a socket file"),
    ])
    func withoutEffect(address: String, setting: String, advice: String) {
        let found = messages("sources:\n- \(address)\n  \(setting)")
        #expect(found.count == 1 && found[0].hasSuffix("it has no effect here; \(advice)"), "\(found)")
        #expect(found.first?.contains("warning") == true)
    }
}
