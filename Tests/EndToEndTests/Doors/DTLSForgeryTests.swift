import CommandSupport
import KymographTestKit
import Testing

/// Records that somebody sends in the name of a client without its key: whoever can forge an address can.
@Suite struct DTLSForgeryTests {
    private let folder = TemporaryFolder()
    private static let key: [UInt8] = (0..<16).map { $0 }

    /// A source with the pre-shared key of `pump-1`.
    private func door(_ settings: [String] = []) throws -> Door {
        let keys = DTLSText.keys("pump-1:000102030405060708090a0b0c0d0e0f\n", in: folder)
        return try Door(TLSText.source("udp", ["pskFile: \(keys)", "pskCCM8: true"] + settings), in: folder)
    }

    private func client(_ port: UInt16, _ cipher: String, fragment: UInt8 = 0) throws -> DTLSClient {
        try DTLSClient(port: port, .psk(identity: "pump-1", key: Self.key), ciphers: cipher, fragment: fragment)
    }

    /// Sends a reading by `client`, the one after `count` others.
    private func send(_ count: Int, by client: DTLSClient, to door: Door) throws {
        client.send(Readings.heartRate(second: count))
        try Waiting.until("message \(count + 1): \(door.run.errorText)") {
            try door.metric("kymo_source_messages_total") == count + 1
        }
    }

    /// A record of `type` and `epoch` with a body of `length` bytes.
    private func record(
        _ type: UInt8 = 23, version: [UInt8] = [0xFE, 0xFD], epoch: UInt8 = 1, sequence: Int = 9, length: Int
    ) -> [UInt8] {
        [type] + version + [0, epoch, 0, 0, 0, 0] + bytes(of: sequence) + bytes(of: length)
            + [UInt8](repeating: 7, count: length)
    }

    private func bytes(of number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    /// A record shorter than what its cipher adds to the data ends no association: libssl takes it for a failure of its
    /// own (openssl #25290), so it must not see it.
    @Test(arguments: [("PSK-AES128-GCM-SHA256", 24), ("PSK-AES128-CCM8", 16)])
    func shortRecords(cipher: String, least: Int) throws {
        let door = try door()
        let client = try client(door.port, cipher)
        try client.establish()
        for length in 1...24 {
            client.sendPlain(record(length: length))
            client.sendPlain(record(22, sequence: 300, length: length))
            // Behind one that is long enough, and has a wrong tag.
            client.sendPlain(record(length: 40) + record(length: length))
            try send(length - 1, by: client, to: door)
        }
        #expect(try door.refusals() == ["badRecord": 3 * (least - 1)])
        #expect(try door.metric("kymo_source_connections") == 1)
        #expect(try door.metric("kymo_source_connections_total") == 1)
        #expect(door.run.errorText.contains("too short for its cipher"), "\(door.run.errorText)")
        let balance = try door.balance()
        #expect(balance.received == 24 && balance.accepted == 24 && balance.isClosed)
    }

    /// Where libssl drops a record by its head alone, it reads on in the body: a short record there ends nothing either.
    @Test(arguments: [UInt8(0), 1]) func recordsWithinRecords(fragment: UInt8) throws {
        let door = try door()
        let client = try client(door.port, "PSK-AES128-GCM-SHA256", fragment: fragment)
        try client.establish()
        let short = record(length: 9)
        let heads: [[UInt8]] = [
            record(version: [0xFE, 0xFF], length: 0), record(version: [0xFE, 0xFC], length: 0),
            record(99, version: [0xFE, 0xFF], length: 0), record(version: [3, 3], length: 0),
            record(epoch: 0, length: 0), record(20, epoch: 2, length: 0),
        ]
        var count = 0
        // A record of another version, and one that is longer than any, and than those that the client has asked for.
        for length in [short.count, 520, 1_000, 17_000, 40_000] {
            for head in heads {
                let lying = Array(head.dropLast(2)) + bytes(of: length) + short
                client.sendPlain(lying + [UInt8](repeating: 0, count: max(length - short.count, 0)))
                client.sendPlain(record(length: 40) + lying)
                try send(count, by: client, to: door)
                count += 1
            }
            let good = Array(record(length: 0).dropLast(2)) + bytes(of: length) + short
            client.sendPlain(good + [UInt8](repeating: 0, count: length - short.count))
            try send(count, by: client, to: door)
            count += 1
        }
        #expect(try door.metric("kymo_source_connections") == 1)
        #expect(try door.refusals()["failed"] == nil)
        #expect(try door.refusals()["badRecord"] ?? 0 > 0)
        #expect(try door.balance().accepted == count)
    }

    /// What is encrypted before there is a key is kept by libssl until there is one: little of it is given to it.
    @Test func recordsAheadOfAHandshake() throws {
        let door = try door()
        let relay = try DatagramRelay(to: door.port)
        // The last datagrams of the handshake do not come.
        var isHalfDone = false
        relay.change = { direction, number, bytes in
            guard direction == .toServer, number > 1 else { return [bytes] }
            isHalfDone = true
            return []
        }
        let client = try client(relay.port, "PSK-AES128-GCM-SHA256")
        try Waiting.until("half a handshake") {
            client.advance()
            relay.pump()
            return isHalfDone
        }
        for sequence in 0..<200 { relay.inject(record(22, sequence: sequence, length: 1_000), .toServer) }
        try Waiting.until("refusals: \(door.run.errorText)") { try door.refusals()["earlyRecord"] == 192 }
        // They do not keep out what the client itself sends again, with its Finished.
        relay.change = { _, _, bytes in [bytes] }
        try client.establish { relay.pump() }
        client.send(Readings.heartRate(second: 1))
        try Waiting.until("its reading: \(door.run.errorText)") {
            relay.pump()
            return try door.metric("kymo_source_messages_total") == 1
        }
        // Others are not disturbed.
        let other = try self.client(door.port, "PSK-AES128-GCM-SHA256")
        try other.establish()
        try send(1, by: other, to: door)
        #expect(try door.balance().received == 2)
    }

    /// Numbers of records without a key are not sealed: a high one must not make those of the client old. What is of a
    /// later key than the first is of nobody, and would be kept.
    @Test func numbersAndKeysOfTheFuture() throws {
        let door = try door()
        let relay = try DatagramRelay(to: door.port)
        let change = Array(record(20, epoch: 0, sequence: 5_000, length: 1).dropLast()) + [1]
        relay.change = { [self] direction, number, bytes in
            guard direction == .toServer, number == 2 else { return [bytes] }
            return [change] + (0..<20).map { record(22, epoch: 2, sequence: $0, length: 1_000) } + [bytes]
        }
        let client = try client(relay.port, "PSK-AES128-GCM-SHA256")
        try client.establish { relay.pump() }
        client.send(Readings.heartRate(second: 1))
        try Waiting.until("its reading: \(door.run.errorText)") {
            relay.pump()
            return try door.metric("kymo_source_messages_total") == 1
        }
        #expect(try door.refusals() == ["badRecord": 20])
        #expect(try door.metric("kymo_source_tls_failures_total") == 0)
    }

    /// A record of data that is not encrypted ends no handshake.
    @Test func dataWithoutAKey() throws {
        let door = try door()
        let relay = try DatagramRelay(to: door.port)
        var isOpen = false
        relay.change = { direction, number, bytes in
            direction == .toServer && number > 1 && !isOpen ? [] : [bytes]
        }
        let client = try client(relay.port, "PSK-AES128-GCM-SHA256")
        try Waiting.until("half a handshake") {
            client.advance()
            relay.pump()
            relay.inject(record(epoch: 0, length: 40), .toServer)
            relay.inject(record(24, epoch: 0, length: 40), .toServer)
            return try door.refusals()["badRecord"] ?? 0 > 20
        }
        isOpen = true
        try client.establish { relay.pump() }
        #expect(try door.refusals()["handshake"] == nil)
    }
}
