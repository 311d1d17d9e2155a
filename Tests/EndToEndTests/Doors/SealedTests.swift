import CommandSupport
import Glibc
import Kymograph
import KymographTestKit
import Testing
import TrialSupport

/// Sealed datagrams on UDP: who may send, what is refused, and what holds over restarts.
@Suite struct SealedTests {
    private let folder = TemporaryFolder()
    private static let (first, second) = (SealedKey(0x0000_0A01, name: "pump-1"), SealedKey(0x0000_0A02))

    private func write(_ keys: [SealedKey]) -> String {
        // Renamed, as a file is replaced that is looked at: never half of it.
        let file = folder.write("sealed.new", "# keys of the ward\n" + keys.map(\.line).joined())
        unsafe chmod(file, 0o600)
        Files.move(file, to: folder.file("sealed.keys"))
        return folder.file("sealed.keys")
    }

    private func door(_ keys: [SealedKey] = [first, second], _ settings: [String] = []) throws -> Door {
        try Door(TLSText.source("udp", ["sealedKeyFile: \(write(keys))"] + settings), in: folder)
    }

    private func wait(for messages: Int, at door: Door) throws {
        try Waiting.until("\(messages) messages: \(door.run.errorText)") {
            try door.metric("kymo_source_messages_total") == messages
        }
    }

    private func letters() throws -> [String] {
        try Kymo.run(["dead", "list", "--data", folder.file("data")]).lines.filter { $0.contains("  payload  ") }
    }

    // MARK: Who may send

    /// By peers that are known by their keys: each brings what it may, and whoever has no key brings nothing.
    @Test func keysAndTheirPeers() throws {
        let stranger = SealedKey(0x0000_0A03, name: "pump-3")
        let peers = folder.write(
            "peers.yaml",
            "peers:\n  - sealedKey: pump-1\n    devices: [watch-1]\n  - sealedKey: 00000a02\n    patient: p-2\n")
        let door = try door([Self.first, Self.second, stranger], ["peers: \(peers)"])
        let client = try DatagramClient(port: door.port)
        client.send(Self.first.seal(Readings.heartRate(second: 1), sequence: 0))
        client.send(Self.first.seal(Readings.heartRate(second: 2, device: "watch-2"), sequence: 1))
        client.send(Self.second.seal(Readings.heartRate(second: 3, device: "watch-2"), sequence: 0))
        client.send(stranger.seal(Readings.heartRate(second: 4), sequence: 0))
        client.send(SealedKey(0xFFFF_FFFF).seal(Readings.heartRate(second: 5), sequence: 0))
        client.send(Array(Readings.heartRate(second: 6).utf8))
        try wait(for: 6, at: door)
        #expect(try door.authFailures() == ["sealedKey": 3])
        let text = door.run.errorText
        #expect(text.contains("with the key id ffffffff as unknownKey"), "\(text)")
        for reason in ["unknownKey", "notSealed"] {
            #expect(text.contains("a sender that has shown no key is refused: \(reason)"), "\(text)")
        }
        for key in [Self.first, Self.second, stranger] {
            #expect(!text.contains(key.line.split(separator: ":")[1]), "\(text)")
        }
        let balance = try door.balance()
        #expect(balance.accepted == 2 && balance.isClosed)
        let expected = ["deviceNotAllowed": 1, "unknownPeer": 1, "unknownKey": 1, "notSealed": 1]
        #expect(balance.reasons == expected)
        let letters = try letters()
        #expect(letters.count == 4)
        #expect(letters.contains { $0.contains("sealed by the key pump-1, the peer pump-1") }, "\(letters)")
    }

    /// What is not sealed is kept with its bytes, and is never mapped: not when it comes again either.
    @Test func unprovenLettersStayLetters() throws {
        let door = try door()
        let client = try DatagramClient(port: door.port)
        client.send(Array(Readings.heartRate(second: 1).utf8))
        var broken = Self.first.seal(Readings.heartRate(second: 2), sequence: 1)
        broken[20] ^= 1
        client.send(broken)
        client.send(Self.first.seal(Readings.heartRate(second: 3), sequence: 5_000))
        client.send(Self.first.seal(Readings.heartRate(second: 4), sequence: 3_976))
        client.send(Self.first.seal(Readings.heartRate(second: 3), sequence: 5_000))
        client.send(Self.first.seal("{\"no\":\"reading\"}", sequence: 5_001))
        try wait(for: 6, at: door)
        let balance = try door.balance()
        #expect(balance.accepted == 1 && balance.rejected == 5 && balance.isClosed)
        let expected = ["notSealed": 1, "sealBroken": 1, "sequenceStale": 1, "sequenceRepeated": 1, "noTemplate": 1]
        #expect(balance.reasons == expected)
        // A network delivers twice and late: only what no key has sealed is in the audit trail.
        let text = door.run.errorText
        for reason in ["notSealed", "sealBroken"] { #expect(text.contains("is refused: \(reason)"), "\(text)") }
        #expect(!text.contains("is refused: sequence"), "\(text)")
        // What has come before is counted alone.
        #expect(try letters().count == 4)
        let place = [
            "--data", folder.file("data"), "--out", folder.file("again"), "--config", folder.file("kymo.yaml"),
        ]
        for arguments in [[], ["--parts"], ["--parts", "--not-allowed"]] {
            let replay = try Kymo.run(["dead", "replay", "--all"] + arguments + place)
            #expect(replay.error.components("nothing shows who sent it") == 3, "\(replay.error)")
            #expect(replay.end == .exit(65))
        }
        // Their bytes, as they came.
        let bytes = try (1...2).map {
            try Kymo.run(["dead", "show", "\($0)", "--bytes", "--data", folder.file("data")])
        }
        #expect(bytes.map(\.output) == [Array(Readings.heartRate(second: 1).utf8), broken])
    }

    /// A flood of strangers fills no disk: letters are few, and all are counted.
    @Test func aFloodLeavesFewLetters() throws {
        let door = try door([Self.first])
        let client = try DatagramClient(port: door.port)
        let text = String(repeating: "x", count: 20_000)
        let key = SealedKey(0xFFFF_FFFF)
        var sent = 0
        try Waiting.until("a thousand rejections: \(door.run.errorText)") {
            for _ in 0..<50 {
                client.send(key.seal(text, sequence: UInt64(sent)))
                sent += 1
            }
            usleep(2_000)
            return try door.metric("kymo_source_messages_total") >= 1_000
        }
        func arrived() throws -> Int { try door.metric("kymo_source_messages_total") }
        try Waiting.until("the end of the flood: \(door.run.errorText)") {
            try arrived() + door.metric("kymo_source_kernel_dropped_total") == sent
        }
        let flood = try arrived()
        client.send(Self.first.seal(Readings.heartRate(second: 1), sequence: 0))
        try wait(for: flood + 1, at: door)
        let balance = try door.balance()
        #expect(balance.isClosed && balance.accepted == 1)
        #expect(balance.reasons == ["unknownKey": flood])
        let count = try letters().count
        // 1 MiB of them, and what has become free meanwhile.
        #expect(count >= 1 && count < 200, "\(count) of \(sent)")
    }

    // MARK: Changes

    /// A key that is added, replaced or withdrawn while datagrams come, and a file with errors, which changes nothing.
    @Test func rotationWhileDatagramsCome() throws {
        let door = try door([Self.first])
        let client = try DatagramClient(port: door.port)
        var (number, second) = (0 as UInt64, 0)
        func send(_ key: SealedKey) {
            client.send(key.seal(Readings.heartRate(second: second), sequence: number))
            (number, second) = (number + 1, second + 1)
        }
        func sendUntil(_ text: String, _ key: SealedKey) throws {
            try Waiting.until("'\(text)' in: \(door.run.errorText)") {
                send(key)
                usleep(5_000)
                return door.run.errorText.contains(text)
            }
        }
        try sendUntil("listening on", Self.first)
        // Both for a while, as it is done where devices get new keys one by one.
        _ = write([Self.first, Self.second])
        try sendUntil("were read again: there are 2", Self.first)
        send(Self.second)
        Files.write(Array("0000\n".utf8), to: folder.file("sealed.keys"))
        unsafe chmod(folder.file("sealed.keys"), 0o600)
        try sendUntil("the former keys stay in use: ", Self.second)
        send(Self.first)
        _ = write([Self.second])
        door.run.signal(SIGHUP)
        try sendUntil("were read again: there are 1", Self.second)
        send(Self.first)
        try wait(for: second, at: door)
        // The same id, another key: the former key's datagrams are broken.
        let renewed = SealedKey(Self.second.id, bytes: [UInt8](repeating: 0xAB, count: 16))
        _ = write([renewed, Self.first])
        try sendUntil("were read again: there are 2", renewed)
        send(Self.second)
        send(renewed)
        try wait(for: second, at: door)
        let balance = try door.balance()
        #expect(balance.isClosed && balance.received == second)
        #expect(balance.reasons["unknownKey"] == 1)
        // Those of the new key that came before its file was read, and the former key's last one.
        #expect(balance.reasons["sealBroken"] ?? 0 >= 1)
        #expect(Set(balance.reasons.keys) == ["unknownKey", "sealBroken"], "\(balance.reasons)")
        #expect(balance.accepted > 4)
    }

    /// The only key can be withdrawn; a file that is missing withdraws nothing.
    @Test func theOnlyKeyIsWithdrawn() throws {
        let door = try door([Self.first])
        let client = try DatagramClient(port: door.port)
        func send(_ number: Int) throws {
            client.send(Self.first.seal(Readings.heartRate(second: number), sequence: UInt64(number)))
            try wait(for: number + 1, at: door)
        }
        func waitFor(_ text: String) throws {
            try Waiting.until("'\(text)' in: \(door.run.errorText)") { door.run.errorText.contains(text) }
        }
        try send(0)
        // Comments alone.
        _ = write([])
        try waitFor("were read again: there are 0")
        try send(1)
        let file = write([Self.first])
        try waitFor("were read again: there are 1")
        try send(2)
        unsafe unlink(file)
        try waitFor("the former keys stay in use: \(file) cannot be read")
        try send(3)
        let balance = try door.balance()
        #expect(balance.isClosed && balance.accepted == 3 && balance.reasons == ["unknownKey": 1], "\(balance)")
    }

    // MARK: Restarts

    /// What has come does not come again after a restart, and the next number does, without a gap.
    @Test func replaysAfterAStop() throws {
        var sent: [[UInt8]] = []
        for round in 0..<3 {
            let door = try door()
            let client = try DatagramClient(port: door.port)
            for datagram in sent { client.send(datagram) }
            let fresh = (0..<5).flatMap { step in
                let number = UInt64(round * 5 + step)
                return [Self.first, Self.second].map {
                    $0.seal(Readings.heartRate(second: Int(number), device: "watch-\($0.id)"), sequence: number)
                }
            }
            for datagram in fresh { client.send(datagram) }
            try wait(for: sent.count + fresh.count, at: door)
            let balance = try door.balance()
            #expect(balance.accepted == fresh.count && balance.duplicate == 0 && balance.isClosed)
            #expect(balance.reasons == (sent.isEmpty ? [:] : ["sequenceRepeated": sent.count]))
            sent += fresh
        }
    }

    /// The last numbers that there are, over a restart; and a number of 2^63 and more, of which a database knows none.
    @Test func theLastNumbersAfterARestart() throws {
        let numbers: [UInt64] = [.max - 3, .max - 1, .max]
        let datagrams = numbers.enumerated().map { Self.first.seal(Readings.heartRate(second: $0), sequence: $1) }
        let late = Self.first.seal(Readings.heartRate(second: 9), sequence: .max - 2)
        for round in 0..<2 {
            let door = try door()
            let client = try DatagramClient(port: door.port)
            for datagram in datagrams { client.send(datagram) }
            if round == 1 { client.send(late) }
            client.send(Self.first.seal(Readings.heartRate(second: 10), sequence: 0))
            try wait(for: round == 0 ? 4 : 5, at: door)
            let balance = try door.balance()
            #expect(balance.accepted == (round == 0 ? 3 : 1), "\(round): \(balance)")
            let expected = round == 0 ? ["sequenceStale": 1] : ["sequenceRepeated": 3, "sequenceStale": 1]
            #expect(balance.reasons == expected)
        }
    }

    /// kymo is killed at any moment while datagrams come. Those that come again after that are new only where their
    /// readings were not kept: none is there twice.
    @Test func killedWhileDatagramsCome() throws {
        var generator = SeededGenerator(seed: Trials.seed(26))
        let rounds = Trials.tortureRounds ?? 6
        var (sent, number) = ([[UInt8]](), 0)
        for round in 0..<rounds {
            let door = try door()
            let client = try DatagramClient(port: door.port)
            // All that came before: what was kept is refused, and would else be a duplicate.
            for datagram in sent { client.send(datagram) }
            try wait(for: sent.count, at: door)
            try Waiting.until("the end of what came again: \(door.run.errorText)") {
                try door.admin.value("kymo_readings_in_flight") == 0
            }
            let duplicates = try door.admin.value("kymo_readings_total{result=\"duplicate\"}") ?? 0
            #expect(duplicates == 0, "round \(round)")
            for _ in 0..<Int.random(in: 1...150, using: &generator) {
                let datagram = Self.first.seal(Readings.heartRate(second: number), sequence: UInt64(number))
                client.send(datagram)
                sent.append(datagram)
                number += 1
                usleep(.random(in: 0..<2_000, using: &generator))
            }
            usleep(.random(in: 0..<100_000, using: &generator))
            door.run.signal(SIGKILL)
            _ = try door.run.wait()
        }
        let door = try door()
        let client = try DatagramClient(port: door.port)
        for datagram in sent { client.send(datagram) }
        client.send(Self.first.seal(Readings.heartRate(second: number), sequence: UInt64(number)))
        try wait(for: sent.count + 1, at: door)
        let balance = try door.balance()
        #expect(balance.duplicate == 0 && balance.conflict == 0 && balance.isClosed, "\(balance)")
        // The device goes on with its next number.
        #expect(balance.accepted >= 1)
    }
}

extension String {
    /// How often it has `text`.
    fileprivate func components(_ text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
