import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Associations by DTLS: how they begin on a bad network, what bounds them, and how they end.
@Suite struct DTLSAssociationTests {
    private let folder = TemporaryFolder()
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    private func door(_ settings: [String] = []) throws -> Door {
        try Door(TLSText.source("udp", DTLSText.certificate(authority) + settings), in: folder)
    }

    /// Waits until the source has read `count` payloads.
    private func wait(for count: Int, at door: Door, _ pump: () -> Void = {}) throws {
        try Waiting.until("\(count) messages: \(door.run.errorText)") {
            pump()
            return try door.metric("kymo_source_messages_total") == count
        }
    }

    /// Datagrams of the handshake are lost and doubled: it comes to its end all the same.
    @Test func handshakesOnABadNetwork() throws {
        let door = try door()
        let client = try authority.issue("client")
        var generator = Seeded(0x1055)
        let changes: [(DatagramRelay.Direction, Int, [UInt8]) -> [[UInt8]]] = [
            { _, number, bytes in number == 0 ? [] : [bytes] },
            { _, number, bytes in number == 1 ? [] : [bytes] },
            { _, _, bytes in generator.happens(oneIn: 4) ? [] : [bytes] },
            { _, _, bytes in [bytes, bytes, bytes] },
        ]
        for (place, change) in changes.enumerated() {
            let relay = try DatagramRelay(to: door.port, change)
            let client = try DTLSClient(
                port: relay.port, .certificate(client.certificate, key: client.key), authority: authority.certificate)
            try client.establish { relay.pump() }
            relay.change = { _, _, bytes in [bytes] }
            client.send(Readings.heartRate(second: place))
            try wait(for: place + 1, at: door) { relay.pump() }
        }
        #expect(try door.metric("kymo_source_connections_total") == changes.count)
        #expect(try door.metric("kymo_source_connections") == changes.count)
        #expect(try door.metric("kymo_source_tls_failures_total") == 0)
        #expect(try door.balance().accepted == changes.count)
    }

    /// What is sent once is taken once, however often it comes; what was changed on the way is not taken, and disturbs
    /// nobody.
    @Test func recordsAreDoubledAndChanged() throws {
        let door = try door()
        let relay = try DatagramRelay(to: door.port)
        let client = try DTLSClient(port: relay.port, authority: authority.certificate)
        try client.establish { relay.pump() }
        var generator = Seeded(0xD715)
        for second in 0..<200 {
            relay.change = { direction, _, bytes in
                guard direction == .toServer else { return [bytes] }
                var copies = (0..<20).map { _ in generator.changed(bytes) }
                copies.append(bytes)
                copies.append(bytes)
                return copies
            }
            client.send(Readings.heartRate(second: second))
            relay.pump()
        }
        try wait(for: 200, at: door)
        #expect(try door.metric("kymo_source_connections") == 1)
        let balance = try door.balance()
        #expect(balance.received == 200 && balance.accepted == 200 && balance.isClosed)
    }

    /// Nothing is kept of a ClientHello until its sender has shown that it receives what is sent to its address, and less
    /// is sent there than has come.
    @Test func aHelloLeavesNothing() throws {
        let door = try door()
        var hello: [UInt8] = []
        let probe = try DatagramRelay(to: door.port) { direction, _, bytes in
            if direction == .toServer, hello.isEmpty { hello = bytes }
            return []
        }
        let client = try DTLSClient(port: probe.port)
        try Waiting.until("a ClientHello") {
            client.advance()
            probe.pump()
            return !hello.isEmpty
        }
        var (answers, longest) = (0, 0)
        for _ in 0..<2_000 {
            let sender = try Loopback.connect(port: door.port, isUDP: true)
            defer { close(sender) }
            // Safe: the arrays are lent for the calls.
            unsafe send(sender, hello, hello.count, 0)
            var answer = [UInt8](repeating: 0, count: 2_048)
            var patience = timeval(tv_sec: 5, tv_usec: 0)
            unsafe setsockopt(sender, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            let size = unsafe recv(sender, &answer, answer.count, 0)
            if size > 0 { (answers, longest) = (answers + 1, max(longest, size)) }
        }
        #expect(answers == 2_000 && longest > 0 && longest <= hello.count, "\(answers), \(longest)")
        #expect(try door.metric("kymo_source_connections_total") == 0)
        #expect(try door.refusals() == [:])
        // A cookie is its own address's: that of one client does not let in another.
        var second: [UInt8] = []
        let relay = try DatagramRelay(to: door.port) { direction, number, bytes in
            if direction == .toServer, number == 1 { second = bytes }
            return [bytes]
        }
        let good = try DTLSClient(port: relay.port)
        try good.establish { relay.pump() }
        let thief = try Loopback.connect(port: door.port, isUDP: true)
        defer { close(thief) }
        unsafe send(thief, second, second.count, 0)
        good.send(Readings.heartRate(second: 1))
        try wait(for: 1, at: door) { relay.pump() }
        #expect(try door.metric("kymo_source_connections_total") == 1)
        #expect(try door.metric("kymo_source_connections") == 1)
    }

    /// What is sent in another's name changes nothing of what was agreed on with it. When it begins again itself, the former
    /// association goes on until the new one is there.
    @Test func nobodyElseEndsAnAssociation() throws {
        let door = try door()
        let relay = try DatagramRelay(to: door.port)
        let client = try DTLSClient(port: relay.port)
        try client.establish { relay.pump() }
        client.send(Readings.heartRate(second: 0))
        try wait(for: 1, at: door) { relay.pump() }
        // Alerts (fatal, and the end), without a key and with a wrong one.
        for epoch: UInt8 in [0, 1] {
            for alert: [UInt8] in [[2, 40], [1, 0]] {
                let body =
                    epoch == 0 ? alert : [UInt8](repeating: 9, count: 8) + alert + [UInt8](repeating: 7, count: 16)
                relay.inject([21, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 1, 0, 0, UInt8(body.count)] + body, .toServer)
            }
        }
        client.send(Readings.heartRate(second: 1))
        try wait(for: 2, at: door) { relay.pump() }
        // Another one at the same address, which has the cookie and comes no further.
        var mayFinish = false
        let detour = try DatagramRelay(to: door.port)
        detour.change = { direction, number, bytes in
            guard direction == .toServer else { return [bytes] }
            if number < 2 || mayFinish { relay.inject(bytes, .toServer) }
            return []
        }
        relay.change = { direction, _, bytes in
            if direction == .toClient { detour.inject(bytes, .toClient) }
            return [bytes]
        }
        let second = try DTLSClient(port: detour.port)
        let pump = {
            second.advance()
            detour.pump()
            relay.pump()
        }
        for _ in 0..<200 {
            pump()
            usleep(1_000)
        }
        client.send(Readings.heartRate(second: 2))
        try wait(for: 3, at: door, pump)
        #expect(!second.isEstablished)
        #expect(try door.metric("kymo_source_connections_total") == 1)
        mayFinish = true
        try second.establish { pump() }
        client.send(Readings.heartRate(second: 3))
        relay.pump()
        second.send(Readings.heartRate(second: 4))
        try wait(for: 4, at: door, pump)
        #expect(try door.metric("kymo_source_connections_total") == 2)
        #expect(try door.metric("kymo_source_connections") == 1)
        #expect(try door.balance().accepted == 4)
        let query = try Kymo.run(["query", "--readings", "--data", folder.file("data")])
        #expect(query.text.contains("08:00:04") && !query.text.contains("08:00:03"), "\(query.text)")
    }

    /// Who is silent is forgotten, hears so, and can begin again from the same port.
    @Test func silenceEndsAnAssociation() throws {
        let door = try door(["associationIdle: 1s"])
        let client = try DTLSClient(port: door.port)
        try client.establish()
        client.send(Readings.heartRate(second: 1))
        try wait(for: 1, at: door)
        try Waiting.until("the end of the association") {
            client.advance()
            return client.hasEnded
        }
        #expect(try door.refusals() == ["idle": 1])
        #expect(try door.metric("kymo_source_connections_idle_total") == 1)
        #expect(try door.metric("kymo_source_connections") == 0)
        client.sendPlain([23, 0xFE, 0xFD, 0, 1] + [UInt8](repeating: 0, count: 40))
        try Waiting.until("a datagram of no association") { try door.refusals()["noAssociation"] == 1 }
    }

    /// Each limit is counted by its name, and whoever came before is not disturbed.
    @Test func limits() throws {
        let door = try door(["associations: 3", "associationsPerPeer: 2", "handshakeRate: 100"])
        let first = try (0..<2).map { _ in try DTLSClient(port: door.port) }
        for client in first { try client.establish() }
        let third = try DTLSClient(port: door.port)
        try Waiting.until("a third of the host") {
            third.advance()
            return try door.refusals()["associationsPerPeer"] ?? 0 > 0
        }
        let other = try DTLSClient(port: door.port, from: 2)
        try other.establish()
        let beyond = try DTLSClient(port: door.port, from: 3)
        try Waiting.until("a fourth in all") {
            beyond.advance()
            return try door.refusals()["associations"] ?? 0 > 0
        }
        #expect(!third.isEstablished && !beyond.isEstablished)
        for (second, client) in (first + [other]).enumerated() { client.send(Readings.heartRate(second: second)) }
        try wait(for: 3, at: door)
        #expect(try door.metric("kymo_source_connections_refused_total") > 1)
        // One has ended: there is room again.
        other.end()
        try beyond.establish()
        #expect(door.run.errorText.contains("raise associationsPerPeer"), "\(door.run.errorText)")
        #expect(try door.balance().accepted == 3)
    }

    /// Handshakes beyond the rate wait for their next ClientHello, and come to their end.
    @Test func handshakesBeyondTheRateComeLater() throws {
        let door = try door(["handshakeRate: 2"])
        let clients = try (0..<5).map { _ in try DTLSClient(port: door.port) }
        try Waiting.until("five handshakes") {
            for client in clients { client.advance() }
            return clients.allSatisfy(\.isEstablished)
        }
        #expect(try door.refusals()["handshakeRate"] ?? 0 > 0)
        #expect(try door.metric("kymo_source_connections") == 5)
    }

    /// Clients that each have a key and a device of their own: what comes is each one's own.
    @Test func manyClientsAreKeptApart() throws {
        let count = SharedMaterial.environment["KYMO_TORTURE"] == nil ? 150 : 1_000
        let (readings, names) = (5, (0..<count).map { "unit-\($0)" })
        let keys = names.enumerated().map { place, name in (name, Self.key(of: place)) }
        let file = DTLSText.keys(keys.map { "\($0.0):\(Self.digits($0.1))\n" }.joined(), in: folder)
        let rules = names.map { "  - pskIdentity: \($0)\n    devices: [\($0)]\n" }.joined()
        let peers = folder.write("peers.yaml", "peers:\n\(rules)")
        let source = TLSText.source("udp", ["pskFile: \(file)", "handshakeRate: 1000", "peers: \(peers)"])
        let door = try Door(source, in: folder)
        let clients = try keys.map { try DTLSClient(port: door.port, .psk(identity: $0.0, key: $0.1)) }
        try Waiting.until("\(count) handshakes: \(door.run.errorText)", seconds: 120) {
            for client in clients where !client.isEstablished { client.advance() }
            return clients.allSatisfy(\.isEstablished)
        }
        for second in 0..<readings {
            for (place, client) in clients.enumerated() {
                client.send(Readings.heartRate(second: second, value: 40 + place % 100, device: names[place]))
                // And one of its neighbour's, which is none of its own.
                if second == 0 {
                    client.send(Readings.heartRate(second: second, value: 1, device: names[(place + 1) % count]))
                }
            }
            try wait(for: (second + 1) * count + count, at: door)
        }
        #expect(try door.metric("kymo_source_connections") == count)
        let balance = try door.balance()
        #expect(balance.accepted == count * readings && balance.isClosed, "\(door.run.errorText)")
        #expect(balance.reasons == ["deviceNotAllowed": count])
        let query = try Kymo.run(["query", "--readings", "--limit", "\(count)", "--data", folder.file("data")])
        #expect(query.lines.count == count * readings)
        for (place, name) in names.enumerated() {
            let own = query.lines.filter { $0.contains("\"\(name)\"") }
            #expect(own.count == readings && own.allSatisfy { $0.contains("\(40 + place % 100)") }, "\(name): \(own)")
        }
    }

    private static func key(of place: Int) -> [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: place &* 31 &+ $0 &* 7) }
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// After a restart clients begin again. Where it ends by itself they hear so; where it was killed they do not, and what they
    /// send is counted.
    @Test(arguments: [true, false]) func restarts(isKilled: Bool) throws {
        let before = try door()
        let (port, client) = (before.port, try DTLSClient(port: before.port))
        try client.establish()
        client.send(Readings.heartRate(second: 1))
        try wait(for: 1, at: before)
        if isKilled {
            before.run.signal(9)
            _ = try before.run.wait()
        } else {
            #expect(try before.balance().accepted == 1)
            try Waiting.until("the end of the association") {
                client.advance()
                return client.hasEnded
            }
        }
        let text = Files.text(folder.file("kymo.yaml")).replacing(
            "127.0.0.1:0\n    cert", with: "127.0.0.1:\(port)\n    cert")
        let run = try Kymo.start(["run", "--config", folder.write("again.yaml", text), "--data", folder.file("data")])
        _ = try run.addresses()
        if isKilled {
            // The first one may meet the word that the port was closed.
            for second in 2..<5 { client.send(Readings.heartRate(second: second)) }
            try run.waitForError("with which there is no association")
        }
        let again = try DTLSClient(port: port)
        try again.establish()
        again.send(Readings.heartRate(second: 9))
        try Waiting.until("a reading after the restart: \(run.errorText)") {
            try AdminClient(run).value("kymo_source_messages_total{source=\"udp 127.0.0.1:\(port)\"}") == 1
        }
        let balance = try run.terminate().balance
        #expect(balance?.received == 1 && balance?.accepted == 1 && balance?.isClosed == true)
    }

    /// New clients get the new certificate and the new keys; who is there goes on. Broken files change nothing.
    @Test func certificatesAndKeysAreRenewed() throws {
        let (certificate, key) = try authority.issue("first")
        let old = [UInt8](repeating: 1, count: 16)
        let keys = DTLSText.keys("pump-1:\(Self.digits(old))\n", in: folder)
        let settings = ["certificateFile: \(certificate)", "certificateKeyFile: \(key)", "pskFile: \(keys)"]
        let door = try Door(TLSText.source("udp", settings), in: folder)
        let byCertificate = try DTLSClient(port: door.port, authority: authority.certificate)
        let byKey = try DTLSClient(
            port: door.port, .psk(identity: "pump-1", key: old), ciphers: "PSK-AES128-GCM-SHA256")
        for client in [byCertificate, byKey] { try client.establish() }
        let (newCertificate, newKey) = try authority.issue("second")
        Files.write(Array("pump-1:short\n".utf8), to: keys)
        try Waiting.until("a word of the broken keys: \(door.run.errorText)") {
            _ = try subject(door)
            return door.run.errorText.contains("the former files stay in use: \(keys):1:1: the line")
        }
        let new = [UInt8](repeating: 2, count: 16)
        Files.write(Array("pump-1:\(Self.digits(new))\n".utf8), to: keys)
        Files.write(Files.read(newKey), to: key)
        Files.write(Files.read(newCertificate), to: certificate)
        try Waiting.until("the second certificate") { try subject(door).contains("CN = second") }
        for (second, client) in [byCertificate, byKey].enumerated() { client.send(Readings.heartRate(second: second)) }
        try wait(for: 2, at: door)
        let again = try DTLSClient(
            port: door.port, .psk(identity: "pump-1", key: new), ciphers: "PSK-AES128-GCM-SHA256")
        try again.establish()
        again.send(Readings.heartRate(second: 2))
        try wait(for: 3, at: door)
        #expect(!door.run.errorText.contains(Self.digits(new)) && !door.run.errorText.contains("short"))
        #expect(try door.balance().accepted == 3)
    }

    /// The subject of the certificate that a client is shown.
    private func subject(_ door: Door) throws -> String {
        let done = try ChildProcess(
            "openssl", ["s_client", "-dtls1_2", "-connect", "127.0.0.1:\(door.port)"], input: .bytes([])
        ).finish()
        return done.text
    }
}

/// Changes of bytes that are the same each time.
private struct Seeded {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    private mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    /// Whether something happens that does so once in `count` times.
    mutating func happens(oneIn count: Int) -> Bool { next(count) == 0 }

    /// `bytes` with some bits flipped, cut, or with more behind them; never as they are.
    mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
        var copy = bytes
        switch next(4) {
        case 0: copy.removeLast(1 + next(copy.count - 1))
        case 1: copy.insert(UInt8(next(256)), at: next(copy.count))
        default:
            for _ in 0...next(3) { copy[next(copy.count)] ^= UInt8(1 << next(8)) }
        }
        return copy == bytes ? [] : copy
    }
}
