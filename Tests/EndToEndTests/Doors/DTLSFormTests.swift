import CommandSupport
import KymographTestKit
import Testing

/// Forms of DTLS that other libraries than OpenSSL send.
@Suite struct DTLSFormTests {
    private let folder = TemporaryFolder()
    private static let key = "000102030405060708090a0b0c0d0e0f"
    private static let bytes = (0..<16).map { UInt8($0) }

    private func door() throws -> Door {
        let keys = DTLSText.keys("pump-1:\(Self.key)\n", in: folder)
        return try Door(TLSText.source("udp", ["pskFile: \(keys)"]), in: folder)
    }

    /// Catches: the rest of a ClientHello that is taken for a new one, so that the handshake never goes on.
    @Test func aHelloInFragments() throws {
        let door = try door()
        var pieces = 0
        let relay = try DatagramRelay(to: door.port) { direction, _, bytes in
            guard direction == .toServer, let fragments = Self.fragments(bytes) else { return [bytes] }
            pieces += fragments.count
            return fragments
        }
        let client = try DTLSClient(port: relay.port, .psk(identity: "pump-1", key: Self.bytes))
        try client.establish { relay.pump() }
        client.send(Readings.heartRate(second: 0))
        try Waiting.until("a reading: \(door.run.errorText)") {
            relay.pump()
            return try door.metric("kymo_source_messages_total") == 1
        }
        #expect(pieces == 2)
        #expect(try door.refusals() == [:])
        #expect(try door.balance().accepted == 1)
    }

    /// The two fragments of a ClientHello with a cookie, in datagrams of their own (RFC 6347, section 4.2.3); nil of
    /// other datagrams. The last has a record number of its own, which its client does not use in a handshake.
    private static func fragments(_ datagram: [UInt8]) -> [[UInt8]]? {
        let (head, message) = (Array(datagram.prefix(13)), Array(datagram.dropFirst(13)))
        // Handshake, epoch 0, ClientHello; behind version, random and session the cookie's length.
        guard head.count == 13, head[0] == 22, head[3] == 0, head[4] == 0, message.count > 80, message[0] == 1,
            message[12 + 2 + 32] == 0, message[12 + 2 + 32 + 1] > 0
        else { return nil }
        let body = Array(message.dropFirst(12))
        let cut = body.count - 10
        func piece(_ range: Range<Int>, _ sequence: UInt8) -> [UInt8] {
            let content = Array(body[range])
            let size = content.count + 12
            return Array(head.prefix(10)) + [sequence, UInt8(size >> 8), UInt8(size & 0xFF)] + message.prefix(6)
                + [0, UInt8(range.lowerBound >> 8), UInt8(range.lowerBound & 0xFF)]
                + [0, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
        return [piece(0..<cut, head[10]), piece(cut..<body.count, head[10] + 20)]
    }

    /// Catches: records behind the first 16 KiB of a datagram that are lost, and counted nowhere.
    @Test func severalLongRecordsInADatagram() throws {
        let door = try door()
        var (isOpen, held): (Bool, [[UInt8]]) = (false, [])
        let relay = try DatagramRelay(to: door.port) { direction, _, bytes in
            guard direction == .toServer, isOpen else { return [bytes] }
            held.append(bytes)
            guard held.count == 4 else { return [] }
            defer { held = [] }
            return [Array(held.joined())]
        }
        let client = try DTLSClient(port: relay.port, .psk(identity: "pump-1", key: Self.bytes))
        try client.establish { relay.pump() }
        isOpen = true
        for second in 0..<8 {
            let size = [15_000, 16_200, 100, 16_000][second % 4]
            client.send(Readings.heartRate(second: second) + String(repeating: " ", count: size))
        }
        try Waiting.until("eight readings: \(door.run.errorText)") {
            relay.pump()
            return try door.metric("kymo_source_messages_total") == 8
        }
        #expect(try door.refusals() == [:])
        #expect(try door.balance().accepted == 8)
    }

    /// Catches: an empty record, which clients send to keep their address (RFC 5246, section 6.2.1), that ends the
    /// association.
    @Test func emptyRecords() throws {
        let door = try door()
        let client = try DTLSClient(port: door.port, .psk(identity: "pump-1", key: Self.bytes))
        try client.establish()
        for count in 0..<3 {
            #expect(client.sendEmpty(UInt8(40 + count)))
            client.send(Readings.heartRate(second: count))
            try Waiting.until("reading \(count): \(door.run.errorText)") {
                try door.metric("kymo_source_messages_total") == count + 1
            }
        }
        #expect(try door.metric("kymo_source_connections") == 1)
        #expect(try door.refusals() == [:])
        #expect(try door.balance().accepted == 3)
    }
}
