import CommandSupport
import Glibc
import KymographTestKit

/// A client of one door that sends messages, some ahead, and hears which of them are acknowledged.
class ResendingClient {
    /// How many messages are on their way at a time, at most.
    static let ahead = 21

    /// How many are acknowledged, from the first one on.
    var acknowledged: Int { 0 }
    /// How many were sent.
    fileprivate(set) var sent = 0
    /// Whether the other side is there.
    var isOpen: Bool { true }

    fileprivate init() {}

    /// Reads what has come.
    func receive() {}

    /// Sends these.
    fileprivate func send(_ messages: ArraySlice<String>) {}

    /// Reads what has come, and sends more of `messages`, which are all that this connection is to send.
    func goOn(_ messages: ArraySlice<String>, ahead: Int = ResendingClient.ahead, step: Int = 7) {
        receive()
        while isOpen, sent < messages.count, sent + step <= acknowledged + ahead {
            let next = min(sent + step, messages.count)
            send(messages[(messages.startIndex + sent)..<(messages.startIndex + next)])
            sent = next
        }
    }
}

/// Lines, and acknowledgements by the protocol of docs/durability.md.
final class LineClient: ResendingClient {
    private let client: AckClient

    init(_ address: String) throws {
        client = try address.hasPrefix("unix ") ? AckClient(String(address.dropFirst(5))) : AckClient(tcp: address)
    }

    override var acknowledged: Int { client.acknowledged }
    override var isOpen: Bool { client.isOpen }

    override func receive() { client.receive() }
    override fileprivate func send(_ messages: ArraySlice<String>) { client.send(Readings.ndjson(Array(messages))) }
}

/// The same by TLS, through `openssl s_client`.
final class TLSLineClient: ResendingClient {
    private let process: ChildProcess
    private var heard = 0
    private var hasGone = false

    init(_ address: String, _ authority: TestAuthority) throws {
        process = try ChildProcess(
            "openssl",
            [
                "s_client", "-quiet", "-no_ign_eof", "-nocommands", "-connect", "127.0.0.1:\(PostClient.port(address))",
                "-CAfile",
                authority.certificate,
            ], input: .pipe)
        super.init()
        hasGone = !process.write(Array("{\"kymo\":\"ack\"}\n".utf8))
    }

    override var acknowledged: Int { heard }
    override var isOpen: Bool { !hasGone }

    override func receive() {
        let words = String(decoding: process.output, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        // What stands behind the last newline is not whole yet.
        heard = words.dropLast().last.flatMap { Int($0.filter(\.isNumber)) } ?? heard
    }

    override fileprivate func send(_ messages: ArraySlice<String>) {
        if !process.write(Readings.ndjson(Array(messages))) { hasGone = true }
    }
}

/// What is answered on a connection, found by a text in each answer.
class RawResendingClient: ResendingClient {
    fileprivate let connection: RawConnection
    /// How many messages each answer is for, in the order in which they were sent.
    fileprivate var open: [Int] = []
    private var (heard, read) = (0, 0)

    fileprivate init(_ port: UInt16) throws { connection = try RawConnection(port: port) }

    override var acknowledged: Int { heard }
    override var isOpen: Bool { !connection.hasEnded }

    override func receive() {
        connection.receive()
        let (found, end) = answers(in: connection.received[read...])
        read = end
        for _ in 0..<min(found, open.count) { heard += open.removeFirst() }
    }

    /// How many good answers are in `bytes`, and where the last of them ends.
    fileprivate func answers(in bytes: ArraySlice<UInt8>) -> (count: Int, end: Int) { (0, bytes.startIndex) }
}

/// Bodies of a few readings, or of as many events of an event hub.
final class PostingClient: RawResendingClient {
    private let isHub: Bool

    init(_ address: String, isHub: Bool) throws {
        self.isHub = isHub
        try super.init(PostClient.port(address))
    }

    override fileprivate func send(_ messages: ArraySlice<String>) {
        open.append(messages.count)
        guard isHub else { return connection.send(PostClient.request(Readings.ndjson(Array(messages)))) }
        let events = messages.map { "{\"Body\":\"\($0.replacing("\"", with: "\\\""))\"}" }
        connection.send(
            PostClient.request(
                Array("[\(events.joined(separator: ","))]".utf8), path: "/ward/messages",
                type: "application/vnd.microsoft.servicebus.json"))
    }

    /// The answer ends with its report in a line; each of these messages must have been taken.
    override fileprivate func answers(in bytes: ArraySlice<UInt8>) -> (count: Int, end: Int) {
        let good = Array("\"rejectedCount\":0,\"rejected\":[]".utf8)
        var (count, end, place) = (0, bytes.startIndex, bytes.startIndex)
        while let brace = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) {
            place = brace + 1
            if !bytes[end..<place].ranges(of: good).isEmpty { (count, end) = (count + 1, place) }
        }
        return (count, end)
    }
}

/// Messages of HL7 v2.
final class MLLPResendingClient: RawResendingClient {
    init(_ address: String) throws { try super.init(PostClient.port(address)) }

    override fileprivate func send(_ messages: ArraySlice<String>) {
        for message in messages {
            open.append(1)
            connection.send(MLLPClient.frame(message))
        }
    }

    override fileprivate func answers(in bytes: ArraySlice<UInt8>) -> (count: Int, end: Int) {
        var (count, end) = (0, bytes.startIndex)
        let good = Array("MSA|AA|".utf8)
        while let last = bytes[end...].firstIndex(of: 0x1C), last + 1 < bytes.endIndex {
            if bytes[end..<last].indices.contains(where: { bytes[$0...].starts(with: good) }) { count += 1 }
            end = last + 2
        }
        return (count, end)
    }
}

/// Messages of QoS 1 to a broker.
final class PublishingClient: RawResendingClient {
    private static let hello: [UInt8] = [0x10, 13, 0, 4] + Array("MQTT".utf8) + [4, 2, 0, 0, 0, 1]
    private var number = 0

    init(_ broker: Mosquitto, name: UInt8) throws {
        try super.init(broker.port)
        connection.send(Self.hello + [0x41 + name])
        try connection.wait("the broker's word") { $0.received.count >= 4 }
    }

    override fileprivate func send(_ messages: ArraySlice<String>) {
        for message in messages {
            open.append(1)
            number = number % 60_000 + 1
            let body =
                [0, 6] + Array("ward/1".utf8) + [UInt8(number >> 8), UInt8(number & 0xFF)] + Array(message.utf8)
            connection.send([0x32, UInt8(body.count & 0x7F | 0x80), UInt8(body.count >> 7)] + body)
        }
    }

    /// PUBACK has four bytes; before the first there is the broker's word, as long.
    override fileprivate func answers(in bytes: ArraySlice<UInt8>) -> (count: Int, end: Int) {
        let count = bytes.count / 4
        return (bytes.startIndex == 0 ? max(0, count - 1) : count, bytes.startIndex + count * 4)
    }
}
