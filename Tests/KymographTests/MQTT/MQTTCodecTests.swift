@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Packets of a broker, as bytes.
@Suite struct MQTTCodecTests {
    private func number(_ bytes: [UInt8]) -> MQTTVariableNumber { bytes.withByteView { MQTTVariableNumber($0) } }

    @Test func numbersOfVariableLength() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455] {
            let bytes = BrokerPackets.length(value)
            #expect(number(bytes) == .number(value, length: bytes.count))
            #expect(number(Array(bytes.dropLast())) == .unfinished)
        }
        for bytes: [UInt8] in [[0x80, 0x80, 0x80, 0x80], [0xFF, 0xFF, 0xFF, 0xFF, 1], [0x80, 0], [0xFF, 0x80, 0]] {
            #expect(number(bytes) == .malformed, "\(bytes)")
        }
    }

    /// Only 5 can say why a connection ends; 3.1.1 would discard the will.
    @Test func goodByes() {
        #expect(MQTTOutput.disconnect(.v5) == [0xE0, 0] && MQTTOutput.disconnect(.v311) == [0xE0, 0])
        #expect(MQTTOutput.disconnect(.v5, code: 0x82) == [0xE0, 1, 0x82])
        #expect(MQTTOutput.disconnect(.v311, code: 0x82).isEmpty)
    }

    /// All that one packet gives, as text; `nil` where it is malformed.
    private func read(_ bytes: [UInt8], _ version: MQTTVersion = .v5) -> String? {
        bytes.withByteView { view in
            do throws(MQTTFault) {
                guard let head = try MQTTHead(view), head.total == view.count else { return nil }
                return Self.text(try MQTTPacket(head, view[head.count..<view.count], version))
            } catch {
                return nil
            }
        }
    }

    private static func text(_ packet: MQTTPacket) -> String {
        guard case .publish(let message) = packet else { return "\(packet)" }
        return "\(message.quality) \(message.number) \(message.topic.string) \(message.payload.string)"
    }

    @Test func messages() {
        #expect(read(BrokerPackets.publish("{}")) == "atLeastOnce 1 ward/bed7 {}")
        #expect(read(BrokerPackets.publish("", quality: 0)) == "atMostOnce 0 ward/bed7 ")
        let properties: [UInt8] = [1, 1, 2, 0, 0, 0, 9, 11, 1, 11, 2, 38, 0, 1, 0x61, 0, 1, 0x62, 38, 0, 0, 0, 0]
        let full = BrokerPackets.publish("x", quality: 2, number: 65_535, isRepeated: true, properties: properties)
        #expect(read(full) == "exactlyOnce 65535 ward/bed7 x")
        let former = BrokerPackets.publish("x", quality: 1, number: 7, properties: nil)
        #expect(read(former, .v311) == "atLeastOnce 7 ward/bed7 x")
    }

    /// What no broker may send, each with the rule that it breaks.
    @Test(
        arguments: [
            ("no kind", [0x00, 0]), ("of a client", [0x10, 0]),
            ("an acknowledgement of what was not sent", [0x40, 2, 0, 1]),
            ("reserved flags", [0x21, 3, 0, 0, 0]), ("flags of a release", [0x60, 2, 0, 1]), ("QoS 3", [0x36, 0]),
            ("QoS 0 again", BrokerPackets.packet(0x38, [0, 1, 0x61, 0])),
            ("message 0", BrokerPackets.publish("", number: 0)), ("release of 0", BrokerPackets.pubrel(0)),
            ("no topic", BrokerPackets.publish("x", to: "")), ("a topic beyond the end", [0x30, 4, 0, 9, 0x61, 0]),
            ("a topic alias", BrokerPackets.publish("x", properties: [35, 0, 1])),
            ("an unknown property", BrokerPackets.publish("x", properties: [99, 0])),
            ("a property of another packet", BrokerPackets.publish("x", properties: [17, 0, 0, 0, 1])),
            ("a property twice", BrokerPackets.publish("x", properties: [1, 0, 1, 0])),
            ("a flag of 2", BrokerPackets.publish("x", properties: [1, 2])),
            ("a subscription of 0", BrokerPackets.publish("x", properties: [11, 0])),
            ("properties beyond the end", BrokerPackets.packet(0x30, [0, 1, 0x61, 9, 1])),
            ("a text that is not UTF-8", BrokerPackets.publish("x", properties: [3, 0, 1, 0xFF])),
            ("a refusal with a session", BrokerPackets.connack(hasSession: true, code: 0x87)),
            ("more than its fields", [0x20, 4, 0, 0, 0, 0]), ("fewer", [0x20, 1, 0]), ("a long pong", [0xD0, 1, 0]),
            ("a granted QoS of 3", BrokerPackets.suback([3])), ("a huge answer", [0x90, 0xFF, 0xFF, 0xFF, 0x7F]),
        ] as [(String, [UInt8])])
    func refused(what: String, bytes: [UInt8]) {
        #expect(read(bytes) == nil, "\(what)")
    }

    /// What a stream of bytes gives, in pieces of random sizes up to `most`: packets, and at which byte it ended.
    private func frames(
        _ bytes: [UInt8], longest: Int = 64, most: Int, _ random: inout SeededGenerator
    ) -> [String] {
        var framer = MQTTFramer(longest: longest)
        var found: [String] = []
        var place = 0
        while place < bytes.count {
            let end = min(bytes.count, place + Int.random(in: 1...most, using: &random))
            let piece = PaddedBytes(copying: bytes[place..<end])
            var rest = piece.view
            do throws(MQTTFault) {
                while let step = try framer.next(&rest) { found.append(try Self.text(step)) }
            } catch {
                return found + ["fault"]
            }
            place = end
        }
        return found
    }

    private static func text(_ step: MQTTFramer.Step) throws(MQTTFault) -> String {
        switch step {
        case .packet(let head, let bytes): text(try MQTTPacket(head, bytes[head.count..<bytes.count], .v5))
        case .tooLong(let head, let bytes):
            "tooLong \(text(try MQTTPacket(head, bytes[head.count..<bytes.count], .v5)).utf8.count)"
        }
    }

    private static let stream: [UInt8] =
        BrokerPackets.connack(properties: [19, 0, 9, 33, 0, 5]) + BrokerPackets.suback([1, 0, 0x87])
        + BrokerPackets.publish("{\"a\":1}", properties: [3, 0, 1, 0x61]) + BrokerPackets.publish("", quality: 0)
        + BrokerPackets.publish(String(repeating: "x", count: 200), quality: 2, number: 9) + BrokerPackets.pubrel(9)
        + BrokerPackets.pingresp + [0xE0, 1, 0x8B]

    /// However the network cuts a stream, and however wrong it is, it gives the same, and nothing beyond its end is read.
    @Test func mutatedStreams() {
        for seed in Trials.seeds(tenthOf: 20_000) {
            var random = SeededGenerator(seed: seed)
            var bytes = Self.stream
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(.random(in: 0...255, using: &random), at: place)
                default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            let whole = frames(bytes, most: bytes.count, &random)
            for most in [1, 7, 40] { #expect(frames(bytes, most: most, &random) == whole, "seed \(seed)") }
        }
    }

    /// Of a message that is longer than fields and payload may be, the beginning is kept until the rest has come, which
    /// is passed over.
    @Test func longMessages() {
        var random = SeededGenerator(seed: 1)
        let payload = String(repeating: "x", count: MQTTHead.mostFields + 100_000)
        let bytes = BrokerPackets.publish(payload) + BrokerPackets.pingresp
        let found = frames(bytes, most: 50_000, &random)
        #expect(found.count == 2 && found[0].hasPrefix("tooLong ") && found[1] == "pingresp", "\(found)")
        let unfinished = Array(BrokerPackets.publish(payload).dropLast())
        #expect(frames(unfinished, most: 50_000, &random).isEmpty)
        let kept = found[0].split(separator: " ").last.flatMap { Int($0) } ?? 0
        #expect(kept > MQTTHead.mostFields && kept <= MQTTHead.mostFields + 100)
    }
}
