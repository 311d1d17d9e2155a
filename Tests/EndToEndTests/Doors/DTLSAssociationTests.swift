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
        var longest = 0
        for (place, change) in changes.enumerated() {
            let relay = try DatagramRelay(to: door.port) { direction, number, bytes in
                if direction == .toClient { longest = max(longest, bytes.count) }
                return change(direction, number, bytes)
            }
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
        // With the heads of IPv4 and UDP: what every network carries.
        #expect(longest > 0 && longest + 28 <= 1_280, "\(longest)")
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
            let answer = try answer(to: hello, at: door)
            if isHelloVerifyRequest(answer) { (answers, longest) = (answers + 1, max(longest, answer.count)) }
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
        // The thief is asked for a cookie of its own.
        #expect(second.count > hello.count)
        let answer = try answer(to: second, at: door)
        #expect(isHelloVerifyRequest(answer), "\(answer)")
        good.send(Readings.heartRate(second: 1))
        try wait(for: 1, at: door) { relay.pump() }
        #expect(try door.metric("kymo_source_connections_total") == 1)
        #expect(try door.metric("kymo_source_connections") == 1)
    }

    /// What the source answers to `datagram` from a port of its own; nothing when it does not within 5 s.
    private func answer(to datagram: [UInt8], at door: Door) throws -> [UInt8] {
        let sender = try Loopback.connect(port: door.port, isUDP: true)
        defer { close(sender) }
        var (answer, patience) = ([UInt8](repeating: 0, count: 2_048), timeval(tv_sec: 5, tv_usec: 0))
        // Safe: the arrays are lent for the calls.
        unsafe send(sender, datagram, datagram.count, 0)
        unsafe setsockopt(sender, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let size = unsafe recv(sender, &answer, answer.count, 0)
        return Array(answer.prefix(max(size, 0)))
    }

    /// Whether `datagram` asks for a cookie: a record of a handshake (22) with a HelloVerifyRequest (3).
    private func isHelloVerifyRequest(_ datagram: [UInt8]) -> Bool {
        datagram.count > 13 && datagram[0] == 22 && datagram[13] == 3
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

    /// A port that another client gets is that client's: neither the former's identity nor its keys have a part in it.
    @Test func aPortThatAnotherClientGets() throws {
        let keys = (1...2).map { ("pump-\($0)", Self.key(of: $0)) }
        let file = DTLSText.keys(keys.map { "\($0.0):\(Self.digits($0.1))\n" }.joined(), in: folder)
        let rules = (1...2).map { "  - pskIdentity: pump-\($0)\n    devices: [watch-\($0)]\n" }.joined()
        let peers = folder.write("peers.yaml", "peers:\n\(rules)")
        let door = try Door(TLSText.source("udp", ["pskFile: \(file)", "peers: \(peers)"]), in: folder)
        // Both send from the port of `relay`.
        let (relay, detour) = (try DatagramRelay(to: door.port), try DatagramRelay(to: door.port))
        detour.change = { direction, _, bytes in
            if direction == .toServer { relay.inject(bytes, .toServer) }
            return direction == .toServer ? [] : [bytes]
        }
        let first = try DTLSClient(port: relay.port, .psk(identity: keys[0].0, key: keys[0].1))
        try first.establish { relay.pump() }
        first.send(Readings.heartRate(second: 1, device: "watch-1"))
        try wait(for: 1, at: door) { relay.pump() }
        relay.change = { direction, _, bytes in
            if direction == .toClient { detour.inject(bytes, .toClient) }
            return direction == .toClient ? [] : [bytes]
        }
        let second = try DTLSClient(port: detour.port, .psk(identity: keys[1].0, key: keys[1].1))
        let pump = {
            detour.pump()
            relay.pump()
        }
        try second.establish(pump)
        second.send(Readings.heartRate(second: 2, device: "watch-1"))
        second.send(Readings.heartRate(second: 3, device: "watch-2"))
        try wait(for: 3, at: door, pump)
        // The former keys open nothing any more.
        first.send(Readings.heartRate(second: 4, device: "watch-1"))
        pump()
        second.send(Readings.heartRate(second: 5, device: "watch-2"))
        try wait(for: 4, at: door, pump)
        #expect(try door.metric("kymo_source_connections") == 1)
        let balance = try door.balance()
        #expect(balance.accepted == 3 && balance.reasons == ["deviceNotAllowed": 1] && balance.isClosed)
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
        // What is agreed on anew has its time.
        let again = try DTLSClient(port: door.port)
        try again.establish()
        #expect(try door.metric("kymo_source_connections") == 1)
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
        let clients = try (1...5).map { try DTLSClient(port: door.port, from: $0) }
        try Waiting.until("five handshakes") {
            for client in clients { client.advance() }
            return clients.allSatisfy(\.isEstablished)
        }
        #expect(try door.refusals()["handshakeRate"] ?? 0 > 0)
        #expect(try door.metric("kymo_source_connections") == 5)
    }

    /// A host that begins many handshakes keeps none of another host waiting.
    @Test func handshakesOfOneHost() throws {
        let door = try door(["handshakeRate: 4"])
        let crowd = try (0..<20).map { _ in try DTLSClient(port: door.port) }
        try Waiting.until("a refusal") {
            for client in crowd { client.advance() }
            return try door.refusals()["handshakeRatePerPeer"] ?? 0 > 0
        }
        let other = try DTLSClient(port: door.port, from: 2)
        try other.establish { for client in crowd { client.advance() } }
        #expect(try door.refusals()["handshakeRate"] == nil)
        #expect(door.run.errorText.contains("more than 2 handshakes per second by its host"), "\(door.run.errorText)")
    }

    /// On all addresses, each client is answered from the address that it has sent to.
    @Test func answersComeFromTheAddressThatWasAsked() throws {
        let settings = try DTLSText.certificate(authority).map { "    \($0)" }
        let door = try Door((["  - udp: 0.0.0.0:0"] + settings).joined(separator: "\n"), in: folder)
        for host: UInt8 in 1...3 {
            let client = try DTLSClient(port: door.port, to: host)
            try client.establish()
            client.send(Readings.heartRate(second: Int(host)))
            try wait(for: Int(host), at: door)
        }
        #expect(try door.balance().accepted == 3)
    }

    /// Clients are known to one socket: no other process gets a part of their datagrams, however many lanes there are.
    @Test func thePortIsSharedWithNobody() throws {
        let source = TLSText.source("udp", try DTLSText.certificate(authority))
        let door = try Door(source + "\n  - tcp: 127.0.0.1:0", in: folder, settings: "lanes: 2\n")
        let text = Files.text(folder.file("kymo.yaml")).replacing(
            "udp: 127.0.0.1:0", with: "udp: 127.0.0.1:\(door.port)")
        let other = try Kymo.run(
            ["run", "--config", folder.write("other.yaml", text), "--data", folder.file("other")])
        #expect(other.end != .exit(0))
        #expect(
            other.error.contains("cannot listen to udp 127.0.0.1:\(door.port)") && other.error.contains("in use"),
            "\(other.error)")
        let client = try DTLSClient(port: door.port)
        try client.establish()
        client.send(Readings.heartRate(second: 1))
        try wait(for: 1, at: door)
        #expect(try door.balance().accepted == 1)
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
        let ofDevices = Dictionary(grouping: query.lines) { $0.split(separator: "\"").first { $0.hasPrefix("unit-") } }
        for (place, name) in names.enumerated() {
            let own = ofDevices[name[...]] ?? []
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
            try run.waitForError("there is no association")
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
