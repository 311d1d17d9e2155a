import CommandSupport
import Glibc
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What a lane makes of sealed datagrams, those of strangers among them.
@Suite struct SealedLaneTests {
    private let folder = TemporaryFolder()

    /// A key that no other test has: what keys have had is known as long as the process lasts.
    private static func key(_ id: UInt32, name: String? = nil) -> SealedKey {
        SealedKey(id, bytes: (0..<16).map { _ in .random(in: 1 ... .max) }, name: name)
    }

    private func write(_ keys: [SealedKey]) -> String {
        let path = folder.write("sealed.keys", keys.map(\.line).joined())
        unsafe chmod(path, 0o600)
        return path
    }

    private func lane(_ keys: [SealedKey], coalesces: Bool = false) throws -> Lane {
        var configuration = SourceConfiguration(UDPSource(try NetworkAddress(parsing: "127.0.0.1:0")), number: 7)
        configuration.tls.sealedKeyFile = write(keys)
        configuration.coalesces = coalesces
        return try Lane([configuration])
    }

    private func take(_ datagrams: [[UInt8]], _ keys: [SealedKey]) throws -> RecordingConsumer {
        let lane = try lane(keys)
        let address = try #require(lane.address(0) as? UDPSource).address
        let client = try DatagramClient(port: address.port)
        for datagram in datagrams { client.send(datagram) }
        let consumer = try lane.collect()
        #expect(lane.counts(0).kernelDrops == 0)
        #expect(lane.counts(0).datagrams == UInt64(datagrams.count))
        #expect(lane.counts(0).rejected == UInt64(consumer.rejects.count))
        return consumer
    }

    /// The bytes of the vector that the tests of the encoders have, which another library has made.
    @Test func aVectorOfAnotherLibrary() throws {
        let key = SealedKey(0x1A2B_3C4D, bytes: (0..<16).map { $0 })
        let vector = """
            4b311a2b3c4d01020304050607087c310335450b6133b2ed9ef59beb15e8c2929c7a6660a94dd263bc12a1017577987c9bafb27b9382372bdf4a\
            cbe08066
            """
        let digits = Array(vector.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        let text = #"{"device":"pump-3-1","pulse":61}"#
        #expect(key.seal(text, sequence: 0x0102_0304_0506_0708) == bytes)
        let path = write([key])
        let keys = try DatagramKeys(path)
        #expect(keys.all.map(\.name) == ["1a2b3c4d"])
        var datagram = bytes
        // Safe: the array is lent for the call.
        let isOpened = unsafe datagram.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe keys.open($0, count: buffer.count, by: 0) } ?? false
        }
        #expect(isOpened && Array(datagram[14..<bytes.count - 16]) == Array(text.utf8))
    }

    /// Payloads of every length, and what a source of sealed datagrams does with plain ones.
    @Test func payloadsOfEverySize() throws {
        let key = Self.key(1)
        let texts = (0..<150).map { String(repeating: "x", count: $0 * 3) } + [String(repeating: "y", count: 65_477)]
        let sealed = texts.enumerated().map { key.seal($1, sequence: UInt64($0)) }
        let plain = [
            "", "{}", "K1", "K2" + String(repeating: "x", count: 40), "K1" + String(repeating: "x", count: 27),
        ]
        let consumer = try take(sealed + plain.map { Array($0.utf8) }, [key])
        #expect(consumer.datagrams.map(\.text) == texts)
        #expect(consumer.rejects.map(\.reason) == plain.map { _ in .notSealed })
        #expect(consumer.rejects.map(\.bytes) == plain.map { Array($0.utf8) })
    }

    /// Datagrams that the kernel hands over together are opened one by one.
    @Test(arguments: [false, true]) func datagramsThatComeTogether(coalesces: Bool) throws {
        let key = Self.key(1)
        let lane = try lane([key], coalesces: coalesces)
        let client = Client.udp(lane.address(0))
        let texts = (0..<40).map { "reading \(100 + $0)" }
        client.segments(of: 11 + 30)
        let bytes = texts.enumerated().flatMap { key.seal($1, sequence: UInt64($0)) } + key.seal("end", sequence: 40)
        #expect(client.send(bytes: bytes))
        let consumer = try lane.collect()
        #expect(consumer.datagrams.map(\.text) == texts + ["end"])
        #expect(consumer.rejects.isEmpty)
    }

    /// 10,000 flipped bits: none gives a payload, none moves the window, and each is kept as it came.
    @Test func flippedBits() throws {
        var generator = SeededGenerator(seed: Trials.seed(26))
        let (one, other) = (Self.key(0x0000_0101), Self.key(0x0000_0100))
        var flipped = 0
        for round in 0..<10 {
            var datagrams: [[UInt8]] = []
            var whole: [(text: String, datagram: [UInt8])] = []
            for number in 0..<10 {
                let text = "reading \(round) \(number) " + String(repeating: "z", count: number * 20)
                let datagram = one.seal(text, sequence: UInt64(round * 10 + number))
                whole.append((text, datagram))
                for _ in 0..<100 {
                    let bit = Int.random(in: 0..<datagram.count * 8, using: &generator)
                    var changed = datagram
                    changed[bit / 8] ^= 1 << (bit % 8)
                    datagrams.append(changed)
                }
            }
            flipped += datagrams.count
            let consumer = try take(datagrams + whole.map(\.datagram), [one, other])
            #expect(consumer.datagrams.map(\.text) == whole.map(\.text))
            #expect(consumer.rejects.map(\.bytes) == datagrams)
            let reasons = Set(consumer.rejects.map(\.reason))
            #expect(reasons.isSubset(of: [.notSealed, .unknownKey, .sealBroken, .sequenceRepeated, .sequenceStale]))
            #expect(reasons.contains(.sealBroken))
        }
        #expect(flipped == 10_000)
    }

    /// What was cut, put together from two, sealed by another key, or has another's head.
    @Test func forgeries() throws {
        let (one, other) = (Self.key(1), Self.key(2))
        let datagram = one.seal("a reading of one", sequence: 10)
        let another = one.seal("a reading later on", sequence: 11)
        let foreign = other.seal("a reading of another", sequence: 10)
        let thief = SealedKey(1, bytes: other.bytes).seal("a reading by a thief", sequence: 10)
        let cut = (0..<datagram.count).map { Array(datagram[..<$0]) }
        let swapped = [
            Array(another[..<14] + datagram[14...]), Array(foreign[..<14] + datagram[14...]),
            Array(datagram[..<14] + another[14...]), Array(datagram.dropLast(16) + another.suffix(16)),
            datagram + [0], thief,
        ]
        let consumer = try take(cut + swapped + [datagram, another, foreign], [one, other])
        #expect(consumer.datagrams.map(\.text) == ["a reading of one", "a reading later on", "a reading of another"])
        #expect(consumer.rejects.map(\.bytes) == cut + swapped)
        let expected = cut.map { $0.count < 30 ? Rejection.notSealed : .sealBroken } + swapped.map { _ in .sealBroken }
        #expect(consumer.rejects.map(\.reason) == expected)
    }

    /// Sent in any order, and again and again: each datagram once, by the window.
    @Test(arguments: Trials.seeds(tenthOf: 30)) func replaysInAnyOrder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let key = Self.key(9)
        let start = UInt64.random(in: 0...(.max - 10_000), using: &generator)
        var window = SequenceWindow()
        var (sent, texts, reasons): ([[UInt8]], [String], [Rejection]) = ([], [], [])
        var highest = start
        for _ in 0..<1_500 {
            let back = UInt64.random(in: 0..<1_200, using: &generator)
            let isOld = Bool.random(using: &generator)
            let number = isOld ? max(start, highest - min(back, highest)) : highest + back % 4
            highest = max(highest, number)
            sent.append(key.seal("reading \(number)", sequence: number))
            switch window.take(number) {
            case .new: texts.append("reading \(number)")
            case .repeated: reasons.append(.sequenceRepeated)
            case .stale: reasons.append(.sequenceStale)
            }
        }
        let consumer = try take(sent, [key])
        #expect(consumer.datagrams.map(\.text) == texts, "seed \(seed)")
        #expect(consumer.rejects.map(\.reason) == reasons, "seed \(seed)")
        #expect(Set(texts).count == texts.count)
    }

    /// A thousand keys, each with numbers of its own; and another source with the same file takes nothing again.
    @Test func aThousandKeys() throws {
        let keys = (0..<1_000).map { Self.key(UInt32($0) &* 2_654_435_761) }
        let sent = keys.enumerated().flatMap { place, key in
            (0..<2).map { key.seal("\(place) \($0)", sequence: UInt64($0)) }
        }
        let consumer = try take(sent, keys)
        #expect(Set(consumer.datagrams.map(\.text)).count == 2_000)
        #expect(consumer.rejects.isEmpty)
        let again = try take(sent, keys)
        #expect(again.datagrams.isEmpty)
        #expect(again.rejects.map(\.reason) == sent.map { _ in .sequenceRepeated })
        // The same ids with other keys begin anew, and what the former ones have sealed is no more of them.
        let renewed = keys.map { Self.key($0.id) }
        let mixed = try take([keys[0].seal("old", sequence: 5), renewed[0].seal("new", sequence: 0)], renewed)
        #expect(mixed.datagrams.map(\.text) == ["new"])
        #expect(mixed.rejects.map(\.reason) == [.sealBroken])
        // And back: what was taken stays taken.
        let back = try take([keys[0].seal("0 1", sequence: 1), keys[0].seal("0 2", sequence: 2)], keys)
        #expect(back.datagrams.map(\.text) == ["0 2"])
        #expect(back.rejects.map(\.reason) == [.sequenceRepeated])
    }

    /// A file without keys is a mistake, unless all of them may have been withdrawn.
    @Test(arguments: ["", "# none\n\n"]) func filesWithoutKeys(text: String) throws {
        let path = folder.write("none.keys", text)
        unsafe chmod(path, 0o600)
        #expect(throws: SecretFault.self) { try DatagramKeys(path) }
        let keys = try DatagramKeys(path, mayBeNone: true)
        #expect(keys.all.isEmpty && keys.place(of: 0) == nil)
        let socket = SealedSocket()
        socket.follow(try DatagramKeys(write([Self.key(1)])), nil, SequenceBook())
        socket.follow(keys, nil, SequenceBook())
        guard case .refused(.unknownKey) = Self.key(1).seal("", sequence: 0).withByteView({ socket.route($0) }) else {
            Issue.record("a key that was withdrawn is known")
            return
        }
    }

    /// What is cut within its last line could give a key another name.
    @Test func halfWrittenFiles() throws {
        let line = Self.key(1, name: "pump-12").line
        for count in 1..<line.utf8.count {
            let path = folder.write("half.keys", Self.key(2).line + line.prefix(count))
            unsafe chmod(path, 0o600)
            let fault = #expect(throws: SecretFault.self) { try DatagramKeys(path) }
            #expect(fault?.message.contains(":2:\(count + 1): the line is the last one and not complete") ?? false)
        }
    }

    /// A list of peers knows senders by the names of their keys, and by nothing else.
    @Test func peersByTheirKeys() throws {
        let keys = [Self.key(1, name: "pump-1"), Self.key(2, name: "pump-2"), Self.key(3)]
        var rules = [PeerRule(), PeerRule()]
        rules[0].proof = .sealedKey(Array("pump-1".utf8))
        rules[1].proof = .sealedKey(Array("00000003".utf8))
        let list = PeerList(rules)
        let socket = SealedSocket()
        socket.follow(try DatagramKeys(write(keys)), list, SequenceBook())
        let known = socket.keys?.all.enumerated().filter { socket.senders[$0.offset].admission != nil }.map(
            \.element.name)
        #expect(known == ["pump-1", "00000003"])
        #expect(list.peer(PeerIdentity(sealedKey: Array("pump-2".utf8), address: [127, 0, 0, 1])) == nil)
    }
}
