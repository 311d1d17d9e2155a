import CommandSupport
import KymographTestKit
import Testing

/// Peers of a ward whose devices each have a certificate of their own: one entry of the list, and each client brings
/// the readings of the device that its certificate names.
@Suite struct CertifiedDeviceTests {
    private typealias Certificate = (certificate: String, key: String)

    private let folder = TemporaryFolder()
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    private func peers(_ settings: [String]) -> String {
        folder.write("peers.yaml", "peers:\n  - " + settings.joined(separator: "\n    ") + "\n")
    }

    /// The entry of most tests.
    private static let ward = ["certificate: \"pump-3-*\"", "name: ward 3", "deviceFrom: commonName"]

    private func door(_ kind: String, _ peers: String, _ more: [String] = []) throws -> Door {
        let (certificate, key) = try authority.issue("localhost")
        let files = ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"]
        return try Door(
            TLSText.source(kind, files + ["clientCAFile: \(authority.certificate)", "peers: \(peers)"] + more),
            in: folder)
    }

    private func client(_ door: Door, _ certificate: Certificate) throws -> ChildProcess {
        try door.tlsClient(authority, ["-cert", certificate.certificate, "-key", certificate.key])
    }

    /// Sends `devices`, a line each, by a client of its own, which ends then.
    private func send(_ devices: [String], by certificate: Certificate, to door: Door) throws {
        let client = try client(door, certificate)
        client.write(Readings.ndjson(devices.enumerated().map { Readings.heartRate(second: $0, device: $1) }))
        client.closeInput()
        _ = try client.wait()
    }

    // MARK: Who it is

    /// Each brings its own device's readings; another's are rejected, and of nothing is a certificate's name a label.
    @Test func oneEntryServesAWard() throws {
        let door = try door("tcp", peers(Self.ward))
        let pumps = ["pump-3-1", "pump-3-2", "pump-3-12"]
        for pump in pumps {
            try send(pumps + ["pump-4-1"], by: try authority.issue(pump, subject: "/CN=\(pump)"), to: door)
        }
        try Waiting.until("all lines") { try door.metric("kymo_source_messages_total") == 12 }
        let metrics = try door.admin.get("/metrics").body
        #expect(!metrics.contains("pump-3-"), "a series per certificate")
        #expect(try door.authFailures() == [:])
        let balance = try door.balance()
        #expect(balance.accepted == 3 && balance.reasons == ["deviceNotAllowed": 9] && balance.isClosed)
        let refusals = door.run.errorText.split(separator: "\n").filter { $0.contains("is refused: deviceNotAllowed") }
        #expect(!refusals.isEmpty && refusals.allSatisfy { $0.contains("the peer ward 3 is refused") }, "\(refusals)")
        #expect(refusals.allSatisfy { !$0.contains("pump-") }, "\(refusals)")
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")]).text
        for pump in pumps {
            let sender = "the peer ward 3, of no fixed patient, by its certificate's commonName \(pump)"
            #expect(letters.contains(sender), "\(letters)")
        }
        for pump in pumps {
            let own = try Kymo.run(["query", "--readings", "--device", pump, "--data", folder.file("data")])
            #expect(own.lines.count == 1, "\(pump)")
        }
    }

    /// A certificate that does not say clearly which device it is is nobody's, whatever else it says.
    @Test func whatIsNotClearIsRefused() throws {
        let door = try door("tcp", peers(Self.ward + ["rate: 1000"]))
        var number = 0
        func issue(_ subject: String, _ hosts: String? = nil) throws -> Certificate {
            number += 1
            return try authority.issue("c\(number)", subject: subject, hosts: hosts)
        }
        let cut = try issue("/CN=pump-3-1#x")
        try authority.replace("pump-3-1#x", by: Array("pump-3-1\0x".utf8), in: cut.certificate)
        let hidden = try issue("/CN=pump-4-1#pump-3-1")
        try authority.replace("pump-4-1#pump-3-1", by: Array("pump-4-1\0pump-3-1".utf8), in: hidden.certificate)
        let refused = [
            try issue("/CN=pump-4-1"), try issue("/CN=xpump-3-1"), try issue("/CN=PUMP-3-1"),
            try issue("/CN=pump-3-1/CN=pump-3-2"), try issue("/CN=pump-3-1/CN=pump-3-1"),
            try issue("/CN=ward/CN=pump-3-1"), try issue("/CN=pump-3-1+CN=pump-3-2"), try issue("/CN=pump-3-*"),
            try issue("/O=ward", "DNS:pump-3-1"), try issue("/serialNumber=pump-3-1"), cut, hidden,
        ]
        for (place, certificate) in refused.enumerated() {
            try send(["pump-3-1"], by: certificate, to: door)
            try Waiting.until("refusal \(place + 1): \(door.run.errorText)") {
                try door.authFailures() == ["certificate": place + 1]
            }
        }
        // Alternative names of other kinds are no matter.
        let good = try issue("/CN=pump-3-1/serialNumber=1", "DNS:pump-3-2,DNS:pump-3-3,URI:urn:x")
        try send(["pump-3-1", "pump-3-2"], by: good, to: door)
        try Waiting.until("two lines") { try door.metric("kymo_source_messages_total") == 2 }
        let balance = try door.balance()
        #expect(balance.received == 2 && balance.accepted == 1 && balance.reasons == ["deviceNotAllowed": 1])
    }

    /// The other names by which a device may be known; by an exact name, the ward is one and the device another.
    @Test(arguments: [
        ("dnsName", "\"*\"", "/CN=x", "DNS:pump-3-1", "DNS:pump-3-1,DNS:pump-3-2"),
        ("uri", "\"pump-*\"", "/CN=x", "URI:pump-3-1", "URI:pump-3-1,URI:pump-3-2"),
        ("serialNumber", "\"pump-3*\"", "/CN=x/serialNumber=pump-3-1", nil, "DNS:x"),
        ("commonName", "ward-3.example", "/CN=pump-3-1", "DNS:ward-3.example", "DNS:ward-4.example"),
        ("dnsName", "ward 3", "/CN=ward 3", "DNS:pump-3-1", "DNS:*.pump-3-1"),
    ]) func kindsOfNames(kind: String, pattern: String, subject: String, good: String?, bad: String) throws {
        let door = try door("http", peers(["certificate: \(pattern)", "deviceFrom: \(kind)"]))
        func post(_ certificate: Certificate) throws -> String {
            let lines = ["pump-3-1", "pump-3-2"].map { Readings.heartRate(second: 1, device: $0) }
            let files = ["--cert", certificate.certificate, "--key", certificate.key]
            return try door.post(lines, ["-i", "--cacert", authority.certificate] + files).0
        }
        let own = try post(try authority.issue("good", subject: subject, hosts: good))
        #expect(
            own.hasPrefix("HTTP/1.1 200 ")
                && own.contains("\"rejected\":[{\"index\":1,\"reason\":\"deviceNotAllowed\"}]"),
            "\(own)")
        let twice = kind == "serialNumber" ? "/serialNumber=pump-3-2/serialNumber=pump-3-1" : subject
        let unclear = try post(try authority.issue("bad", subject: twice, hosts: bad))
        #expect(!unclear.hasPrefix("HTTP/1.1 200"), "\(unclear)")
        let balance = try door.balance()
        #expect(balance.received == 2 && balance.accepted == 1 && balance.isClosed, "\(door.run.errorText)")
    }

    @Test func byDTLS() throws {
        let door = try door("udp", peers(Self.ward))
        let pump = try authority.issue("pump-3-1", subject: "/CN=pump-3-1")
        let unclear = try authority.issue("unclear", subject: "/CN=pump-3-1/CN=pump-3-2")
        let client = try DTLSClient(
            port: door.port, .certificate(pump.certificate, key: pump.key), authority: authority.certificate)
        try client.establish()
        for (second, device) in ["pump-3-1", "pump-3-2"].enumerated() {
            client.send(Readings.heartRate(second: second, device: device))
        }
        try Waiting.until("two datagrams") { try door.metric("kymo_source_messages_total") == 2 }
        let other = try DTLSClient(
            port: door.port, .certificate(unclear.certificate, key: unclear.key), authority: authority.certificate)
        try Waiting.until("a refusal") {
            other.advance()
            return try door.authFailures() == ["certificate": 1]
        }
        let balance = try door.balance()
        #expect(balance.accepted == 1 && balance.reasons == ["deviceNotAllowed": 1] && balance.isClosed)
    }

    // MARK: Changes

    /// A list that has changed applies to open connections, with the device of each.
    @Test func changesApplyToOpenConnections() throws {
        let list = peers(Self.ward)
        let door = try door("tcp", list)
        let pump = try authority.issue("pump-3-1", subject: "/CN=pump-3-1", hosts: "DNS:pump-3-9")
        let client = try client(door, pump)
        var (sent, second) = (0, 0)
        func send(_ devices: String...) {
            for device in devices {
                client.write(Readings.ndjson([Readings.heartRate(second: second, device: device)]))
            }
            (sent, second) = (sent + devices.count, second + 1)
        }
        // Each list has one peer more, and so another message.
        func change(_ settings: [String], peers count: Int) throws {
            _ = peers(settings + (1..<count).map { "\n  - addresses: [10.0.0.\($0)]" })
            try Waiting.until("a word of the new list: \(door.run.errorText)") {
                send("pump-0")
                return door.run.errorText.contains("were read again: there are \(count)")
            }
            try Waiting.until("all lines") { try door.metric("kymo_source_messages_total") == sent }
        }
        send("pump-3-1", "pump-3-9")
        try Waiting.until("two lines") { try door.metric("kymo_source_messages_total") == 2 }
        // Neither device's while the list changes.
        try change(["certificate: \"pump-*\"", "deviceFrom: dnsName"], peers: 2)
        send("pump-3-1", "pump-3-9")
        try change(["certificate: pump-3-1", "devices: [pump-3-1, pump-3-9]"], peers: 3)
        send("pump-3-1", "pump-3-9")
        try Waiting.until("all lines") { try door.metric("kymo_source_messages_total") == sent }
        _ = peers(["certificate: \"pump-4-*\"", "deviceFrom: commonName"])
        try Waiting.until("the end of a client that is none any more") {
            client.write(Readings.ndjson([Readings.heartRate(second: second, device: "pump-3-1")]))
            return try door.authFailures() == ["certificate": 1]
        }
        _ = try client.wait()
        let balance = try door.balance()
        #expect(balance.isClosed, "\(door.run.errorText)")
        func readings(_ device: String) throws -> Int {
            try Kymo.run(["query", "--readings", "--device", device, "--data", folder.file("data")]).lines.count
        }
        // Those that came before the last list was read are of the one before.
        #expect(try readings("pump-3-9") == 2 && readings("pump-0") == 0 && readings("pump-3-1") >= 2)
    }

    /// A letter comes again as of the device by whose certificate it came.
    @Test func lettersComeAgainForTheirDevice() throws {
        let list = peers(Self.ward)
        let door = try door("tcp", list, ["mappings: [wristband]"])
        let pumps = ["pump-3-1", "pump-3-2"]
        for pump in pumps { try send(pumps, by: try authority.issue(pump, subject: "/CN=\(pump)"), to: door) }
        try Waiting.until("four lines") { try door.metric("kymo_source_messages_total") == 4 }
        #expect(try door.balance().reasons == ["noTemplate": 4])
        let file = folder.file("kymo.yaml")
        Files.write(Array(Files.text(file).replacing("[wristband]", with: "[reading]").utf8), to: file)
        func replay() throws -> (text: String, readings: Int) {
            let data = ["--data", folder.file("data")]
            let done = try Kymo.run(["dead", "replay", "--all", "--config", file, "--out", folder.file("out")] + data)
            return (done.error, try Kymo.run(["query", "--readings"] + data).lines.count)
        }
        // Of another kind of name, or of other beginnings, the letters' devices are none of the peer's.
        for other in [
            ["certificate: \"pump-3-*\"", "name: ward 3", "deviceFrom: uri"],
            ["certificate: \"pump-4-*\"", "name: ward 3", "deviceFrom: commonName"],
        ] {
            _ = peers(other)
            let (text, readings) = try replay()
            #expect(readings == 0, "\(other): \(text)")
        }
        _ = peers(Self.ward)
        let (text, readings) = try replay()
        #expect(readings == 2, "\(text)")
        for pump in pumps {
            let own = try Kymo.run(["query", "--readings", "--device", pump, "--data", folder.file("data")])
            #expect(own.lines.count == 1, "\(pump)")
        }
    }

    // MARK: Mistakes

    @Test func mistakesAreSaid() throws {
        let (certificate, key) = try authority.issue("localhost")
        let files = ["certificateFile: \(certificate)", "certificateKeyFile: \(key)"]
        let cases = [
            (
                "- certificate: \"pump-*\"\n",
                ":2:18: peers[0].certificate: 'pump-*' does not say in which name of a certificate it is looked for"
            ),
            (
                "- certificate: a\n    deviceFrom: name\n",
                ":3:17: peers[0].deviceFrom: 'name' is not one of commonName, serialNumber, dnsName, uri"
            ),
            ("- certificate: a\n    deviceFrom: mail\n", ":3:17: peers[0].deviceFrom: 'mail' is not one of"),
            (
                "- certificate: a\n    devices: [b]\n    deviceFrom: uri\n",
                ":4:17: peers[0].deviceFrom: 'deviceFrom' is given besides 'devices'"
            ),
            (
                "- addresses: [10.0.0.1]\n    deviceFrom: uri\n",
                ":3:17: peers[0].deviceFrom: 'deviceFrom' is for peers that are known by their certificate"
            ),
            (
                "- certificate: \"pump-*\"\n    deviceFrom: uri\n  - certificate: pump-3\n    devices: [x]\n",
                ":4:18: peers[1].certificate: certificates of 'pump-3' are those of 'pump-*', too"
            ),
            (
                "- certificate: \"pump-3-*\"\n    deviceFrom: uri\n  - certificate: \"*\"\n    deviceFrom: uri\n",
                ":2:18: peers[0].certificate: certificates of 'pump-3-*' are those of '*', too"
            ),
            (
                "- certificate: \"p-*\"\n    deviceFrom: uri\n  - certificate: \"p-*\"\n    deviceFrom: dnsName\n",
                ":4:18: peers[1].certificate: another peer has the same"
            ),
        ]
        for (text, message) in cases {
            let list = folder.write("peers.yaml", "peers:\n  \(text)")
            let source = TLSText.source(
                "tcp", files + ["clientCAFile: \(authority.certificate)", "peers: \(list)"])
            let done = try Kymo.run(["check", "--config", folder.write("k.yaml", "sources:\n\(source)\n")])
            #expect(done.end == .exit(78) && done.error.contains(message), "\(text): \(done.error)")
        }
    }
}
