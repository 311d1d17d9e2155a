import Glibc
@testable import Kymograph
import KymographCore
import Testing

/// Requests that a lane reads, and how long it waits for them.
@Suite struct HTTPIngestProtocolTests {
    private static let request = "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n{\"a\":1}"

    private func lane() throws -> Lane { try Lane([SourceConfiguration(.http(host: "127.0.0.1", port: 0))]) }

    private func exchange(isDurable: Bool, _ text: String) throws -> (lines: [String], heard: String) {
        let lane = try lane()
        let client = Client.tcp(lane.address(0))
        client.write(text)
        lane.stop()
        var consumer = MarkingConsumer(isDurable: isDurable)
        _ = try lane.run(&consumer)
        return (consumer.lines, String(decoding: Files.readAll(client.descriptor), as: UTF8.self))
    }

    /// No answer before what it is for is durable, and none for what is not complete but that it must come again.
    @Test func nothingIsSaidBeforeItIsDurable() throws {
        let durable = try exchange(isDurable: true, Self.request + Self.request)
        #expect(durable.lines == ["{\"a\":1}", "{\"a\":1}"])
        #expect(durable.heard.ranges(of: "HTTP/1.1 200 OK").count == 2)
        let other = try exchange(isDurable: false, Self.request)
        #expect(other.lines == ["{\"a\":1}"] && other.heard.isEmpty)
        let half = try exchange(isDurable: true, String(Self.request.dropLast()))
        #expect(half.lines.isEmpty && half.heard.hasPrefix("HTTP/1.1 503 ") && half.heard.contains("\"stopping\""))
    }

    /// Feeds `text` to a protocol.
    @discardableResult
    private func read(_ text: String, by reader: HTTPIngestProtocol) -> (progress: StreamProgress, lines: [String]) {
        let progress = StreamProgress(
            number: 0, lineCap: 1_024, acknowledging: .byProtocol, isFresh: true, hasOpenEnds: false)
        var intake = StreamIntake(progress)
        var consumer = MarkingConsumer(isDurable: true)
        let bytes = PaddedBytes(copying: Array(text.utf8))
        _ = reader.take(StreamPiece(bytes.view), &intake, to: &consumer)
        return (progress, consumer.lines)
    }

    /// Seconds after which a protocol that has read `text` gives up its client.
    private func patience(after text: String) -> Int {
        let reader = HTTPIngestProtocol(HeldBytes())
        read(text, by: reader)
        return (1...1_000).first { _ in reader.hasExpired(after: .seconds(1)) } ?? 0
    }

    /// However a sender drips: the time is that of all of a head, or all of a body.
    @Test func patienceEnds() {
        #expect(patience(after: "") == 11)
        #expect(patience(after: "POST /v1") == 11)
        #expect(patience(after: String(Self.request.dropLast())) == 61)
        #expect(patience(after: Self.request) == 121)
        #expect(patience(after: Self.request + "POST") == 11)
        #expect(patience(after: "GET / HTTP/1.1\r\nHost: a\r\n\r\n") == 3)
        let reader = HTTPIngestProtocol(HeldBytes())
        var seconds = 0
        repeat {
            read(seconds == 0 ? String(Self.request.dropLast(7)) : "", by: reader)
            seconds += 1
        } while !reader.hasExpired(after: .seconds(1))
        #expect(seconds == 61)
    }

    /// What is not durable for half a minute is answered so, and nothing else is.
    @Test func overdueReplies() {
        var acknowledger = Acknowledger()
        acknowledger.add(reply: Array("yes".utf8))
        let isEarly = acknowledger.isOverdue(after: .seconds(100))
        #expect(!isEarly, "nothing waits for the disk yet")
        acknowledger.note(DurableMark(positions: [], changes: 1))
        let (first, second) = (acknowledger.isOverdue(after: .seconds(20)), acknowledger.isOverdue(after: .seconds(20)))
        #expect(!first && second)
        acknowledger.giveUp(HTTPIngestProtocol(HeldBytes()).overdueReply)
        var consumer = MarkingConsumer(isDurable: true)
        let said = String(decoding: acknowledger.answer(&consumer), as: UTF8.self)
        #expect(said.hasPrefix("HTTP/1.1 503 ") && said.contains("\"notDurable\"") && !said.contains("yes"))
    }

    /// Knows what became of the readings of some counts, and that everything is durable.
    private struct TellingConsumer: PayloadConsumer {
        var known: [Int: ReadingOutcomes]

        mutating func line(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {}
        mutating func batchEnd() {}
        mutating func isDurable(_ mark: DurableMark) -> Bool { true }
        mutating func takeOutcomes(of count: ReadingCount) -> ReadingOutcomes? {
            known.removeValue(forKey: count.number)
        }
    }

    /// Each reply tells of its own readings, however many wait together; where nobody knows any more, of none.
    @Test func repliesTellOutcomes() {
        var acknowledger = Acknowledger()
        var consumer = TellingConsumer(known: [:])
        for number in 1...200 {
            let reply = Array("\(number)[          ]".utf8)
            acknowledger.add(reply: Array("-".utf8))
            acknowledger.add(
                reply: reply, telling: .sum(ReadingCount(taken: number, number: number)),
                in: reply.count - 11..<reply.count - 1)
            acknowledger.note(DurableMark(positions: [], changes: number))
            guard number % 3 > 0 else { continue }
            consumer.known[number] = ReadingOutcomes()
        }
        let blank = String(decoding: acknowledger.answer(&consumer), as: UTF8.self)
        let short = (1...200).map { "-\($0)[          ]" }.joined()
        #expect(blank == short && consumer.known.isEmpty, "what has no room is not told, and is asked for all the same")
    }

    /// What a body says is JSON of one length, whatever is known of its readings.
    @Test func reportsHaveOneLength() throws {
        let body = Array(HTTPIngestReport(.report).text(hasRoom: true).utf8)
        let place = HTTPIngestReport.room(in: body.count)
        #expect(body[place].first == UInt8(ascii: "}") && body.last == 0x0A)
        var outcomes = ReadingOutcomes()
        (outcomes.duplicate, outcomes.conflict, outcomes.retractions, outcomes.rejected) = (2, 3, 5, 7)
        var replies = ProtocolReplies()
        replies.add(Array("before".utf8))
        replies.add(body, telling: .sum(ReadingCount(taken: 1_000, number: 4)), in: place)
        var all = ProtocolReplies()
        all.add(Array("first".utf8))
        all.add(replies)
        var consumer = TellingConsumer(known: [4: outcomes])
        all.fill(&consumer)
        let text = String(decoding: all.bytes, as: UTF8.self)
        #expect(all.count == 11 + body.count)
        let told =
            "firstbefore{\"received\":0,\"rejectedCount\":0,\"rejected\":[],\"accepted\":983,\"duplicate\":2,"
            + "\"conflict\":3,\"retractions\":5,\"rejectedLater\":7}"
        #expect(text.hasPrefix(told) && text.dropFirst(told.count).allSatisfy { $0 == " " || $0 == "\n" }, "\(text)")
    }

    /// What unfinished bodies hold is counted, and given back.
    @Test func unfinishedBodiesShareRoom() {
        let shared = HeldBytes()
        var readers: [HTTPIngestProtocol] = []
        let part =
            "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n"
            + String(repeating: " ", count: 7_900_000)
        for number in 0..<9 {
            readers.append(HTTPIngestProtocol(shared))
            let progress = read(part, by: readers[number]).progress
            #expect((progress.acknowledger != nil) == (number == 8), "reader \(number)")
        }
        #expect(read(Self.request, by: HTTPIngestProtocol(shared)).progress.acknowledger?.isWaiting == true)
        readers = []
        let progress = read(part, by: HTTPIngestProtocol(shared)).progress
        #expect(progress.acknowledger == nil && !shared.isExhausted)
    }

    /// Lines and documents beyond the limit of a payload are rejected by themselves.
    @Test func longPayloads() {
        let long = "{\"a\":\"\(String(repeating: "x", count: 2_000))\"}"
        for (type, body) in [("application/json", "[{},\(long),{}]"), ("application/x-ndjson", "{}\n\(long)\n{}")] {
            let head = "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\n"
            let (progress, lines) = read(
                "\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)", by: HTTPIngestProtocol(HeldBytes()))
            progress.acknowledger?.note(nil)
            var consumer = MarkingConsumer(isDurable: true)
            let said = String(decoding: progress.acknowledger?.answer(&consumer) ?? [], as: UTF8.self)
            #expect(lines == ["{}", "{}"] && said.contains("{\"received\":3,"), "\(said)")
        }
    }
}
