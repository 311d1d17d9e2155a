import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// Certificates, keys and lists that change while associations go on.
@Suite struct DTLSRenewalTests {
    private let folder = TemporaryFolder()
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    private func wait(for count: Int, at door: Door) throws {
        try Waiting.until("\(count) messages: \(door.run.errorText)") {
            try door.metric("kymo_source_messages_total") == count
        }
    }

    private func waitForTheEnd(of clients: [DTLSClient], at door: Door) throws {
        try Waiting.until("the end of \(clients.count) associations: \(door.run.errorText)") {
            for client in clients { client.advance() }
            return clients.allSatisfy(\.hasEnded)
        }
    }

    /// Time ends an association, too, though no file has changed and its client is silent.
    @Test func certificatesThatEnd() throws {
        let (certificate, key) = try authority.issue("localhost")
        let end = Date(timeIntervalSinceNow: 12)
        let form = DateFormatter()
        (form.locale, form.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "UTC"))
        form.dateFormat = "yyMMddHHmmss'Z'"
        let short = try authority.issue("strap-1", to: form.string(from: end))
        let long = try authority.issue("strap-2", hosts: "DNS:strap-2.test")
        let door = try Door(
            TLSText.source(
                "udp",
                [
                    "certificateFile: \(certificate)", "certificateKeyFile: \(key)",
                    "clientCAFile: \(authority.certificate)",
                ]), in: folder)
        let clients = try [short, long].map { files in
            let client = try DTLSClient(
                port: door.port, .certificate(files.certificate, key: files.key), authority: authority.certificate)
            try client.establish()
            return client
        }
        for (second, client) in clients.enumerated() { client.send(Readings.heartRate(second: second)) }
        try wait(for: 2, at: door)
        try waitForTheEnd(of: [clients[0]], at: door)
        #expect(Date() >= end)
        clients[0].send(Readings.heartRate(second: 10))
        clients[1].send(Readings.heartRate(second: 11))
        try wait(for: 3, at: door)
        #expect(try door.refusals()["withdrawn"] == 1)
        try door.run.waitForError("certificate has expired")
    }

    private static func key(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

    private static func line(_ identity: String, _ byte: UInt8) -> String {
        "\(identity):\(String(repeating: "0\(byte)", count: 16))\n"
    }

    private func client(_ door: Door, _ identity: String, _ byte: UInt8) throws -> DTLSClient {
        let client = try DTLSClient(
            port: door.port, .psk(identity: identity, key: Self.key(byte)), ciphers: "PSK-AES128-GCM-SHA256")
        try client.establish()
        return client
    }

    /// An association ends when its key has changed or is not there any more, though its client is silent; the others go
    /// on. Broken files change nothing.
    @Test func keysThatWereWithdrawn() throws {
        let first = Self.line("pump-1", 1) + Self.line("pump-2", 2) + Self.line("pump-3", 3)
        let keys = DTLSText.keys(first, in: folder)
        let door = try Door(TLSText.source("udp", ["pskFile: \(keys)"]), in: folder)
        let clients = try (1...3).map { try client(door, "pump-\($0)", UInt8($0)) }
        Files.write(Array("pump-1:short\n".utf8), to: keys)
        try Waiting.until("a word of the broken keys: \(door.run.errorText)") {
            door.run.errorText.contains("the former files stay in use: \(keys):1:1: the line")
        }
        for (second, client) in clients.enumerated() { client.send(Readings.heartRate(second: second)) }
        try wait(for: 3, at: door)
        Files.write(Array((Self.line("pump-4", 3) + Self.line("pump-2", 5) + Self.line("pump-1", 1)).utf8), to: keys)
        try waitForTheEnd(of: Array(clients[1...]), at: door)
        for (second, client) in clients.enumerated() { client.send(Readings.heartRate(second: 10 + second)) }
        try wait(for: 4, at: door)
        let again = try client(door, "pump-2", 5)
        again.send(Readings.heartRate(second: 20))
        try wait(for: 5, at: door)
        #expect(try door.refusals()["withdrawn"] == 2)
        #expect(try door.metric("kymo_source_connections") == 2)
        #expect(!door.run.errorText.contains("short"))
        #expect(try door.balance().accepted == 5)
    }

    /// The same of certificates that have come to the list of revoked ones.
    @Test func certificatesThatWereRevoked() throws {
        let names = ["gateway-1", "gateway-2", "gateway-3"]
        let certificates = try names.map { try authority.issue($0) }
        let list = try authority.revoke(certificates[2].certificate)
        let settings =
            try DTLSText.certificate(authority) + [
                "clientCAFile: \(authority.certificate)", "clientCRLFile: \(list)",
            ]
        let door = try Door(TLSText.source("udp", settings), in: folder)
        let clients = try certificates[..<2].map {
            try DTLSClient(port: door.port, .certificate($0.certificate, key: $0.key))
        }
        for client in clients { try client.establish() }
        _ = try authority.revoke(certificates[1].certificate)
        try waitForTheEnd(of: [clients[1]], at: door)
        for (second, client) in clients.enumerated() { client.send(Readings.heartRate(second: second)) }
        try wait(for: 1, at: door)
        #expect(try door.refusals()["withdrawn"] == 1)
        #expect(try door.metric("kymo_source_connections") == 1)
        #expect(door.run.errorText.contains("certificate revoked"), "\(door.run.errorText)")
        #expect(try door.balance().accepted == 1)
    }

    /// New clients are shown the new certificate; associations go on.
    @Test func theCertificateOfTheSourceIsRenewed() throws {
        let (certificate, key) = try authority.issue("first")
        let settings = ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"]
        let door = try Door(TLSText.source("udp", settings), in: folder)
        let client = try DTLSClient(port: door.port, authority: authority.certificate)
        try client.establish()
        let (newCertificate, newKey) = try authority.issue("second")
        Files.write(Files.read(newKey), to: key)
        Files.write(Files.read(newCertificate), to: certificate)
        try Waiting.until("the second certificate") { try subject(door).contains("CN = second") }
        client.send(Readings.heartRate(second: 1))
        try wait(for: 1, at: door)
        #expect(try door.refusals()["withdrawn"] == nil)
        #expect(try door.balance().accepted == 1)
    }

    /// The subject of the certificate that a client is shown.
    private func subject(_ door: Door) throws -> String {
        let done = try ChildProcess(
            "openssl", ["s_client", "-dtls1_2", "-connect", "127.0.0.1:\(door.port)"], input: .bytes([])
        ).finish()
        return done.text
    }
}
