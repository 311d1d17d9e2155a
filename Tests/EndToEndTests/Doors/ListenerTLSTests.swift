import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// TLS of listeners, with the clients that people have: openssl and curl.
@Suite struct ListenerTLSTests {
    private let folder = TemporaryFolder()
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    /// A source of `kind` with the server's certificate, and `settings`.
    private func door(_ kind: String, _ settings: [String] = []) throws -> Door {
        let (certificate, key) = try authority.issue("localhost")
        let files = ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"]
        return try Door(TLSText.source(kind, files + settings), in: folder)
    }

    @Test func linesAreAcknowledged() throws {
        let door = try door("tcp")
        let client = try door.tlsClient(authority, ["-verify_return_error"])
        let lines = Readings.heartRates(3_000)
        client.write(Readings.ndjson(["{\"kymo\":\"ack\"}"] + lines))
        try Waiting.until("an acknowledgement of all; \(client.errorText)") {
            String(decoding: client.output, as: UTF8.self).contains("{\"ack\":3000}")
        }
        door.run.signal(9)
        let again = try Kymo.run(["run", "--stdin", "--data", folder.file("data")])
        #expect(again.error.contains("took 3000 readings"), "\(again.error)")
    }

    /// A body of many records, and a second request on the connection.
    @Test func requestsOfAnySize() throws {
        let door = try door("http")
        let lines = (0..<6).flatMap { _ in Readings.heartRates(3_000) }
        let (text, end) = try door.post(lines, ["--cacert", authority.certificate, "--http1.1"])
        #expect(end == .exit(0) && text.hasPrefix("{\"received\":18000,\"rejectedCount\":0,"), "\(text)")
        let (again, _) = try door.post(Readings.heartRates(1), ["--cacert", authority.certificate])
        #expect(again.hasPrefix("{\"received\":1,"), "\(again)")
        let balance = try door.balance()
        #expect(balance.accepted == 3_000 && balance.duplicate == 15_001 && balance.isClosed)
    }

    /// Everybody who cannot prove who it is hears nothing and leaves nothing; whoever can is not disturbed.
    @Test func clientsWithoutAGoodCertificateAreNotLetIn() throws {
        let good = try authority.issue("gateway")
        let revoked = try authority.issue("revoked")
        let expired = try authority.issueExpired("expired")
        let unknown = try TestAuthority()
        let stranger = try unknown.issue("gateway")
        let own = try authority.issueSelfSigned("own", hosts: "DNS:gateway")
        let list = try authority.revoke(revoked.certificate)
        let door = try door("http", ["clientCAFile: \(authority.certificate)", "clientCRLFile: \(list)"])
        let trusted = ["--cacert", authority.certificate]
        let bad = [[]] + [revoked, expired, stranger, own].map { ["--cert", $0.certificate, "--key", $0.key] }
        for arguments in bad {
            let (text, end) = try door.post(Readings.heartRates(1), trusted + arguments)
            #expect(text.isEmpty && end != .exit(0), "\(arguments): \(text)")
        }
        let (text, end) = try door.post(
            Readings.heartRates(5), trusted + ["--cert", good.certificate, "--key", good.key])
        #expect(end == .exit(0) && text.hasPrefix("{\"received\":5,"), "\(text)")
        #expect(try door.metric("kymo_source_tls_failures_total") == 5)
        let reasons = [
            "did not return a certificate", "certificate revoked", "certificate has expired", "self-signed certificate",
        ]
        for reason in reasons {
            #expect(door.run.errorText.contains(reason), "\(reason): \(door.run.errorText)")
        }
        #expect(try door.balance().received == 5)
    }

    /// What is no TLS, or an old one, gets nowhere.
    @Test func onlyTLSOfToday() throws {
        let door = try door("tcp")
        let plain = try RawConnection(port: door.port)
        plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try plain.wait("the end of a connection without TLS") { $0.hasEnded }
        let old = try door.tlsClient(authority, ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
        #expect(try old.wait() != .exit(0))
        #expect(old.errorText.contains("protocol version"), "\(old.errorText)")
        #expect(try door.metric("kymo_source_tls_failures_total") == 2)
        for version in ["-tls1_2", "-tls1_3"] {
            let client = try door.tlsClient(authority, [version, "-verify_return_error"])
            client.write(Readings.ndjson(Readings.heartRates(10)))
            client.closeInput()
            #expect(try client.wait() == .exit(0), "\(version): \(client.errorText)")
        }
        try Waiting.until("20 lines") { try door.metric("kymo_source_messages_total") == 20 }
        let balance = try door.balance()
        #expect(balance.accepted == 10 && balance.duplicate == 10 && balance.isClosed)
    }

    /// Devices that know an address alone say no server name (SNI), and others one that is not the certificate's.
    @Test(arguments: [["-noservername"], ["-servername", "other.example"], ["-noservername", "-tls1_2"]])
    func withoutAServerName(_ name: [String]) throws {
        let door = try door("tcp")
        let client = try door.tlsClient(authority, ["-verify_return_error"] + name)
        client.write(Readings.ndjson(["{\"kymo\":\"ack\"}"] + Readings.heartRates(3)))
        try Waiting.until("an acknowledgement; \(client.errorText)") {
            String(decoding: client.output, as: UTF8.self).contains("{\"ack\":3}")
        }
        #expect(try door.metric("kymo_source_tls_failures_total") == 0)
        #expect(try door.balance().accepted == 3)
    }

    /// Whoever asks for another handshake within a connection, which costs the server far more than the client, gets none.
    @Test func noRenegotiation() throws {
        let door = try door("tcp")
        let others = try door.tlsClient(authority)
        let client = try ChildProcess(
            "openssl",
            ["s_client", "-tls1_2", "-connect", "127.0.0.1:\(door.port)", "-CAfile", authority.certificate],
            input: .pipe)
        client.write(Readings.ndjson(Readings.heartRates(3)))
        try Waiting.until("three lines") { try door.metric("kymo_source_messages_total") == 3 }
        client.write(Array("R\n".utf8))
        try Waiting.until("a refusal: \(client.errorText)") { client.errorText.contains("no renegotiation") }
        others.write(Readings.ndjson(Readings.heartRates(5)))
        others.closeInput()
        #expect(try others.wait() == .exit(0))
        try Waiting.until("five more") { try door.metric("kymo_source_messages_total") >= 8 }
        let balance = try door.balance()
        #expect(balance.accepted == 5 && balance.isClosed, "\(door.run.errorText)")
    }

    /// HL7 messages by TLS, of the devices of the peer that the client's certificate names.
    @Test func messagesOfPeers() throws {
        let known = try authority.issue("gateway", hosts: "DNS:gateway.ward.example")
        let other = try authority.issue("other", hosts: "DNS:other.ward.example")
        let list = folder.write(
            "peers.yaml", "peers:\n  - certificate: gateway.ward.example\n    devices: [monitor-1]\n    patient: p-9\n")
        let door = try door(
            "mllp", ["mappings: pcd-01", "clientCAFile: \(authority.certificate)", "peers: \(list)"])
        let stranger = try door.tlsClient(authority, ["-cert", other.certificate, "-key", other.key])
        let rates = [MonitorMessages.heartRate("72")]
        stranger.write(MLLPClient.frame(MonitorMessages.message(id: 9, results: rates)))
        _ = try stranger.wait()
        #expect(stranger.output.isEmpty)
        let client = try door.tlsClient(authority, ["-cert", known.certificate, "-key", known.key])
        let own = MonitorMessages.message(id: 1, results: rates).replacing("p-1^", with: "p-9^")
        client.write(MLLPClient.frame(own))
        client.write(MLLPClient.frame(own.replacing("monitor-1", with: "monitor-2").replacing("|1|P", with: "|2|P")))
        client.write(MLLPClient.frame(own.replacing("p-9^", with: "p-8^").replacing("|1|P", with: "|3|P")))
        // The first half of a message, and then the end.
        client.write([0x0B] + Array("MSH|^~".utf8))
        try Waiting.until("three acknowledgements: \(client.errorText)") {
            String(decoding: client.output, as: UTF8.self).ranges(of: "MSA|").count == 3
        }
        let text = String(decoding: client.output, as: UTF8.self)
        #expect(text.contains("MSA|AA|1") && text.contains("MSA|AE|2") && text.contains("MSA|AE|3"), "\(text)")
        #expect(text.contains("deviceNotAllowed") && text.contains("patientNotAllowed"), "\(text)")
        client.closeInput()
        _ = try client.wait()
        #expect(try door.authFailures() == ["certificate": 1])
        let balance = try door.balance()
        let reasons = ["deviceNotAllowed": 1, "patientNotAllowed": 1, "frameIncomplete": 1]
        #expect(balance.accepted == 1 && balance.reasons == reasons && balance.isClosed, "\(door.run.errorText)")
    }

    /// Who connects and says nothing is not kept.
    @Test func silenceEndsBeforeTheFirstByte() throws {
        let door = try door("tcp")
        let silent = try RawConnection(port: door.port)
        let slow = try RawConnection(port: door.port)
        // The beginning of a client's first message, and no more.
        slow.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
        try silent.wait("the end of the silent one") { $0.hasEnded }
        try slow.wait("the end of the slow one") { $0.hasEnded }
        #expect(silent.received.isEmpty)
        #expect(door.run.errorText.contains("which did not begin TLS in time"), "\(door.run.errorText)")
        #expect(try door.metric("kymo_source_tls_failures_total") == 2)
    }

    /// Without a word that nothing more comes, the last line may be cut: anybody on the way can end a connection.
    @Test func anEndWithoutAWordCutsTheLastLine() throws {
        let door = try door("tcp")
        let client = try door.tlsClient(authority)
        client.write(Readings.ndjson(Readings.heartRates(1)) + Array("{\"deviceId\":\"w".utf8))
        try Waiting.until("the first line") { try door.metric("kymo_source_messages_total") == 1 }
        client.signal(9)
        try Waiting.until("the end of the connection") { try door.metric("kymo_source_connections") == 0 }
        let balance = try door.balance()
        #expect(balance.received == 2 && balance.accepted == 1 && balance.rejected == 1, "\(door.run.errorText)")
        #expect(door.run.errorText.contains("frameIncomplete 1"))
    }

    /// New connections get the new certificate; open ones go on. A broken file changes nothing.
    @Test func certificatesAreRenewed() throws {
        let (certificate, key) = try authority.issue("first")
        let source = TLSText.source("tcp", ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"])
        let door = try Door(source, in: folder)
        let open = try door.tlsClient(authority)
        open.write(Readings.ndjson(["{\"kymo\":\"ack\"}"] + Readings.heartRates(1)))
        try Waiting.until("an acknowledgement") { String(decoding: open.output, as: UTF8.self).contains("{\"ack\":1}") }
        #expect(try subject(door).contains("CN = first"))
        let (newCertificate, newKey) = try authority.issue("second")
        Files.write(Files.read(newKey), to: key)
        unsafe chmod(key, 0o600)
        try Waiting.until("a word of the broken pair") {
            let isFirst = try subject(door).contains("CN = first")
            #expect(isFirst, "\(door.run.errorText)")
            return door.run.errorText.contains("the former files stay in use: \(key) is not the key of")
        }
        Files.write(Files.read(newCertificate), to: certificate)
        try Waiting.until("the second certificate") { try subject(door).contains("CN = second") }
        #expect(door.run.errorText.contains("\(certificate) was read again"))
        open.write(Readings.ndjson(Array(Readings.heartRates(2).suffix(1))))
        try Waiting.until("another acknowledgement") {
            String(decoding: open.output, as: UTF8.self).contains("{\"ack\":2}")
        }
    }

    /// The metric tells of the certificate in use, and of a new one before anybody connects.
    @Test func whenCertificatesEnd() throws {
        let (certificate, key) = try authority.issue("first", days: 2)
        let door = try Door(
            TLSText.source("http", ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"]), in: folder)
        let first = try door.metric("kymo_source_certificate_expiry_timestamp_seconds")
        #expect(first == (try end(of: certificate)))
        let (newCertificate, newKey) = try authority.issue("second", days: 30)
        // With the authority's own behind it, which ends in a day.
        Files.write(Files.read(newKey), to: key)
        Files.write(Files.read(newCertificate) + Files.read(authority.certificate), to: certificate)
        let ofAuthority = try end(of: authority.certificate)
        #expect(ofAuthority < first)
        try Waiting.until("the end of the new one") {
            try door.metric("kymo_source_certificate_expiry_timestamp_seconds") == ofAuthority
        }
        #expect(try subject(door).contains("CN = second"))
        #expect(door.run.errorText.contains("\(certificate) was read again"))
        let plain = try Door(TLSText.source("http", []), in: TemporaryFolder())
        #expect(throws: WaitError.self) { try plain.metric("kymo_source_certificate_expiry_timestamp_seconds") }
    }

    /// When a certificate ends, in seconds since 1970, as the commands say it.
    private func end(of certificate: String) throws -> Int {
        let said = try ChildProcess("openssl", ["x509", "-enddate", "-noout", "-in", certificate]).finish().text
        let date = said.split(separator: "=").last.map { $0.filter { !$0.isNewline } } ?? ""
        let seconds = try ChildProcess("date", ["-u", "-d", date, "+%s"]).finish().text
        return try #require(Int(seconds.filter(\.isNumber)))
    }

    private func subject(_ door: Door) throws -> String {
        let arguments = ["s_client", "-connect", "127.0.0.1:\(door.port)", "-CAfile", authority.certificate]
        return try ChildProcess("openssl", arguments).finish().text
    }

    // MARK: Mistakes

    @Test func mistakesAreSaid() throws {
        let (certificate, key) = try authority.issue("localhost")
        let other = try authority.issue("other")
        let text = folder.write("text.pem", "hello")
        let open = folder.write("open.key", String(decoding: Files.read(key), as: UTF8.self))
        // Safe: Swift lends the path for the call.
        unsafe chmod(open, 0o644)
        let cases: [(settings: [String], message: String)] = [
            (["certificateFile: \(folder.file("none.pem"))"], "none.pem cannot be read: No such file"),
            (["certificateFile: \(text)"], "text.pem holds no certificate in PEM form"),
            (["certificateFile: \(certificate)"], "or name its key's own file as certificateKeyFile"),
            (["certificateFile: \(certificate)", "certificateKeyFile: \(other.key)"], "is not the key of"),
            (["certificateFile: \(certificate)", "certificateKeyFile: \(open)"], "run 'chmod 600' on it"),
            (["certificateKeyFile: \(key)"], "without certificateFile there is no TLS"),
            (["clientCAFile: \(certificate)"], "without certificateFile there is no TLS"),
            (
                ["certificateFile: \(certificate)", "certificateKeyFile: \(key)", "clientCRLFile: \(text)"],
                "clientCRLFile has no effect without clientCAFile"
            ),
            (
                ["certificateFile: \(certificate)", "certificateKeyFile: \(key)", "clientCAFile: \(text)"],
                "text.pem holds no certificate in PEM form"
            ),
            (
                [
                    "certificateFile: \(certificate)", "certificateKeyFile: \(key)", "clientCAFile: \(certificate)",
                    "clientCRLFile: \(text)",
                ], "text.pem holds no list of revoked certificates"
            ),
        ]
        for (settings, message) in cases {
            let file = folder.write("mistake.yaml", "sources:\n\(TLSText.source("tcp", settings))\n")
            for command in ["check", "run"] {
                let done = try Kymo.run([command, "--config", file])
                #expect(done.error.contains(message) || done.text.contains(message), "\(command) \(done.error)")
                #expect(done.end != .exit(0), "\(command): \(message)")
            }
        }
        let elsewhere = folder.write("unix.yaml", "sources:\n  - unix: ./a.sock\n    certificateFile: x\n")
        let done = try Kymo.run(["check", "--config", elsewhere])
        #expect(done.error.contains("TLS is for udp, tcp, http, mllp and mqtt only"), "\(done.error)")
    }

    /// With TLS other machines may reach it.
    @Test func otherAddressesNeedTLS() throws {
        let (certificate, key) = try authority.issue("localhost")
        for (settings, isFine) in [
            ([], false), (["certificateFile: \(certificate)", "certificateKeyFile: \(key)"], true),
        ] {
            let source = "  - tcp: 0.0.0.0:0\n" + settings.map { "    \($0)\n" }.joined()
            let done = try Kymo.run(["check", "--config", folder.write("any.yaml", "sources:\n\(source)")])
            #expect(done.end == .exit(isFine ? 0 : 78), "\(done.error)")
            #expect(isFine || done.error.contains("name a certificateFile for TLS"), "\(done.error)")
        }
    }
}

/// Sources as a configuration file has them.
enum TLSText {
    /// A source of `kind` on a port that the kernel chooses, with `settings`.
    static func source(_ kind: String, _ settings: [String]) -> String {
        (["  - \(kind): 127.0.0.1:0"] + settings.map { "    \($0)" }).joined(separator: "\n")
    }
}
