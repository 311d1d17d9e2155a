import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// `http.admin` with a certificate.
@Suite struct AdminTLSTests {
    private let folder = TemporaryFolder()
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    /// An instance, and what `curl` gets of it.
    private struct Secured {
        /// The host of its certificate by which clients come.
        static let host = "server.kymograph.test"

        let run: ChildProcess
        let port: String
        let authority: TestAuthority

        /// What curl gets of `path`, with the status in its last line.
        func get(_ path: String, _ arguments: [String] = [], scheme: String = "https") throws -> Kymo.Finished {
            try ChildProcess(
                "curl",
                [
                    "-sS", "-m", "30", "-w", "\n%{http_code}", "--cacert", authority.certificate,
                    "--resolve", "\(Self.host):\(port):127.0.0.1", "\(scheme)://\(Self.host):\(port)\(path)",
                ] + arguments
            ).finish()
        }

        func metric(_ name: String) throws -> Double? {
            try get("/metrics").lines.first { $0.hasPrefix("\(name) ") }.flatMap {
                Double($0.dropFirst(name.count + 1))
            }
        }
    }

    /// Starts an instance whose listener has the lines `http` besides its certificate for the host.
    private func start(_ http: [String] = [], settings: String = "") throws -> Secured {
        let (certificate, key) = try authority.issue("first", hosts: "DNS:*.ward.test,DNS:\(Secured.host)")
        return try start(certificate, key, http, settings: settings)
    }

    private func start(
        _ certificate: String, _ key: String, _ http: [String], settings: String = ""
    ) throws -> Secured {
        let lines = ["admin: 127.0.0.1:0", "certificateFile: \(certificate)", "certificateKeyFile: \(key)"] + http
        let text = "sources:\n  - udp: 127.0.0.1:0\nhttp:\n" + lines.map { "  \($0)\n" }.joined() + settings
        let run = try Kymo.start(
            ["run", "--config", folder.write("kymo.yaml", text), "--data", folder.file("data")])
        let start = "metrics and health on https://\(Secured.host):"
        try run.waitForError(start)
        var port = ""
        try Waiting.until("a port in \(run.errorText)") {
            let lines = run.errorText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let ends = lines.compactMap { line in line.firstRange(of: start).map { line[$0.upperBound...] } }
            port = ends.first.map { String($0.prefix(while: \.isNumber)) } ?? ""
            return !port.isEmpty
        }
        return Secured(run: run, port: port, authority: authority)
    }

    @Test func servesByTLSAlone() throws {
        let secured = try start()
        let healthy = try secured.get("/readyz")
        #expect(healthy.end == .exit(0) && healthy.text == "ok\n\n200", "\(healthy.error)")
        let ends = try #require(try secured.metric("kymo_admin_certificate_expiry_timestamp_seconds"))
        #expect(ends > Date().timeIntervalSince1970 + 86_400)
        let stranger = try ChildProcess("curl", ["-sS", "https://localhost:\(secured.port)/livez"]).finish()
        #expect(stranger.end == .exit(60), "\(stranger.error)")
        let plain = AdminClient.answer(
            try RawConnection.exchange(
                "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", port: try #require(UInt16(secured.port))))
        #expect(plain.status == 400 && plain.body.contains("this address speaks TLS: ask it by https"), "\(plain)")
        try secured.run.waitForError("http.admin: no TLS with 127.0.0.1: ")
        #expect(try secured.run.terminate().end == .exit(0))
    }

    /// A body that comes in many records, and several requests on one connection.
    @Test func takesBodiesOfManyRecords() throws {
        let secured = try start(settings: "console: {enabled: true}\n")
        let body = folder.write("body", String(repeating: "x", count: 1_000_000))
        let refused = try secured.get(
            "/metrics",
            ["--data-binary", "@\(body)", "--next", "-sS", "-w", "\n%{http_code}", "--cacert"]
                + [authority.certificate, "--resolve", "\(Secured.host):\(secured.port):127.0.0.1"]
                + ["https://\(Secured.host):\(secured.port)/livez"])
        #expect(
            refused.text.contains("\n405") && refused.text.hasSuffix("ok\n\n200"), "\(refused.text) \(refused.error)")
        let large = try secured.get("/metrics", ["--data-binary", "@\(body)", "--data-binary", "@\(body)"])
        #expect(large.text.hasSuffix("\n413"), "\(large.text) \(large.error)")
    }

    @Test func theConsoleAnswersToTheNamesOfTheCertificate() throws {
        let secured = try start(settings: "console: {enabled: true}\n")
        try secured.run.waitForError("console on https://\(Secured.host):\(secured.port)/console/")
        let login = try Kymo.run(["console", "login", "--data", folder.file("data")])
        #expect(login.text.contains("https://\(Secured.host):\(secured.port)/console/#login="), "\(login.text)")
        let code = try #require(login.text.firstRange(of: "#login=").map { login.text[$0.upperBound...].prefix(14) })
        let origin = "https://\(Secured.host):\(secured.port)"
        let opened = try secured.get(
            "/console/api/login", ["-i", "-H", "Origin: \(origin)", "--data-binary", "{\"code\":\"\(code)\"}"])
        #expect(opened.text.hasSuffix("\n200") && opened.text.contains("; Secure\r\n"), "\(opened.text)")
        let page = try secured.get("/console/", ["-H", "Host: icu.ward.test:\(secured.port)"])
        #expect(page.text.hasSuffix("\n200"), "\(page.text.suffix(200))")
        let other = try secured.get("/console/", ["-H", "Host: other.test"])
        #expect(other.text.hasSuffix("\n421") && other.text.contains(Secured.host), "\(other.text)")
    }

    @Test func clientsShowCertificatesWhenTheyMust() throws {
        let secured = try start(["clientCAFile: \(authority.certificate)"])
        #expect(try secured.get("/livez").end != .exit(0))
        try secured.run.waitForError("http.admin: no TLS with 127.0.0.1: peer did not return a certificate")
        let (certificate, key) = try authority.issue("prometheus", hosts: "DNS:prometheus.test")
        let known = try secured.get("/livez", ["--cert", certificate, "--key", key])
        #expect(known.text == "ok\n\n200", "\(known.error)")
    }

    @Test func anotherCertificateTakesItsPlace() throws {
        let (certificate, key) = try authority.issue("first", hosts: "DNS:\(Secured.host)")
        let secured = try start(certificate, key, [])
        let first = try #require(try secured.metric("kymo_admin_certificate_expiry_timestamp_seconds"))
        let (newCertificate, newKey) = try authority.issue("second", hosts: "DNS:\(Secured.host)", days: 30)
        Files.write(Files.read(newKey), to: key)
        Files.write(Files.read(newCertificate), to: certificate)
        try Waiting.until("the second certificate") {
            try secured.metric("kymo_admin_certificate_expiry_timestamp_seconds") ?? 0 > first + 86_400
        }
        // The next one who comes makes it known.
        #expect(try secured.get("/livez").text == "ok\n\n200")
        try secured.run.waitForError("\(certificate) was read again")
    }

    /// A client that stops in the middle of a record, or of the handshake, keeps nobody waiting and nothing busy.
    @Test(.enabled(if: SharedMaterial.canRunPython, "needs KYMO_PYTHON"))
    func halfOfARecordCostsNothing() throws {
        let secured = try start()
        let silent = try RawConnection(port: try #require(UInt16(secured.port)))
        silent.send([0x16, 0x03, 0x01, 0x02])
        let half = try ChildProcess(
            SharedMaterial.python, ["-c", Self.halfARecord, secured.port, authority.certificate, Secured.host],
            input: .pipe)
        try Waiting.until("half a record") { String(decoding: half.output, as: UTF8.self).contains("half") }
        let before = try #require(try secured.metric("process_cpu_seconds_total"))
        Thread.sleep(forTimeInterval: 2)
        let after = try #require(try secured.metric("process_cpu_seconds_total"))
        #expect(after - before < 1, "a busy loop takes 2 s")
        #expect(try secured.get("/livez").text == "ok\n\n200")
        half.write(Array("\n".utf8))
        #expect(try half.wait() == .exit(0))
        #expect(String(decoding: half.output, as: UTF8.self).contains("HTTP/1.1 200"))
    }

    /// Messages of the handshake that come without end would keep all others waiting: their connection ends.
    @Test func keyUpdatesWithoutEnd() throws {
        let secured = try start()
        let client = try ChildProcess(
            "openssl",
            ["s_client", "-connect", "127.0.0.1:\(secured.port)", "-CAfile", authority.certificate, "-tls1_3"],
            input: .pipe)
        try Waiting.until("a handshake") { String(decoding: client.output, as: UTF8.self).contains("Verify return") }
        var updates = 0
        while updates < 1_000, client.write(Array("k\n".utf8)) {
            updates += 1
            // What is read at once is one command.
            Thread.sleep(forTimeInterval: 0.005)
        }
        _ = try client.wait()
        let told = client.errorText.matches(of: /KEYUPDATE/).count
        #expect(told > 150 && updates < 1_000, "\(told) of \(updates): \(client.errorText.suffix(300))")
        #expect(try secured.get("/livez").text == "ok\n\n200")
    }

    private static let halfARecord = """
        import socket, ssl, sys
        port, authority, host = sys.argv[1:]
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = ssl.create_default_context(cafile=authority).wrap_bio(incoming, outgoing, server_hostname=host)
        connection = socket.create_connection(("127.0.0.1", int(port)))
        def pump(step):
            while True:
                try:
                    return step()
                except ssl.SSLWantReadError:
                    connection.sendall(outgoing.read())
                    incoming.write(connection.recv(65536))
        pump(tls.do_handshake)
        tls.write(b"GET /livez HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
        record = outgoing.read()
        connection.sendall(record[:-7])
        print("half", flush=True)
        sys.stdin.readline()
        connection.sendall(record[-7:])
        print(pump(lambda: tls.read(65536)).decode())
        """

    @Test func filesThatCannotBeUsedAreNamed() throws {
        let (certificate, _) = try authority.issue("first")
        let (_, otherKey) = try authority.issue("second")
        let text = "sources:\n  - udp: 127.0.0.1:0\nhttp:\n  admin: 127.0.0.1:0\n"
        for (lines, cause, status) in [
            (["certificateFile: \(folder.file("none.pem"))"], "none.pem cannot be read: No such file", 78),
            // Perhaps not yet.
            (
                ["certificateFile: \(certificate)", "certificateKeyFile: \(otherKey)"],
                "\(otherKey) is not the key of \(certificate)", 71
            ),
        ] {
            let file = folder.write("kymo.yaml", text + lines.map { "  \($0)\n" }.joined())
            for command in [["check", "--config", file], ["run", "--ephemeral", "--config", file]] {
                let done = try Kymo.run(command)
                #expect(done.end == .exit(Int32(status)), "\(command) \(done)")
                #expect((done.text + done.error).contains(cause), "\(done.text) \(done.error)")
            }
        }
    }
}
