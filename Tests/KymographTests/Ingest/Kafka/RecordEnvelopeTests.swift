@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Records with headers as templates for hubs read them.
@Suite struct RecordEnvelopeTests {
    private func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.filter { $0 != " " }
        return stride(from: 0, to: digits.count, by: 2).map { place in
            let start = digits.index(digits.startIndex, offsetBy: place)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
    }

    private func header(_ name: String, _ value: [UInt8]?) -> RecordHeader {
        RecordHeader(name: Array(name.utf8), value: value)
    }

    private func content(
        _ value: String?, _ headers: [RecordHeader] = [], key: String? = nil, milliseconds: Int64? = nil,
        _ encoding: HeaderEncoding = .text
    ) -> (kind: String, text: String) {
        var envelope = RecordEnvelope(encoding, longest: 1_000)
        let record = TopicRecord(
            value: value.map { Array($0.utf8) }, key: key.map { Array($0.utf8) }, headers: headers,
            milliseconds: milliseconds)
        switch envelope.content(of: record) {
        case .nothing: return ("nothing", "")
        case .payload(let bytes): return ("payload", String(decoding: bytes, as: UTF8.self))
        case .unfit(let bytes): return ("unfit", String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test func properties() {
        let whole = content(
            "{\"a\":1}",
            [
                header("iothub-connection-device-id", Array("w\"1".utf8)), header("patientId", Array("p-ü".utf8)),
                header("iothub-creation-time-utc", Array("2026-03-01T08:00:00Z".utf8)), header("none", nil),
                header("trace", [0xFF, 0x00]),
            ], key: "k1", milliseconds: 1_772_352_005_607)
        #expect(whole.kind == "payload")
        #expect(
            whole.text == "{\"Body\":{\"a\":1},\"Properties\":{\"patientId\":\"p-ü\",\"iothub-creation-time-utc\":"
                + "\"2026-03-01T08:00:00Z\",\"none\":null,\"trace\":{\"unclear\":[\"ff00\"]}},\"SystemProperties\":{\"iothub-connection-device-id\":"
                + "\"w\\\"1\",\"x-opt-partition-key\":\"k1\",\"x-opt-enqueued-time\":\"2026-03-01T08:00:05.607Z\"}}")
        #expect(content("[1]").text == "{\"Body\":[1],\"Properties\":{},\"SystemProperties\":{}}")
        #expect(content(nil, [header("a", [0x61])]).kind == "nothing")
        // The lane tells that it is too long.
        let long = String(repeating: "x", count: 1_001)
        #expect(content(long) == ("payload", long))
    }

    /// What would write into the envelope, or is no document, gets none.
    @Test func valuesAreDocuments() {
        for value in [
            "", "no JSON", "{\"a\":1}\n{\"a\":2}", "{},\"SystemProperties\":{\"x\":1}", "1}", "{}}", "\"a", "{\"a\":1",
        ] {
            #expect(content(value) == ("unfit", value), "\(value)")
        }
        // One line, however it was written.
        #expect(content(" {\"a\":\r\n1}\n").text.hasPrefix("{\"Body\": {\"a\":  1} ,"))
        // Templates would find an event in it.
        for value in [
            "{\"Body\":{\"a\":1},\"SystemProperties\":{}}", "{\"a\":[{\"b\":{\"SystemProperties\":null}}]}",
            "{\"\\u0053ystemProperties\":1}", "{\"a\":{\"Body\":1,\"Properties\":{\"patientId\":\"p\"}}}",
            "{\"Properties\":{\"Body\":{}}}", "{\"SystemProperties\":1}",
        ] {
            #expect(content(value) == ("unfit", value), "\(value)")
        }
        for value in ["{\"Body\":1}", "{\"Properties\":{\"a\":1}}", "{\"systemProperties\":1}", "\"SystemProperties\""]
        {
            #expect(content(value).kind == "payload", "\(value)")
        }
    }

    /// A name that is there twice says one thing, or none that a mapping could take.
    @Test func contradictions() {
        let twice = [header("a", [0x31]), header("a", [0x31])]
        #expect(content("{}", twice).text.contains("\"Properties\":{\"a\":\"1\"}"))
        let others = content("{}", [header("a", [0x31]), header("b", [0x34]), header("a", [0x32]), header("a", nil)])
        #expect(others.text.contains("\"Properties\":{\"a\":{\"unclear\":[\"31\",\"32\",\"\"]},\"b\":\"4\"}"))
        // Names are compared as bytes.
        let names = content("{}", [header("é", [0x31]), header("e\u{301}", [0x32])])
        #expect(names.text.contains("{\"é\":\"1\",\"e\u{301}\":\"2\"}"))
        let key = "x-opt-partition-key"
        #expect(content("{}", [header(key, [0x6C])], key: "k").text.contains("{\"unclear\":[\"6c\",\"6b\"]}"))
        #expect(content("{}", [header(key, bytes("a1016b"))], key: "k", .amqp).text.contains("\"\(key)\":\"k\""))
    }

    /// Headers that are damaged, or are too many to be compared, make no envelope without them.
    @Test func unreadableHeaders() {
        var envelope = RecordEnvelope(.text, longest: 1_000)
        let value = Array("{}".utf8)
        #expect(envelope.content(of: TopicRecord(value: value, headers: nil)) == .unfit(value))
        let many = (0..<257).map { header("h\($0)", [0x31]) }
        #expect(envelope.content(of: TopicRecord(value: value, headers: many)) == .unfit(value))
        let some = envelope.content(of: TopicRecord(value: value, headers: Array(many.dropLast())))
        #expect(some != .unfit(value))
    }

    /// Values of AMQP 1.0, part 1, section 1.6.
    @Test(
        arguments: [
            ("56 01", "true"),
            ("56 00", "false"),
            ("50 05", "5"), ("51 ff", "-1"), ("52 ff", "255"), ("53 07", "7"), ("54 80", "-128"), ("55 0a", "10"),
            ("60 ffff", "65535"), ("61 fffe", "-2"), ("70 ffffffff", "4294967295"), ("71 fffffffd", "-3"),
            ("80 ffffffffffffffff", "18446744073709551615"), ("81 fffffffffffffffc", "-4"), ("72 3fc00000", "1.5"),
            ("72 42126666", "36.6"),
            ("82 c002000000000000", "-2.25"), ("83 0000019ca86a1040", "\"2026-03-01T08:00:49.216Z\""),
            ("a1 03 652fc3", nil), ("a1 04 652fc3a9", "\"e/é\""), ("b1 00000002 6869", "\"hi\""),
            ("a3 02 6869", "\"hi\""),
            ("b3 00000001 68", "\"h\""), ("a3 02 c3a9", nil), ("a1 00", "\"\""), ("73 0001f600", "\"😀\""),
            ("98 00112233445566778899aabbccddeeff", "\"00112233-4455-6677-8899-aabbccddeeff\""),
            ("a0 01 00", nil), ("00 a3 01 61 54 01", nil), ("82 7ff0000000000000", nil), ("56 02", nil),
            ("a1 05 6869", nil), ("a1", nil), ("b1 0000", nil), ("c0 01 00", nil), ("83 7fffffffffffffff", nil),
            ("82 00", nil),
            ("99", nil),
        ] as [(String, String?)])
    func amqp(hexadecimal: String, json: String?) {
        let value = HeaderValue(bytes(hexadecimal), of: PropertyName("p"), encoding: .amqp)
        #expect(value == json.map { .json(Array($0.utf8)) } ?? .unclear, "\(hexadecimal)")
    }

    @Test func amqpOfOneByte() {
        #expect(AMQPValue(bytes("40")) == .null)
        #expect(AMQPValue(bytes("41")) == .flag(true) && AMQPValue(bytes("42")) == .flag(false))
        #expect(AMQPValue(bytes("43")) == .integer("0") && AMQPValue(bytes("44")) == .integer("0"))
        #expect(AMQPValue(bytes("45")) == nil && AMQPValue([]) == nil)
    }

    /// Text that clients of Kafka write stays text, but for what may be a number as well.
    @Test func textAmongAMQP() {
        func read(_ text: String, _ name: String = "p") -> HeaderValue {
            HeaderValue(Array(text.utf8), of: PropertyName(name), encoding: .amqp)
        }
        for text in ["p-0042", "2026-03-01T08:00:00Z", "é", "123", ""] {
            #expect(read(text) == .json(Array("\"\(text)\"".utf8)), "\(text)")
        }
        // A small number, an integer of four bytes, true.
        for text in ["S1", "queue", "A"] { #expect(read(text) == .unclear, "\(text)") }
        #expect(read("S1", "content-type") == .json(Array("\"S1\"".utf8)))
        #expect(HeaderValue(Array("S1".utf8), of: PropertyName("p"), encoding: .text) == .json(Array("\"S1\"".utf8)))
    }

    /// Whatever headers and values are: what is handed on is one document, whose three members are what they were.
    @Test(arguments: Trials.seeds(200)) func anyRecord(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = ["{", "}", "\"a\"", ":", "1", ",", "[", "]", "\"SystemProperties\"", " ", "\"", "\\", "\n"]
        var value = "{\"a\":1}"
        if Bool.random(using: &random) {
            value = (0..<Int.random(in: 1...12, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                .joined()
        }
        let headers = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            header(
                (["a", "b\"", "iothub-connection-device-id", "\\", "x-opt-é"].randomElement(using: &random) ?? ""),
                (0..<Int.random(in: 0...10, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        let encoding: HeaderEncoding = Bool.random(using: &random) ? .amqp : .text
        let found = content(value, headers, encoding)
        var check = EventBodyCheck()
        func isBody(_ text: String) -> Bool {
            Array(text.utf8).withByteView { view in view.withPadding { check.allows($0) } }
        }
        var validator = JSONValidator()
        func isDocument(_ text: String) -> Bool {
            Array(text.utf8).withByteView { view in view.withPadding { (try? validator.validate($0)) != nil } }
        }
        guard found.kind == "payload" else {
            #expect(!isBody(value) && found.text == value, "seed \(seed)")
            return
        }
        #expect(isBody(value) && isDocument(found.text), "seed \(seed): \(found.text)")
        let line = value.replacing("\n", with: " ")
        #expect(found.text.hasPrefix("{\"Body\":\(line),\"Properties\":{"), "seed \(seed)")
    }
}
