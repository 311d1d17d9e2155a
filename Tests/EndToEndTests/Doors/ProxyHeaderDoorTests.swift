import CommandSupport
import KymographTestKit
import Testing

/// Sources behind proxies, which say who connects.
@Suite struct ProxyHeaderDoorTests {
    private let folder = TemporaryFolder()

    private func door(_ kind: String, _ settings: [String], proxies: String = "[127.0.0.1]") throws -> Door {
        try Door(TLSText.source(kind, ["proxies: \(proxies)"] + settings), in: folder)
    }

    private func header(_ client: String) -> String { "PROXY TCP4 \(client) 10.0.0.1 40000 5757\r\n" }

    private func lines(_ device: String, _ seconds: Range<Int>) -> String {
        seconds.map { Readings.heartRate(second: $0, device: device) + "\n" }.joined()
    }

    /// The client's address is the peer's, and the proxy's is nobody's.
    @Test func clientsAreKnownByWhatTheProxySays() throws {
        let list = folder.write(
            "peers.yaml",
            "peers:\n  - addresses: [192.0.2.0/24]\n    devices: [watch-1]\n  - addresses: [127.0.0.1]\n    name: proxy\n"
        )
        let door = try door("tcp", ["peers: \(list)"])
        let known = try RawConnection(port: door.port)
        for byte in header("192.0.2.7").utf8 { known.send([byte]) }
        known.send(lines("watch-1", 0..<5) + lines("watch-2", 0..<1))
        let second = try RawConnection(port: door.port)
        second.send(
            [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x21, 0x11, 0, 12, 192, 0, 2, 8, 10, 0, 0, 1, 1, 1, 1, 1]
                + Array(lines("watch-1", 5..<8).utf8))
        let stranger = try RawConnection(port: door.port)
        stranger.send(header("198.51.100.1") + lines("watch-1", 8..<9))
        try stranger.wait("the end of a stranger") { $0.hasEnded }
        let proxy = try RawConnection(port: door.port)
        proxy.send("PROXY UNKNOWN\r\n" + lines("watch-1", 8..<9))
        try proxy.wait("the end of who is not named") { $0.hasEnded }
        let own = try RawConnection(port: door.port)
        own.send([13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x20, 0, 0, 0] + Array(lines("own", 0..<1).utf8))
        try Waiting.until("ten lines") { try door.metric("kymo_source_messages_total") == 10 }
        #expect(try door.authFailures() == ["address": 2])
        let balance = try door.balance()
        #expect(balance.received == 10 && balance.accepted == 9 && balance.rejected == 1 && balance.isClosed)
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")])
        #expect(letters.text.contains("sent by 192.0.2.7:40000"), "\(letters.text)")
    }

    /// curl as a proxy: TLS begins behind the header.
    @Test func theClientsTLSFollows() throws {
        let authority = try TestAuthority()
        let (certificate, key) = try authority.issue("localhost")
        let door = try door("http", ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"])
        let trust = ["--cacert", authority.certificate, "--ipv4"]
        let (text, end) = try door.post(Readings.heartRates(5), trust + ["--haproxy-protocol"])
        #expect(end == .exit(0) && text.hasPrefix("{\"received\":5,\"rejectedCount\":0,"), "\(text)")
        let (without, failed) = try door.post(Readings.heartRates(5), trust)
        #expect(failed != .exit(0) && without.isEmpty, "\(without)")
        #expect(try door.metric("kymo_source_proxy_failures_total") == 1)
        #expect(try door.metric("kymo_source_tls_failures_total") == 0)
        #expect(try door.balance().accepted == 5)
    }

    /// What is no header, and who is no proxy, is ended and counted, and has brought nothing.
    @Test func othersAreRefused() throws {
        let door = try door("tcp", [])
        let good = try RawConnection(port: door.port)
        good.send(header("192.0.2.7") + lines("watch-1", 0..<1))
        try Waiting.until("a line") { try door.metric("kymo_source_messages_total") == 1 }
        let bad = [lines("watch-1", 1..<2), "PROXY TCP4 a b c d\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 1\r\nx"]
        for text in bad {
            let connection = try RawConnection(port: door.port)
            connection.send(text)
            try connection.wait("the end after \(text)") { $0.hasEnded }
            #expect(connection.received.isEmpty)
        }
        let half = try RawConnection(port: door.port)
        half.send("PROXY TCP4 192.0.2.7")
        half.finishSending()
        try half.wait("the end of half a header") { $0.hasEnded }
        let other = try RawConnection(port: door.port, from: 9)
        other.send(header("192.0.2.7") + lines("watch-1", 1..<2))
        try other.wait("the end of who is no proxy") { $0.hasEnded }
        let slow = try RawConnection(port: door.port)
        slow.send("PROXY TCP4 192.0.2.7")
        try slow.wait("the end of who does not go on") { $0.hasEnded }
        #expect(try door.metric("kymo_source_proxy_failures_total") == bad.count + 3)
        #expect(door.run.errorText.contains("which is none of proxies"), "\(door.run.errorText)")
        #expect(door.run.errorText.contains("which did not begin with a good PROXY header in time"))
        #expect(try door.balance().received == 1)
    }

    /// The limit of a host is that of clients, and not of their proxy.
    @Test func limitsAreThoseOfClients() throws {
        let door = try door("tcp", ["connectionsPerPeer: 2"], proxies: "[\"127.0.0.0/8\"]")
        let clients = try (1...6).map { number in
            let connection = try RawConnection(port: door.port)
            connection.send(header("192.0.2.\(number / 2)") + lines("watch-\(number)", 0..<1))
            return connection
        }
        try Waiting.until("six lines") { try door.metric("kymo_source_messages_total") == 6 }
        let third = try RawConnection(port: door.port)
        third.send(header("192.0.2.2"))
        try third.wait("the end of a third one") { $0.hasEnded }
        #expect(clients.allSatisfy { !$0.hasEnded })
        #expect(try door.metric("kymo_source_connections_refused_total") == 1)
        #expect(try door.balance().accepted == 6)
    }
}
