import CommandSupport
import Glibc
import Kymograph
import KymographTestKit
import Testing

/// A UDP source with a certificate or pre-shared keys, and the clients that people have: openssl and gnutls-cli.
@Suite struct DTLSTests {
    private let folder = TemporaryFolder()
    private let authority: TestAuthority
    private static let key = "000102030405060708090a0b0c0d0e0f"

    init() throws { authority = try TestAuthority() }

    /// A source with the server's certificate, and `settings`.
    private func door(_ settings: [String] = []) throws -> Door {
        try Door(TLSText.source("udp", DTLSText.certificate(authority) + settings), in: folder)
    }

    /// A source with pre-shared keys, and `settings`.
    private func keyDoor(_ keys: String, _ settings: [String] = []) throws -> Door {
        try Door(TLSText.source("udp", ["pskFile: \(DTLSText.keys(keys, in: folder))"] + settings), in: folder)
    }

    /// Sends one reading by `client` once its handshake is done.
    private func send(_ line: String, by client: ChildProcess, to door: Door, messages: Int) throws {
        client.write(Array((line + "\n").utf8))
        try Waiting.until("message \(messages): \(client.errorText) \(door.run.errorText)") {
            try door.metric("kymo_source_messages_total") == messages
        }
    }

    @Test func readingsByCertificate() throws {
        let door = try door()
        let client = try door.dtlsClient(["-CAfile", authority.certificate, "-verify_return_error"])
        for (place, line) in Readings.heartRates(3).enumerated() {
            try send(line, by: client, to: door, messages: place + 1)
        }
        #expect(try door.metric("kymo_source_connections_total") == 1)
        #expect(try door.metric("kymo_source_connections") == 1)
        let balance = try door.balance()
        #expect(balance.accepted == 3 && balance.isClosed)
    }

    /// A client that does not trust the server sends nothing; what is no DTLS, or an old one, is counted and leaves nothing.
    @Test func whatIsNotAgreedOn() throws {
        let door = try door()
        let other = try TestAuthority("another")
        let distrusting = try door.dtlsClient(["-CAfile", other.certificate, "-verify_return_error"])
        #expect(try distrusting.wait() != .exit(0))
        let old = try ChildProcess(
            "openssl",
            ["s_client", "-quiet", "-dtls1", "-cipher", "DEFAULT@SECLEVEL=0", "-connect", "127.0.0.1:\(door.port)"])
        #expect(try old.wait() != .exit(0))
        try Waiting.until("two failures") { try door.refusals()["handshake"] == 2 }
        // A reading as it is, an empty datagram, a record of data without a handshake, and a cut one.
        let plain = try DTLSClient(port: door.port)
        plain.sendPlain(Array(Readings.heartRate(second: 1).utf8))
        plain.sendPlain([])
        plain.sendPlain([23, 0xFE, 0xFD, 0, 1] + [UInt8](repeating: 7, count: 40))
        plain.sendPlain([22, 0xFE, 0xFD])
        try Waiting.until("four datagrams: \(door.run.errorText)") {
            let refusals = try door.refusals()
            return refusals["noRecord"] == 3 && refusals["noAssociation"] == 1
        }
        #expect(try door.metric("kymo_source_tls_failures_total") == 2)
        #expect(door.run.errorText.contains("it is not DTLS 1.2"), "\(door.run.errorText)")
        let balance = try door.balance()
        #expect(balance.received == 0 && balance.isClosed)
    }

    /// Everybody who cannot prove who it is leaves nothing; whoever can, and is a peer, brings its devices.
    @Test func clientsWithoutAGoodCertificateAreNotLetIn() throws {
        let good = try authority.issue("gateway", hosts: "DNS:gateway.ward.example")
        let known = try authority.issue("other", hosts: "DNS:other.ward.example")
        let revoked = try authority.issue("revoked")
        let expired = try authority.issueExpired("expired")
        let unknown = try TestAuthority()
        let stranger = try unknown.issue("gateway", hosts: "DNS:gateway.ward.example")
        let list = try authority.revoke(revoked.certificate)
        let peers = folder.write(
            "peers.yaml", "peers:\n  - certificate: gateway.ward.example\n    devices: [watch-1]\n")
        let door = try door([
            "clientCAFile: \(authority.certificate)", "clientCRLFile: \(list)", "peers: \(peers)",
        ])
        let bad = [[]] + [revoked, expired, stranger].map { ["-cert", $0.certificate, "-key", $0.key] }
        for arguments in bad {
            let client = try door.dtlsClient(arguments)
            #expect(try client.wait() != .exit(0), "\(arguments)")
        }
        try Waiting.until("four refusals") { try door.refusals()["certificate"] == 4 }
        let unlisted = try door.dtlsClient(["-cert", known.certificate, "-key", known.key])
        try Waiting.until("one that is no peer") { try door.authFailures() == ["certificate": 1] }
        _ = try unlisted.wait()
        let client = try door.dtlsClient(["-cert", good.certificate, "-key", good.key])
        try send(Readings.heartRate(second: 1), by: client, to: door, messages: 1)
        try send(Readings.heartRate(second: 2, device: "watch-2"), by: client, to: door, messages: 2)
        #expect(try door.metric("kymo_source_tls_failures_total") == 4)
        for reason in ["did not return a certificate", "certificate revoked", "certificate has expired"] {
            #expect(door.run.errorText.contains(reason), "\(reason): \(door.run.errorText)")
        }
        let balance = try door.balance()
        #expect(balance.accepted == 1 && balance.reasons == ["deviceNotAllowed": 1] && balance.isClosed)
    }

    /// Identities are compared as bytes and in full, and each key is its own identity's.
    @Test func preSharedKeysAndTheirPeers() throws {
        let keys = "# keys of the ward\npump-1:\(Self.key)\npump-2:\(Self.key)ff\npump:3:\(Self.key)aa\n"
        let peers = folder.write(
            "peers.yaml",
            "peers:\n  - pskIdentity: pump-1\n    devices: [watch-1]\n  - pskIdentity: 'pump:3'\n    devices: [watch-3]\n"
        )
        let door = try keyDoor(keys, ["peers: \(peers)"])
        let first = try door.dtlsClient(psk: "pump-1", Self.key)
        try send(Readings.heartRate(second: 1), by: first, to: door, messages: 1)
        try send(Readings.heartRate(second: 2, device: "watch-3"), by: first, to: door, messages: 2)
        let third = try door.dtlsClient(psk: "pump:3", Self.key + "aa")
        try send(Readings.heartRate(second: 3, device: "watch-3"), by: third, to: door, messages: 3)
        let unlisted = try door.dtlsClient(psk: "pump-2", Self.key + "ff")
        try Waiting.until("one that is no peer: \(unlisted.errorText)") { try door.authFailures() == ["psk": 1] }
        for identity in ["pump-", "pump-10", "Pump-1", "pump-1 ", "pump"] {
            let client = try door.dtlsClient(psk: identity, Self.key)
            #expect(try client.wait() != .exit(0), "\(identity)")
        }
        // Its key is another one's: it never hears an answer to what it has sealed.
        let wrong = try door.dtlsClient(psk: "pump-1", Self.key + "ff")
        try Waiting.until("a wrong key: \(door.run.errorText)", seconds: 60) {
            let refusals = try door.refusals()
            return refusals["pskIdentity"] == 5 && refusals["pskKey"] == 1
        }
        wrong.signal(9)
        let text = door.run.errorText
        #expect(text.contains("the identity of its pre-shared key is unknown"), "\(text)")
        #expect(text.contains("its pre-shared key does not match its identity"), "\(text)")
        #expect(!text.contains(Self.key), "\(text)")
        let balance = try door.balance()
        #expect(balance.accepted == 2 && balance.reasons == ["deviceNotAllowed": 1] && balance.isClosed)
    }

    /// Short tags are for those alone who ask for them.
    @Test(arguments: [false, true]) func shortTags(areAllowed: Bool) throws {
        let door = try keyDoor("pump-1:\(Self.key)\n", areAllowed ? ["pskCCM8: true"] : [])
        let client = try door.dtlsClient(psk: "pump-1", Self.key, ["-cipher", "PSK-AES128-CCM8"])
        if areAllowed { return try send(Readings.heartRate(second: 1), by: client, to: door, messages: 1) }
        #expect(try client.wait() != .exit(0))
        #expect(try door.refusals() == ["handshake": 1])
    }

    /// Another library speaks it, too.
    @Test func gnutls() throws {
        let keys = DTLSText.keys("pump-1:\(Self.key)\n", in: folder)
        let door = try door(["pskFile: \(keys)"])
        let port = ["--udp", "--port", "\(door.port)", "127.0.0.1"]
        let byCertificate = try ChildProcess(
            "gnutls-cli",
            ["--x509cafile", authority.certificate, "--sni-hostname", "localhost", "--verify-hostname", "localhost"]
                + port, input: .pipe)
        try send(Readings.heartRate(second: 1), by: byCertificate, to: door, messages: 1)
        let priority = ["--priority", "NORMAL:-KX-ALL:+PSK:-VERS-ALL:+VERS-DTLS1.2"]
        let byKey = try ChildProcess(
            "gnutls-cli", priority + ["--pskusername", "pump-1", "--pskkey", Self.key] + port, input: .pipe)
        try send(Readings.heartRate(second: 2), by: byKey, to: door, messages: 2)
        // An identity that goes on behind a zero byte: "pump-1", 0, "x".
        let cut = try ChildProcess(
            "gnutls-cli", priority + ["--pskusername", "#70756d702d310078", "--pskkey", Self.key] + port, input: .pipe)
        try Waiting.until("a refusal: \(cut.errorText) \(String(decoding: cut.output, as: UTF8.self))") {
            try door.refusals() == ["pskIdentity": 1]
        }
        byCertificate.closeInput()
        byKey.closeInput()
        #expect(try byCertificate.wait() == .exit(0))
        #expect(try byKey.wait() == .exit(0))
        // Both have said that they end.
        try Waiting.until("no client") { try door.metric("kymo_source_connections") == 0 }
        #expect(try door.balance().accepted == 2)
    }

    /// So does the client of libcoap, with two more. It sends CoAP, which no mapping reads; that is what came in.
    @Test(arguments: ["openssl", "gnutls"]) func libcoap(library: String) throws {
        let key = "sixteen bytes ok"
        let door = try keyDoor("pump-1:\(key.utf8.map { String($0, radix: 16) }.joined())\n")
        let client = try ChildProcess(
            "coap-client-\(library)",
            ["-N", "-B", "1", "-m", "put", "-u", "pump-1", "-k", key, "-e", "a reading"]
                + ["coaps://127.0.0.1:\(door.port)/ward"])
        #expect(try client.wait() == .exit(0), "\(client.errorText)")
        try Waiting.until("a message: \(client.errorText) \(door.run.errorText)") {
            try door.metric("kymo_source_messages_total") >= 1
        }
        #expect(try door.refusals().isEmpty)
        // A client that waits too long on a busy machine says so, too.
        let balance = try door.balance()
        #expect(Set(balance.reasons.keys) == ["invalidJSON"] && balance.isClosed, "\(balance.reasons)")
    }

    /// A payload that no mapping reads is kept decrypted, with who has sent it.
    @Test func lettersHaveWhatWasSent() throws {
        let letters = folder.file("letters.ndjson")
        let file = folder.write(
            "kymo.yaml",
            "sources:\n\(TLSText.source("udp", try DTLSText.certificate(authority)))\ndeadLetter: \(letters)\n")
        let run = try Kymo.start(["run", "--config", file, "--data", folder.file("data")])
        let port = PostClient.port(try run.addresses()[0])
        let client = try DTLSClient(port: port)
        try client.establish()
        client.send("{\"deviceId\":")
        client.send("no reading")
        try Waiting.until("two letters: \(run.errorText)") {
            String(decoding: Files.read(letters), as: UTF8.self).split(separator: "\n").count == 2
        }
        let text = String(decoding: Files.read(letters), as: UTF8.self)
        // "no reading", in base64.
        #expect(text.contains("bm8gcmVhZGluZw==") && text.contains("sent by 127.0.0.1:"), "\(text)")
        _ = try run.terminate()
    }
}

/// What sources by DTLS are made of.
enum DTLSText {
    /// The server's certificate and its key.
    static func certificate(_ authority: TestAuthority, _ name: String = "localhost") throws -> [String] {
        let (certificate, key) = try authority.issue(name)
        return ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"]
    }

    /// A file of pre-shared keys, `identity:key` each.
    static func keys(_ text: String, in folder: TemporaryFolder) -> String {
        let file = folder.write("psk.keys", text)
        unsafe chmod(file, 0o600)
        return file
    }
}

extension Door {
    /// What was not taken of datagrams by DTLS, by why.
    func refusals() throws -> [String: Int] {
        var found: [String: Int] = [:]
        for reason in AssociationRefusal.allCases.map(\.rawValue) {
            let series = "kymo_dtls_refusals_total{source=\"\(source)\",reason=\"\(reason)\"}"
            if let value = try admin.value(series) { found[reason] = Int(value) }
        }
        return found
    }

    /// Starts `openssl s_client` by DTLS, which sends each line that it reads as a datagram.
    func dtlsClient(_ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess(
            "openssl", ["s_client", "-quiet", "-no_ign_eof", "-dtls1_2", "-connect", "127.0.0.1:\(port)"] + arguments,
            input: .pipe)
    }

    /// The same with a pre-shared key.
    func dtlsClient(psk identity: String, _ key: String, _ arguments: [String] = []) throws -> ChildProcess {
        let ciphers = arguments.contains("-cipher") ? [] : ["-cipher", "PSK-AES128-GCM-SHA256"]
        return try dtlsClient(["-psk_identity", identity, "-psk", key] + ciphers + arguments)
    }
}
