import CKymographLinux
import Glibc
import KymographCore
import Testing

@testable import Kymograph

/// A client whose answer another thread makes, and one that reads nothing, at a real socket.
@Suite struct HTTPClientTests {
    private static let guarding = [ReceivedRequest.Field(name: "X-Guarded", value: "yes")]
    private let pair: SocketPair
    private let client: HTTPClient
    private let answer = LaterAnswer()

    /// The first request is answered by `answer`, and others at once with their path.
    init() throws {
        let answer = answer
        pair = try SocketPair(for: "a test")
        let bell = Descriptor(kymo_event_create())
        client = HTTPClient(pair.lane, HTTPLimits(), bell: bell, guarding: Self.guarding) { request in
            request.path == "/later" ? .later(answer) : .reply(HTTPReply(200, request.path))
        }
    }

    /// Sends `text`, has the client work, and gives what came of it.
    private func exchange(_ text: String = "") -> String {
        if !text.isEmpty { Array(text.utf8).withByteView { _ = FileSystem.send(pair.program.raw, $0) } }
        var chunk: [UInt8] = []
        client.work(text.isEmpty ? 0 : Int16(POLLIN), chunk: &chunk)
        return received
    }

    private var received: String {
        var (bytes, all): ([UInt8], [UInt8]) = ([UInt8](repeating: 0, count: 1 << 20), [])
        while true {
            let count = HTTPSocket.receive(pair.program.raw, .plain, into: &bytes)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += bytes[..<count]
        }
    }

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

    @Test func aRequestBehindALaterAnswerWaits() {
        #expect(exchange(Self.get("/later") + Self.get("/next")) == "")
        #expect(client.awaitsAnswer && client.events & Int16(POLLIN) == 0)
        answer.finish(HTTPReply(200, "first"))
        let text = exchange()
        #expect(text.contains("first") && text.hasSuffix("/next"))
    }

    /// Cut without a word, an operator would ask for a change once more.
    @Test func whoHasWaitedTooLongIsToldThatItMayGoOn() {
        #expect(exchange(Self.get("/later")) == "")
        client.expire()
        let text = received
        #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("stillRunning") && text.contains("X-Guarded: yes"))
        #expect(text.contains("Connection: close") && answer.isGone && !client.awaitsAnswer)
        answer.finish(HTTPReply(200, "too late"))
        #expect(!exchange().contains("too late"))
    }

    @Test func aStreamEndsBehindWhatWasSent() {
        _ = exchange(Self.get("/later"))
        answer.begin(HTTPReply(200, type: "text/event-stream", ""))
        answer.send(Array("one".utf8))
        #expect(exchange().hasSuffix("one") && client.awaitsAnswer)
        answer.send(Array("two".utf8))
        answer.end()
        #expect(exchange() == "two")
        #expect(!client.awaitsAnswer && pair.receive() == 0, "the connection has its end")
    }

    /// Streams of many pages get one event: of each only what waits alone is shared.
    @Test func bytesOfAStreamAreSharedUntilOthersAreBehindThem() {
        let (event, other) = (Array("event".utf8), LaterAnswer())
        for one in [answer, other] { one.send(event) }
        other.send(Array(" and more".utf8))
        #expect(Self.taken(other) == Array("event and more".utf8) && event == Array("event".utf8))
        let sent = Self.taken(answer)
        #expect(sent == event && sent.place == event.place)
    }

    private static func taken(_ answer: LaterAnswer) -> [UInt8] {
        guard case .stream(_, let bytes) = answer.take() else { return [] }
        return bytes
    }

    /// What one client takes in parts stays whole for others.
    @Test func aSharedEventThatIsSentInPartsStaysWhole() {
        _ = exchange(Self.get("/later"))
        answer.begin(HTTPReply(200, ""))
        _ = exchange()
        let event = (0..<250_000).map { UInt8(truncatingIfNeeded: 0x61 + $0 % 26) }
        let former = event.map { $0 }
        answer.send(event)
        var (text, chunk): (String, [UInt8]) = ("", [])
        for _ in 0..<1_000 where text.utf8.count < event.count {
            client.work(0, chunk: &chunk)
            text += received
        }
        #expect(Array(text.utf8) == former && event == former)
    }

    @Test func whoReadsNothingOfAStreamIsCut() {
        _ = exchange(Self.get("/later"))
        answer.begin(HTTPReply(200, ""))
        var chunk: [UInt8] = []
        for _ in 0..<64 where !client.isClosed {
            answer.send([UInt8](repeating: 0x61, count: 64 << 10))
            client.work(0, chunk: &chunk)
        }
        #expect(client.isClosed && answer.isGone)
    }

    @Test func aStreamWithoutAByteIsCut() {
        _ = exchange(Self.get("/later"))
        answer.begin(HTTPReply(200, ""))
        _ = exchange()
        client.expire()
        #expect(client.isClosed && answer.isGone)
    }

    @Test func whoLeavesIsNotAnswered() {
        _ = exchange(Self.get("/later"))
        pair.hangUp()
        var chunk: [UInt8] = []
        client.work(Int16(POLLIN), chunk: &chunk)
        #expect(client.isClosed && answer.isGone)
    }

    @Test func whatIsRefusedHasTheFieldsOfAllReplies() {
        let text = exchange("GET / HTTP/3.0\r\nHost: a\r\n\r\n")
        #expect(text.contains("X-Guarded: yes") && !text.hasPrefix("HTTP/1.1 200"))
    }
}
