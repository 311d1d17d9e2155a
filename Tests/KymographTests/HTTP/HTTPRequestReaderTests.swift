@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What is a request, and what is refused.
@Suite struct HTTPRequestReaderTests {
    private static let limits = HTTPLimits()
    private static let chunked = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// The steps of a reader that gets `text` in pieces of `size` bytes, up to the first that needs more than all.
    private func steps(_ text: String, pieces size: Int) -> [HTTPRequestReader.Step] {
        var reader = HTTPRequestReader(Self.limits)
        var steps: [HTTPRequestReader.Step] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            reading: while true {
                let step = reader.next()
                switch step {
                case .request, .head: steps.append(step)
                case .refused: return steps + [step]
                case .needsMore, .awaitsContinue: break reading
                }
            }
        }
        return steps
    }

    private func requests(_ text: String, pieces size: Int = .max) -> [ReceivedRequest] {
        steps(text, pieces: size).compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    private func refusal(_ text: String, pieces size: Int = .max) -> Int? {
        if case .refused(let refusal) = steps(text, pieces: size).last { refusal.status } else { nil }
    }

    @Test(arguments: [1, 2, 3, 7, 1_000]) func readsInPiecesOfAnySize(size: Int) throws {
        let text =
            "GET /metrics?a=b HTTP/1.1\r\nHost: a\r\nAccept:\t x/y \r\n\r\n" + Self.chunked
            + "5;note=1\r\nhello\r\n1\r\n!\r\n0\r\nSum: 6\r\n\r\nPOST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nok"
        let found = requests(text, pieces: size)
        try #require(found.count == 3)
        #expect(found[0].method == "GET" && found[0].path == "/metrics" && found[0].query == "a=b")
        #expect(found[0].values(of: "accept") == ["x/y"] && found[0].keepsConnection)
        #expect(found[1].body.elementsEqual("hello!".utf8))
        #expect(found[2].body.elementsEqual("ok".utf8) && !found[2].keepsConnection)
    }

    @Test func aTargetMayBeAURL() {
        #expect(requests("GET http://a/livez HTTP/1.1\r\nHost: a\r\n\r\n").map(\.path) == ["/livez"])
        #expect(requests("GET http://a HTTP/1.1\r\nHost: a\r\n\r\n").map(\.path) == ["/"])
        #expect(requests("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").map(\.path) == ["*"])
    }

    @Test func connectionsEndWhereAsked() {
        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"
        #expect(requests(request).map(\.keepsConnection) == [false])
    }

    @Test func aBodyMayBeAwaited() {
        var reader = HTTPRequestReader(Self.limits)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
        reader.append(Array(head.utf8)[...])
        if case .awaitsContinue = reader.next() {} else { Issue.record("the client is not told to go on") }
        reader.append([0x21])
        guard case .request(let request) = reader.next() else { Issue.record(); return }
        #expect(request.body.elementsEqual([0x21]))
    }

    /// Each of these is read in another way, or repaired, by one program or another.
    @Test(arguments: [
        "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\r\n\nX: 1\r\n\r\n", "\r\nGET / HTTP/1.1\r\n\r\n",
        "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / http/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.10\r\nHost: a\r\n\r\n",
        "GET /\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\u{E9} HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", chunked + "0x1\r\na\r\n", chunked + "+1\r\na\r\n",
        chunked + " 1\r\na\r\n", chunked + "-1\r\na\r\n", chunked + "\r\na\r\n", chunked + "1\na\n0\n\n",
        chunked + "1\r\nab\r\n", chunked + "FFFFFFFFFFFFFFFF\r\n", chunked + "1;\0\r\na\r\n",
        chunked + "0\r\nContent-Length: 1\r\n\r\n", chunked + "0\r\n x\r\n\r\n",
    ]) func whatIsReadInSeveralWaysIsRefused(text: String) {
        #expect(refusal(text) == 400)
        #expect(refusal(text, pieces: 1) == 400)
    }

    @Test func refusalsSayWhatIsNotSupported() {
        #expect(refusal("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == 505)
        #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n") == 501)
        #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n") == 417)
    }

    @Test func limitsHold() {
        let limits = Self.limits
        func head(_ filler: Int) -> String {
            let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
            return start + String(repeating: "x", count: limits.headBytes - start.utf8.count - 4 + filler) + "\r\n\r\n"
        }
        #expect(refusal(head(0)) == nil && requests(head(0)).count == 1)
        #expect(refusal(head(1)) == 431)
        // Without an end it is refused no later.
        #expect(refusal(String(repeating: "x", count: limits.headBytes + 1), pieces: 1) == 431)
        func fields(_ count: Int) -> String {
            "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: 1\r\n", count: count - 1) + "\r\n"
        }
        #expect(refusal(fields(limits.fields)) == nil && refusal(fields(limits.fields + 1)) == 431)
        let body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
        #expect(refusal(body + "\(limits.bodyBytes)\r\n\r\n") == nil)
        #expect(refusal(body + "\(limits.bodyBytes + 1)\r\n\r\n") == 413)
        #expect(refusal(body + "99999999999999999999\r\n\r\n") == 400)
        #expect(refusal(Self.chunked + String(limits.bodyBytes + 1, radix: 16) + "\r\n") == 413)
        #expect(refusal(Self.chunked + "1;" + String(repeating: "x", count: 300)) == 431)
        #expect(refusal(Self.chunked + "0\r\n" + String(repeating: "X: 1\r\n", count: limits.fields + 1)) == 431)
    }

    @Test func datesAreThoseOfHTTP() {
        #expect(HTTPDateText.of(.init(seconds: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDateText.of(.init(seconds: 1_782_864_000)) == "Wed, 01 Jul 2026 00:00:00 GMT")
    }

    private static func request(_ random: inout SeededGenerator) -> [UInt8] {
        let body = String(repeating: "b", count: Int.random(in: 0...120, using: &random))
        let name = ["Content-Length", "content-length"].randomElement(using: &random) ?? ""
        let zeros = String(repeating: "0", count: Int.random(in: 0...2, using: &random))
        let type = ["", "Content-Type: a/b\r\n"].randomElement(using: &random) ?? ""
        return Array("POST /x HTTP/1.1\r\nHost: a\r\n\(name): \(zeros)\(body.utf8.count) \r\n\(type)\r\n\(body)".utf8)
    }

    /// What follows a request of the same connection is read as it is alone, however it differs: in its length, or in
    /// bytes that were put in, left out or changed.
    @Test func aHeadIsReadAsIfItWereTheFirst() {
        for seed in Trials.seeds(tenthOf: 50_000) {
            var random = SeededGenerator(seed: seed)
            let first = Self.request(&random)
            var second = Self.request(&random)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let place = second.indices.randomElement(using: &random) ?? 0
                let byte = "0123456789 :\r\n\0xC-".utf8.randomElement(using: &random) ?? 0
                switch Int.random(in: 0...2, using: &random) {
                case 0: second[place] = byte
                case 1: second.insert(byte, at: place)
                default: second.remove(at: place)
                }
            }
            let alone = Self.read([second])
            // The first gives its head and itself.
            #expect(Self.read([first, second]).dropFirst(2) == alone[...], "seed \(seed)")
        }
    }

    /// What a reader makes of `parts`, each of which begins where a request does, in words.
    private static func read(_ parts: [[UInt8]]) -> [String] {
        var reader = HTTPRequestReader(limits, announcesHeads: true)
        var found: [String] = []
        for part in parts {
            reader.append(part)
            reading: while true {
                switch reader.next() {
                case .request(let request): found.append("\(request) \(Array(request.body))")
                case .head(let head): found.append("\(head.body) \(head.request)")
                case .refused(let refusal): return found + ["\(refusal)"]
                case .needsMore, .awaitsContinue: break reading
                }
            }
        }
        return found
    }
}
