import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Lists of peers: who may bring readings, and whose.
@Suite struct PeersTests {
    private let folder = TemporaryFolder()

    private func line(_ device: String, second: Int, patient: String? = nil) -> String {
        let time = "2026-03-01T08:00:\(second < 10 ? "0" : "")\(second)Z"
        let owner = patient.map { ",\"patientId\":\"\($0)\"" } ?? ""
        return """
            {"deviceId":"\(device)","type":"heartRate","timestamp":"\(time)","value":60,"unit":"/min"\(owner)}
            """
    }

    private func token(_ name: String) -> (file: String, header: [String]) {
        let token = "token-of-\(name)-0123456789"
        let file = folder.write("\(name).token", token + "\n")
        unsafe chmod(file, 0o600)
        return (file, ["-H", "Authorization: Bearer \(token)"])
    }

    /// Each brings what is its own; what it brings besides is rejected with its bytes and who brought it.
    @Test func aTokenBringsItsDevices() throws {
        let (anna, bert) = (token("anna"), token("bert"))
        let list = folder.write(
            "peers.yaml",
            """
            peers:
              - tokenFile: \(anna.file)
                name: anna
                devices: [phone-a, "watch-a-*"]
              - tokenFile: \(bert.file)
                name: bert
                devices: [phone-b]
                patients: [p-b]
            """)
        let door = try Door(TLSText.source("http", ["peers: \(list)"]), in: folder)
        let lines = [
            line("phone-a", second: 0), line("watch-a-1", second: 1), line("phone-b", second: 2, patient: "p-b"),
            line("phone-ab", second: 3), line("phone-b", second: 4), line("phone-b", second: 5, patient: "p-bb"),
        ]
        let (ofAnna, _) = try door.post(lines, anna.header, scheme: "http")
        #expect(ofAnna.hasPrefix("{\"received\":6,\"rejectedCount\":4,"), "\(ofAnna)")
        #expect(ofAnna.contains("{\"index\":2,\"reason\":\"deviceNotAllowed\"}"), "\(ofAnna)")
        let (ofBert, _) = try door.post(lines, bert.header, scheme: "http")
        #expect(ofBert.contains("{\"index\":3,\"reason\":\"deviceNotAllowed\"}"), "\(ofBert)")
        #expect(ofBert.contains("{\"index\":4,\"reason\":\"patientNotAllowed\"}"), "\(ofBert)")
        #expect(ofBert.contains("{\"index\":5,\"reason\":\"patientNotAllowed\"}"), "\(ofBert)")
        for arguments in [[], ["-H", "Authorization: Bearer token-of-carl-0123456789"], ["-H", "Authorization: x"]] {
            let (refused, _) = try door.post(lines, arguments + ["-i"], scheme: "http")
            #expect(refused.hasPrefix("HTTP/1.1 401 ") && refused.contains("WWW-Authenticate: Bearer"), "\(refused)")
            #expect(!refused.contains("phone") && !refused.contains("token-of"), "\(refused)")
        }
        #expect(try door.authFailures() == ["token": 3])
        let balance = try door.balance()
        #expect(balance.received == 12 && balance.accepted == 3 && balance.rejected == 9 && balance.isClosed)
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")])
        let configuration = ["--config", folder.file("kymo.yaml")]
        let (without, before) = try replay([])
        #expect(without.contains("a list of peers says what its sender may bring: name"), "\(without)")
        let (judged, same) = try replay(configuration)
        #expect(before == 3 && same == 3, "what was not allowed is not: \(judged)")
        // What anna may bring now comes to her device; the rest stays.
        Files.write(Array(Files.text(list).replacing("[phone-a,", with: "[phone-a, phone-ab,").utf8), to: list)
        #expect(try replay(configuration).1 == 4)
        #expect(try replay(["--not-allowed"]).1 == 6, "one of each line")
        #expect(letters.text.contains("the peer anna") && letters.text.contains("the peer bert"), "\(letters.text)")
    }

    /// Replays all letters; what it says, and how many readings there are then.
    private func replay(_ arguments: [String]) throws -> (String, Int) {
        let data = ["--data", folder.file("data")]
        let done = try Kymo.run(["dead", "replay", "--all", "--out", folder.file("out")] + data + arguments)
        let query = try Kymo.run(["query", "--readings"] + data)
        return (done.error, query.lines.count)
    }

    /// A certificate says who it is, whatever is sent from where.
    @Test func aCertificateBringsItsDevices() throws {
        let authority = try TestAuthority()
        let server = try authority.issue("localhost")
        let known = try authority.issue("gateway-3", hosts: "DNS:gateway-3.ward.example")
        let other = try authority.issue("gateway-4", hosts: "DNS:gateway-4.ward.example")
        let list = folder.write(
            "peers.yaml", "peers:\n  - certificate: gateway-3.ward.example\n    devices: [\"pump-3-*\"]\n")
        let files = ["certificateFile: \(server.certificate)", "certificateKeyFile: \(server.key)"]
        let door = try Door(
            TLSText.source("tcp", files + ["clientCAFile: \(authority.certificate)", "peers: \(list)"]), in: folder)
        let stranger = try door.tlsClient(authority, ["-cert", other.certificate, "-key", other.key])
        stranger.write(Readings.ndjson([line("pump-3-1", second: 1)]))
        _ = try stranger.wait()
        let client = try door.tlsClient(authority, ["-cert", known.certificate, "-key", known.key])
        client.write(Readings.ndjson([line("pump-3-1", second: 2), line("pump-4-1", second: 3)]))
        client.closeInput()
        _ = try client.wait()
        try Waiting.until("two lines") { try door.metric("kymo_source_messages_total") == 2 }
        #expect(try door.authFailures() == ["certificate": 1])
        #expect(door.run.errorText.contains("which the list of peers does not know"), "\(door.run.errorText)")
        // One of another authority, with which there is no TLS.
        let elsewhere = try TestAuthority()
        let unknown = try elsewhere.issue("gateway-3", hosts: "DNS:gateway-3.ward.example")
        _ = try door.tlsClient(authority, ["-cert", unknown.certificate, "-key", unknown.key]).wait()
        try Waiting.until("records of both") {
            let trail = try Kymo.run(["audit", "--data", folder.file("data")]).text
            return ["certificate", "tls"].allSatisfy {
                trail.contains("a client that has not shown who it is was refused: \($0)")
            }
        }
        let balance = try door.balance()
        #expect(balance.received == 2 && balance.accepted == 1 && balance.rejected == 1 && balance.isClosed)
        #expect(door.run.errorText.contains("deviceNotAllowed 1"), "\(door.run.errorText)")
    }

    /// Datagrams of others are rejected with their bytes.
    @Test(arguments: [("127.0.0.0/8", true), ("10.1.2.0/24", false), ("::ffff:127.0.0.1", true)])
    func anAddressBringsDatagrams(range: String, isKnown: Bool) throws {
        let list = folder.write("peers.yaml", "peers:\n  - addresses: [\"\(range)\"]\n    devices: [watch-1]\n")
        let door = try Door(TLSText.source("udp", ["peers: \(list)"]), in: folder)
        let file = folder.write("lines", (line("watch-1", second: 1) + "\n" + line("watch-2", second: 2) + "\n"))
        let sent = try Kymo.run(["replay", file, "--udp", "127.0.0.1:\(door.port)", "--rate", "100"])
        #expect(sent.end == .exit(0))
        try Waiting.until("two datagrams") { try door.metric("kymo_source_messages_total") == 2 }
        let balance = try door.balance()
        #expect(balance.received == 2 && balance.accepted == (isKnown ? 1 : 0) && balance.isClosed)
        #expect(door.run.errorText.contains(isKnown ? "deviceNotAllowed 1" : "unknownPeer 2"))
    }

    /// Processes are known by their user.
    @Test(arguments: [true, false]) func aUserBringsLines(isKnown: Bool) throws {
        let user = isKnown ? getuid() : getuid() + 1
        let list = folder.write("peers.yaml", "peers:\n  - user: \(user)\n")
        let source = "  - unix: \(folder.file("a.sock"))\n    peers: \(list)"
        let door = try Door(source, in: folder)
        let file = folder.write("lines", line("watch-1", second: 1) + "\n")
        let sent = try Kymo.run(["replay", file, "--unix", folder.file("a.sock"), "--speed", "max"])
        #expect(!isKnown || sent.end == .exit(0), "\(sent.error)")
        try Waiting.until("the client") { try door.metric("kymo_source_connections_total") == 1 }
        try Waiting.until("its end") { try door.metric("kymo_source_connections") == 0 }
        #expect(try door.authFailures() == (isKnown ? [:] : ["user": 1]))
        #expect(try door.balance().accepted == (isKnown ? 1 : 0))
    }

    // MARK: Rates

    /// Beyond its rate, lines are rejected with their bytes, and a request is to be sent again later.
    @Test func ratesBound() throws {
        let list = folder.write("peers.yaml", "peers:\n  - addresses: [127.0.0.1]\n    rate: 1\n    burst: 5\n")
        let tcp = try Door(TLSText.source("tcp", ["peers: \(list)"]), in: folder)
        let client = try RawConnection(port: tcp.port)
        client.send(Readings.ndjson((0..<50).map { line("watch-1", second: $0) }))
        try Waiting.until("all lines") { try tcp.metric("kymo_source_messages_total") == 50 }
        let balance = try tcp.balance()
        // One more for each second that the machine takes.
        #expect(balance.accepted >= 5 && balance.accepted < 50 && balance.isClosed, "\(tcp.run.errorText)")
        #expect(tcp.run.errorText.contains("rateLimited \(50 - balance.accepted)"), "\(tcp.run.errorText)")

        let other = TemporaryFolder()
        let token = token("anna")
        let phones = other.write(
            "peers.yaml", "peers:\n  - tokenFile: \(token.file)\n    rate: 1\n    burst: 5\n")
        let http = try Door(TLSText.source("http", ["peers: \(phones)"]), in: other)
        let (first, _) = try http.post((0..<50).map { line("watch-1", second: $0) }, token.header, scheme: "http")
        #expect(first.hasPrefix("{\"received\":50,\"rejectedCount\":0,"), "\(first)")
        let (second, _) = try http.post([line("watch-1", second: 51)], token.header + ["-i"], scheme: "http")
        #expect(second.hasPrefix("HTTP/1.1 429 "), "\(second)")
        let wait = try #require(second.firstMatch(of: /Retry-After: ([0-9]+)/).flatMap { Int($0.1) })
        #expect(wait > 0 && wait <= 46)
        #expect(try http.balance().accepted == 50)
    }

    // MARK: Changes

    /// A list that has changed applies to what comes then, on open connections, too; a broken one changes nothing.
    @Test func changesApplyToOpenConnections() throws {
        func text(_ device: String) -> String { "peers:\n  - addresses: [127.0.0.1]\n    devices: [\(device)]\n" }
        let list = folder.write("peers.yaml", text("watch-1"))
        let door = try Door(TLSText.source("tcp", ["peers: \(list)"]), in: folder)
        let client = try RawConnection(port: door.port)
        client.send(Readings.ndjson([line("watch-1", second: 0)]))
        try Waiting.until("a line") { try door.metric("kymo_source_messages_total") == 1 }
        Files.write(Array("peers: [{devices: [x]}]".utf8), to: list)
        var sent = 1
        try Waiting.until("a word of the broken list") {
            client.send(Readings.ndjson([line("watch-1", second: 0)]))
            sent += 1
            return door.run.errorText.contains("the former peers stay in use: \(list):1:")
        }
        Files.write(Array(text("watch-2").utf8), to: list)
        try Waiting.until("a word of the new list") {
            client.send(Readings.ndjson([line("watch-2", second: 1)]))
            sent += 1
            return door.run.errorText.contains("were read again: there are 1")
        }
        client.send(Readings.ndjson([line("watch-1", second: 2), line("watch-2", second: 2)]))
        sent += 2
        try Waiting.until("all lines") { try door.metric("kymo_source_messages_total") == sent }
        Files.write(Array("peers:\n  - addresses: [10.0.0.1]\n".utf8), to: list)
        try Waiting.until("the end of a client that is none any more") {
            client.send(Readings.ndjson([line("watch-2", second: 3)]))
            client.receive()
            return client.hasEnded
        }
        let balance = try door.balance()
        #expect(balance.accepted == 4 && balance.isClosed, "\(door.run.errorText)")
    }

    // MARK: Mistakes

    @Test func mistakesAreSaid() throws {
        let open = folder.write("open.token", "a-token-of-enough-characters\n")
        unsafe chmod(open, 0o644)
        let short = folder.write("short.token", "short\n")
        unsafe chmod(short, 0o600)
        let cases = [
            ("", "it is empty; begin with 'peers:'"), ("peers: []", "no peer is named"),
            ("peer:\n  - user: 1\n", "expected the key 'peers' alone"),
            ("peers:\n  - devices: [a]\n", ":2:5: peers[0]: nothing says who it is"),
            ("peers:\n  - user: 1\n", "a peer is known by its user, which only Unix sockets tell"),
            ("peers:\n  - certificate: a\n", "a peer is known by its certificate, and no client shows one"),
            ("peers:\n  - user: 1\n    addresses: [10.0.0.1]\n", "'addresses' is given besides 'user'"),
            ("peers:\n  - user: root\n", ":2:11: peers[0].user: 'root' is not the number of a user"),
            ("peers:\n  - addresses: [10.0.0.1/8]\n", "'10.0.0.1/8' is no range of addresses"),
            ("peers:\n  - addresses: [ward.example]\n", "'ward.example' is no range of addresses"),
            ("peers:\n  - user: 1\n    devces: [a]\n", ":3:5: peers[0]: unknown key 'devces'"),
            ("peers:\n  - user: 1\n  - user: 1\n", "another peer has the same"),
            ("peers:\n  - user: 1\n    rate: 0\n", "'0' is out of range"),
            (
                "peers:\n  - user: 1\n    name: ward, the peer anna\n",
                ":3:11: peers[0].name: the name 'ward, the peer anna' has ', the peer ' in it"
            ),
            ("peers:\n  - certificate: a, the peer b\n", ":2:18: peers[0].certificate: the name 'a, the peer b'"),
            ("peers:\n  - tokenFile: \(open)\n", "run 'chmod 600' on it"),
            ("peers:\n  - tokenFile: \(short)\n", "has a token of less than 16 characters"),
            ("peers:\n  - tokenFile: \(folder.file("none"))\n", "none cannot be read"),
        ]
        for (text, message) in cases {
            let list = folder.write("peers.yaml", text)
            let source = TLSText.source("http", ["peers: \(list)"])
            let done = try Kymo.run(["check", "--config", folder.write("k.yaml", "sources:\n\(source)\n")])
            #expect(done.end == .exit(78) && done.error.contains(message), "\(text): \(done.error)")
        }
        let list = folder.write("peers.yaml", "peers:\n  - user: 1\n")
        let serial = folder.write("serial.yaml", "sources:\n  - stdin: true\n    peers: \(list)\n")
        #expect(try Kymo.run(["check", "--config", serial]).error.contains("tell who sends"))
    }
}
