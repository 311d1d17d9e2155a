import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo run --http`, with real clients.
@Suite struct RunHTTPTests {
    private let folder = TemporaryFolder()

    private func start(_ arguments: [String] = []) throws -> (ChildProcess, String) {
        let run = try Kymo.start(["run", "--http", "127.0.0.1:0", "--data", folder.file("data")] + arguments)
        return (run, try run.addresses()[0])
    }

    private func body(_ lines: [String]) -> [UInt8] { Readings.ndjson(lines) }

    /// What was answered is there after the worst end.
    @Test func whatIsAnsweredIsDurable() throws {
        let (run, address) = try start()
        let client = PostClient(address)
        let first = try client.exchange(PostClient.request(body(Readings.heartRates(300) + ["", "{", "{\"x\":1}"])))
        #expect(first?.status == 200 && first?.header.contains("application/json") == true)
        let rejected = [(300, "invalidJSON"), (301, "noTemplate")]
        #expect(PostClient.withoutBlanks(first?.body) == PostClient.report(302, rejected: rejected, accepted: 300))
        run.signal(SIGKILL)
        _ = try run.wait()
        let again = try Kymo.run(["run", "--stdin", "--data", folder.file("data")])
        #expect(again.error.contains("took 300 readings"), "\(again.error)")
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")])
        #expect(letters.lines.count == 3, "\(letters.text)")
    }

    /// A document over several lines, an array, lines, compressed lines and chunks give the same readings.
    @Test func allFormsOfABody() throws {
        let (run, address) = try start()
        let client = PostClient(address)
        let lines = Readings.heartRates(40)
        let path = folder.write("lines.ndjson", lines.joined(separator: "\n"))
        let array = "[\n  \(lines[0..<10].joined(separator: " ,\n  "))\n]"
        let request = PostClient.request(Array(array.utf8), path: "/v1/ingest/reading", type: "application/json")
        #expect(try PostClient.withoutBlanks(client.exchange(request)?.body) == PostClient.report(10, accepted: 10))
        let document = lines[10].replacing(",", with: ",\r\n  ")
        let typed = "application/fhir+json; charset=UTF-8"
        #expect(try client.exchange(PostClient.request(Array(document.utf8), type: typed))?.status == 200)
        #expect(try client.exchange(PostClient.request(Array("[]".utf8), type: "application/json"))?.status == 200)
        for (program, coding) in [("gzip", "gzip"), ("zstd", "zstd")] {
            let compressed = try ChildProcess(program, ["-c", path]).finish().output
            let request = PostClient.request(compressed, fields: "Content-Encoding: \(coding)\r\n")
            let answer = try client.exchange(request)
            #expect(answer?.body.hasPrefix("{\"received\":40,\"rejectedCount\":0,") == true, "\(coding)")
        }
        let chunks = lines[20..<25].map { "\(String($0.utf8.count + 1, radix: 16))\r\n\($0)\n\r\n" }.joined()
        let head = "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
        let chunked = "\(head)Content-Type: application/x-ndjson\r\n\r\n\(chunks)0\r\n\r\n"
        #expect(try client.exchange(Array(chunked.utf8))?.body.hasPrefix("{\"received\":5,") == true)
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.accepted == 40 && balance.received == 96 && balance.isClosed, "\(done.error)")
    }

    /// The array that MyDataHelpsKit persists: each point is answered for, one of the same key takes the place of the first,
    /// and a page that is sent again changes nothing.
    @Test func persistedPoints() throws {
        let (run, address) = try start(["--mapping", "mydatahelps-points", "--out", folder.file("out")])
        let client = PostClient(address)
        let point = { (value: String, date: String) in
            #"{"identifier":"mood","type":"Mood","value":"\#(value)","properties":{},"source":{"identifier":"app-3","#
                + #""properties":{}},"observationDate":"\#(date)"}"#
        }
        let good = [point("4", "2026-03-01T20:00:00Z"), point("3", "2026-03-02T20:00:00Z")]
        let bad = [point("", "2026-03-03T20:00:00Z"), point("2", "yesterday")]
        func send(_ points: [String]) throws -> String {
            let array = Array("[\(points.joined(separator: ","))]".utf8)
            let request = PostClient.request(
                array, path: "/v1/ingest/mydatahelps-points", type: "application/json")
            return PostClient.withoutBlanks(try client.exchange(request)?.body)
        }
        let rejected = [(1, "missingValue"), (3, "invalidTimestamp")]
        #expect(
            try send([good[0], bad[0], good[1], bad[1]]) == PostClient.report(4, rejected: rejected, accepted: 2))
        #expect(try send(good) == PostClient.report(2, accepted: 0, duplicate: 2))
        #expect(try send([point("5", "2026-03-01T20:00:00Z")]) == PostClient.report(1, accepted: 0, conflict: 1))
        let balance = try run.terminate().balance
        #expect(balance?.duplicate == 2 && balance?.isClosed == true, "\(balance as Any)")
        let resources = Files.names(folder.file("out")).map { Files.text(folder.file("out/\($0)")) }.joined()
        #expect(resources.contains("\"code\":\"Mood\"") && resources.contains("\"value\":5"), "\(resources)")
    }

    private static let document = Readings.heartRate(second: 1)
    private static let zeros = String(repeating: "0", count: 70_000)

    /// Requests that are refused, with the status and the code of the answer.
    private static let refused: [(request: String, status: Int, code: String)] = [
        ("POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n{", 400, "invalidJSON"),
        ("POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n[{", 400, "invalidJSON"),
        ("POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 400, "emptyBody"),
        (
            "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc", 400,
            "damagedBody"
        ),
        ("POST /v1/ingest HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 400, "badRequest"),
        ("POST /v1/ingest?results=all HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", 400, "badRequest"),
        ("POST /v1/ingest?results HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", 400, "badRequest"),
        (
            "POST /v1/ingest?results=items&results=items HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", 400,
            "badRequest"
        ),
        ("POST /hub/messages?results=items HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", 400, "badRequest"),
        ("POST /v1/ingest HTTP/1.1\nHost: a\n\n", 400, "badRequest"),
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 404, "notFound"),
        ("POST /v1/ingest/wristband HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", 404, "mappingNotFound"),
        ("GET /v1/ingest HTTP/1.1\r\nHost: a\r\n\r\n", 405, "methodNotAllowed"),
        ("POST /v1/ingest HTTP/1.1\r\nHost: a\r\n\r\n", 411, "lengthRequired"),
        ("POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 8388609\r\n\r\n", 413, "bodyTooLarge"),
        (
            "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n800001\r\n", 413, "bodyTooLarge"
        ),
        (
            "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: text/csv\r\nContent-Length: 1\r\n\r\n", 415,
            "unsupportedMediaType"
        ),
        (
            "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json;charset=utf-16\r\n"
                + "Content-Length: 1\r\n\r\n", 415, "unsupportedMediaType"
        ),
        (
            "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\n", 415,
            "unsupportedEncoding"
        ),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: \(zeros)\r\n\r\n", 431, "headerTooLarge"),
        ("GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: 1\r\n", count: 100))\r\n", 431, "headerTooLarge"),
    ]

    /// Errors are told in JSON that a program can read, and with nothing of the request.
    @Test func refusals() throws {
        let (run, address) = try start()
        for (request, status, code) in Self.refused {
            let connection = try RawConnection(port: PostClient.port(address))
            connection.send(request)
            try connection.wait("an answer to \(request.prefix(200))") {
                !PostClient.answers(in: $0.received[...]).isEmpty
            }
            let answer = PostClient.answers(in: connection.received[...]).first
            #expect(answer?.status == status, "\(request.prefix(200)): \(connection.text)")
            let body = try JSONTree(parsing: Array((answer?.body ?? "").utf8))
            #expect(body["error"]?.text == code && body["message"]?.text?.isEmpty == false, "\(connection.text)")
        }
        #expect(try PostClient(address).exchange(PostClient.request(body([Self.document])))?.status == 200)
        let expected = Dictionary(grouping: Self.refused) { $0.status }.map { "code=\"\($0)\"} \($1.count)" }
        var counted: [String] = []
        try Waiting.until("\(expected) in the metrics, not \(counted)") {
            let metrics = try Kymo.run(["status", "--data", folder.file("data"), "--format", "prometheus"])
            counted = metrics.lines.filter { $0.hasPrefix("kymo_source_requests_refused_total{") }
            return counted.count == expected.count
                && expected.allSatisfy { row in counted.contains { $0.hasSuffix(row) } }
        }
        #expect(try run.terminate().balance?.received == 1)
    }

    /// Brackets that do not match are refused with their place, and nothing of what is there.
    @Test func whereABodyIsBroken() throws {
        let (run, address) = try start()
        for (text, place) in [
            ("{\n \"a\": [1}", "it is broken at line 2, column 9"), ("[{\"a\": 1}, {", "it ends within one"),
            ("[{}", "it ends within one"),
        ] {
            let request = PostClient.request(Array(text.utf8), type: "application/json")
            let answer = try PostClient(address).exchange(request)
            #expect(answer?.status == 400 && answer?.body.contains(place) == true, "\(answer?.body as Any)")
        }
        #expect(try run.terminate().balance?.received == 0)
    }

    /// Where a source has several mappings, all of them are tried, or the one that the path names.
    @Test func severalMappings() throws {
        let (run, address) = try start(["--mapping", "reading", "--mapping", "wristband"])
        let client = PostClient(address)
        for (path, status, part) in [
            ("/v1/ingest/reading", 200, "\"rejected\":[]"), ("/v1/ingest/wristband", 200, "noTemplate"),
            ("/v1/ingest", 200, "\"rejected\":[]"), ("/v1/ingest/reading", 200, "\"rejected\":[]"),
            ("/v1/ingest/readin", 404, "mappingNotFound"), ("/v1/ingest/", 404, "mappingNotFound"),
        ] {
            let answer = try client.exchange(PostClient.request(body([Self.document]), path: path))
            #expect(answer?.status == status && answer?.body.contains(part) == true, "\(path): \(answer as Any)")
            #expect(answer?.body.contains("wristband") == false)
        }
        let balance = try run.terminate().balance
        #expect(balance?.accepted == 1 && balance?.duplicate == 2 && balance?.reasons == ["noTemplate": 1])
    }

    /// A hundred requests at once, and thousands, are answered in order; the last one ends the connection.
    @Test(arguments: [100, 3_000]) func pipelinedRequests(count: Int) throws {
        let (run, address) = try start()
        let connection = try RawConnection(port: PostClient.port(address))
        var all: [UInt8] = []
        for index in 0..<count {
            let lines = Array(repeating: Readings.heartRate(second: index), count: 1 + index % 3)
            all += PostClient.request(body(lines), fields: index == count - 1 ? "Connection: close\r\n" : "")
        }
        connection.send(all)
        try connection.wait("the end", seconds: 120) { $0.hasEnded }
        let answers = PostClient.answers(in: connection.received[...])
        let expected = (0..<count).map { PostClient.report(1 + $0 % 3, accepted: 1, duplicate: $0 % 3) }
        #expect(answers.map { PostClient.withoutBlanks($0.body) } == expected)
        #expect(try run.terminate().balance?.accepted == count)
    }

    /// What became of readings is told to whoever brought them, whichever shards have them, and others' readings are
    /// not among them.
    @Test func whatBecomesOfReadings() throws {
        let (run, address) = try start(["--shards", "3", "--lanes", "2"])
        let clients = [PostClient(address), PostClient(address)]
        func send(_ lines: [String], by client: Int) throws -> String {
            PostClient.withoutBlanks(try clients[client].exchange(PostClient.request(body(lines)))?.body)
        }
        let devices = (0..<12).map { "watch-\($0)" }
        let all = devices.flatMap { Readings.heartRates(5, device: $0) }
        #expect(try send(all, by: 0) == PostClient.report(60, accepted: 60))
        #expect(try send(all, by: 1) == PostClient.report(60, accepted: 0, duplicate: 60))
        let others = devices.map { Readings.heartRate(second: 2, value: 99, device: $0) }
        let ahead = Readings.heartRate(second: 9).replacing("2026-03-01", with: "2226-03-01")
        let mixed = others + [all[0], ahead, "{", Readings.heartRate(second: 900)]
        #expect(
            try send(mixed, by: 0)
                == PostClient.report(
                    16, rejected: [(13, "clockAhead"), (14, "invalidJSON")], accepted: 13, duplicate: 1))
        #expect(try send(["{"], by: 1) == PostClient.report(1, rejected: [(0, "invalidJSON")], accepted: 0))
        #expect(try send([all[1]], by: 1) == PostClient.report(1, accepted: 0, duplicate: 1))
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 73 && balance.duplicate == 62 && balance.isClosed, "\(balance)")
        #expect(balance.reasons == ["invalidJSON": 2, "clockAhead": 1], "\(balance)")
    }

    /// What another source brings between two requests, on their lane, is in neither's answer.
    @Test func othersBetweenRequests() throws {
        let file = folder.write("kymo.yaml", "sources: [{http: '127.0.0.1:0'}, {tcp: '127.0.0.1:0'}]\n")
        let run = try Kymo.start(["run", "--config", file, "--lanes", "1", "--data", folder.file("data")])
        let addresses = try run.addresses(2)
        let client = PostClient(try #require(addresses.first { $0.hasPrefix("http ") }))
        let other = try AckClient(tcp: #require(addresses.first { $0.hasPrefix("tcp ") }))
        let lines = Readings.heartRates(5)
        func send(_ lines: [String]) throws -> String {
            PostClient.withoutBlanks(try client.exchange(PostClient.request(body(lines)))?.body)
        }
        #expect(try send(lines) == PostClient.report(5, accepted: 5))
        other.send(body(lines))
        try Waiting.until("the duplicates") {
            other.receive()
            return other.acknowledged == 5
        }
        let next = Readings.heartRate(second: 900)
        #expect(try send([lines[0], next]) == PostClient.report(2, accepted: 1, duplicate: 1))
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 6 && balance.duplicate == 6 && balance.isClosed, "\(balance)")
    }

    /// What windows have no room for is told as well.
    @Test func whatWindowsReject() throws {
        let run = try Kymo.start(
            ["run", "--http", "127.0.0.1:0", "--data", folder.file("data")],
            environment: ["KYMO_LIMITS_READINGS_PER_WINDOW": "5"])
        let client = PostClient(try run.addresses()[0])
        let answer = try client.exchange(PostClient.request(body(Readings.heartRates(8))))
        #expect(PostClient.withoutBlanks(answer?.body) == PostClient.report(8, accepted: 5, later: 3))
        #expect(try run.terminate().balance?.reasons == ["tooManyReadings": 3])
    }

    /// A client that has gone before its answer has delivered all the same; what it sends again are duplicates.
    @Test func whoHasGoneSendsAgain() throws {
        let (run, address) = try start()
        let request = PostClient.request(body(Readings.heartRates(100)))
        var first: RawConnection? = try RawConnection(port: PostClient.port(address))
        first?.send(request)
        first = nil
        #expect(try PostClient(address).exchange(request)?.status == 200)
        try Waiting.until("both") {
            try Kymo.run(["status", "--data", folder.file("data")]).text.contains("duplicate 100")
        }
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 100 && balance.duplicate == 100 && balance.isClosed)
    }

    @Test func deadLettersSayWhoSentThem() throws {
        let (run, address) = try start(["--dead-letter", folder.file("dead.ndjson")])
        let oops = PostClient.request(Array("[{\"oops\":1},\(Self.document)]".utf8), type: "application/json")
        #expect(try PostClient(address).exchange(oops)?.body.contains("\"index\":0,") == true)
        // The text is the client's, and stays with the letter.
        let done = try run.terminate()
        let letters = try DeadLetter.read(folder.file("dead.ndjson"))
        #expect(letters.count == 1 && letters.first?.text == "{\"oops\":1}")
        #expect(letters.first?.detail.contains("sent by 127.0.0.1:") == true, "\(letters)")
        #expect(done.balance?.accepted == 1 && done.balance?.isClosed == true)
    }

    /// Without a store nothing is durable, and the answer says only that it was read.
    @Test func withoutAStore() throws {
        let run = try Kymo.start(["run", "--http", "127.0.0.1:0", "--ephemeral"])
        let client = PostClient(try run.addresses()[0])
        for _ in 0..<3 {
            let answer = try client.exchange(PostClient.request(body([Self.document])))
            #expect(answer?.status == 200 && answer?.body == PostClient.report(1))
        }
        #expect(try run.terminate().balance?.duplicate == 2)
    }

    @Test func othersNeedAWord() throws {
        let refused = try Kymo.run(["run", "--http", "0.0.0.0:0"])
        #expect(refused.end == .exit(78) && refused.error.contains("and HTTP neither encrypts"), "\(refused.error)")
        let file = folder.write("kymo.yaml", "sources: [{http: '127.0.0.1:0', whenFull: dropNewest}]\n")
        let drops = try Kymo.run(["check", "--config", file])
        #expect(drops.end == .exit(78) && drops.error.contains("whenFull: block"), "\(drops.error)")
        let both = folder.write("both.yaml", "sources: [{http: '127.0.0.1:5780'}, {tcp: '127.0.0.1:5780'}]\n")
        let twice = try Kymo.run(["check", "--config", both])
        #expect(twice.end == .exit(78) && twice.error.contains("two sources have tcp 127.0.0.1:5780"), "\(twice.error)")
    }

    /// curl asks before it sends a large body, and compresses nothing of its own.
    @Test func curl() throws {
        let (run, address) = try start()
        let path = folder.write("lines.ndjson", Readings.heartRates(20_000).joined(separator: "\n"))
        let url = "http://\(address.dropFirst(5))/v1/ingest/reading"
        let types = ["-H", "Content-Type: application/x-ndjson", "-H", "Expect: 100-continue"]
        let done = try ChildProcess(
            "curl", ["-sS", "--fail", "--data-binary", "@\(path)"] + types + [url, "--next", "-sS", "-d", "x", url]
        ).finish()
        #expect(done.text.hasPrefix("{\"received\":20000,\"rejectedCount\":0,"), "\(done.text) \(done.error)")
        #expect(done.text.contains("\"error\":\"unsupportedMediaType\""), "\(done.text)")
        #expect(try run.terminate().balance?.accepted == 20_000)
    }
}
