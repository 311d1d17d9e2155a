import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Clients of `kymo run --http` that are slow, lie, or want to fill memory, while another one goes on.
@Suite struct HostileHTTPTests {
    private let folder = TemporaryFolder()

    private static let head = "POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"

    /// Posts one reading after the other, each of which must be answered.
    private final class GoodClient {
        private let client: PostClient
        private(set) var sent = 0

        init(_ address: String) { client = PostClient(address) }

        func goOn() throws {
            let answer = try client.exchange(PostClient.request(Readings.ndjson([Readings.heartRate(second: sent)])))
            sent += 1
            #expect(answer?.status == 200, "\(answer?.body ?? "no answer")")
        }
    }

    private func start() throws -> (ChildProcess, String) {
        let run = try Kymo.start(["run", "--http", "127.0.0.1:0", "--data", folder.file("data")])
        return (run, try run.addresses()[0])
    }

    /// Who drips a header, or says nothing, is cut, and has kept nobody waiting.
    @Test func slowHeaders() throws {
        let (run, address) = try start()
        let good = GoodClient(address)
        let port = PostClient.port(address)
        let silent = try (0..<10).map { _ in try RawConnection(port: port) }
        let slow = try (0..<10).map { _ in try RawConnection(port: port) }
        for connection in slow { connection.send("POST /v1/ingest HTTP/1.1\r\n") }
        try Waiting.until("all are cut") {
            for connection in slow { connection.send("X") }
            for connection in silent { connection.receive() }
            try good.goOn()
            return slow.allSatisfy(\.hasEnded) && silent.allSatisfy(\.hasEnded)
        }
        for connection in slow { #expect(connection.text.hasPrefix("HTTP/1.1 408 "), "\(connection.text)") }
        #expect(silent.allSatisfy { $0.received.isEmpty })
        let done = try run.terminate()
        #expect(done.balance?.accepted == good.sent && done.error.contains("idle connections 20"), "\(done.error)")
        #expect(done.error.contains("whose request was not complete in time; further ones"), "\(done.error)")
    }

    /// Clients that go away with hundreds of answers unread leave no connection behind: more of them than one host may
    /// have at a time come one after the other.
    @Test func answersThatAreNeverRead() throws {
        let (run, address) = try start()
        let request = Array((Self.head + "Content-Length: 3\r\n\r\n{1}").utf8)
        let many = Array((0..<2_000).map { _ in request }.joined())
        var total = 0
        for _ in 0..<40 {
            let client = try RawConnection(port: PostClient.port(address))
            var (sent, idle) = (0, 0)
            while idle < 20 {
                let taken = client.sendUnread(Array(many[(sent % request.count)...]))
                sent += taken
                idle = taken > 0 ? 0 : idle + 1
                usleep(2_000)
            }
            total += sent
        }
        #expect(total > 40 * request.count)
        let good = GoodClient(address)
        for _ in 0..<10 { try good.goOn() }
        #expect(try run.terminate().end == .exit(0))
    }

    /// Headers without an end, bodies that are longer or shorter than stated, and bombs get an answer each; what is
    /// behind a body is the next request.
    @Test func bodiesAndHeadersThatLie() throws {
        let (run, address) = try start()
        let good = GoodClient(address)
        let port = PostClient.port(address)
        let endless = try RawConnection(port: port)
        endless.send("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 10 << 20))
        #expect(endless.text.hasPrefix("HTTP/1.1 431 "), "\(endless.text.prefix(100))")
        try good.goOn()

        let short = try RawConnection(port: port)
        short.send("\(Self.head)Content-Length: 500\r\n\r\n{\"deviceId\":\"half")
        short.finishSending()
        try short.wait("the end") { $0.hasEnded }
        #expect(short.text.hasPrefix("HTTP/1.1 400 "), "\(short.text)")

        let long = try RawConnection(port: port)
        long.send("\(Self.head)Content-Length: 2\r\n\r\n{}{\"deviceId\":\"behind\"}\r\n\r\n")
        try long.wait("both answers") { $0.hasEnded }
        let statuses = PostClient.answers(in: long.received[...]).map(\.status)
        #expect(statuses == [200, 400], "\(long.text)")

        let zeros = folder.file("zeros")
        Files.write([UInt8](repeating: 0x20, count: 100 << 20), to: zeros)
        for (program, coding) in [("gzip", "gzip"), ("zstd", "zstd")] {
            let bomb = try ChildProcess(program, ["-c", zeros]).finish().output
            let answer = try PostClient(address).exchange(
                PostClient.request(bomb, fields: "Content-Encoding: \(coding)\r\n"))
            #expect(answer?.status == 413, "\(coding): \(answer?.body ?? "no answer")")
            try good.goOn()
        }
        let done = try run.terminate()
        #expect(done.balance?.accepted == good.sent, "\(done.error)")
    }

    /// How much a body may become: 64 MiB whatever the ratio, and 100 times its bytes whatever the size.
    @Test(arguments: ["gzip", "zstd"]) func inflatedBodies(coding: String) throws {
        let (run, address) = try start()
        let good = GoodClient(address)
        func post(_ plain: [UInt8]) throws -> (ratio: Int, answer: AdminClient.Answer?) {
            let file = folder.file("plain")
            Files.write(plain, to: file)
            let body = try ChildProcess(coding, ["-1", "-c", file]).finish().output
            let request = PostClient.request(
                body, type: "application/json", fields: "Content-Encoding: \(coding)\r\n")
            return (plain.count / body.count, try PostClient(address).exchange(request))
        }
        // Blanks behind a reading, each `share`-th of which is one of four, so that the ratio is as wanted.
        func plain(_ count: Int, _ share: Int) -> [UInt8] {
            var random = SeededBytes(seed: 20_261_129)
            var block = [UInt8](repeating: 0x20, count: 4 << 20)
            for place in stride(from: 0, to: block.count, by: share) {
                block[place] = [0x20, 0x09, 0x0D, 0x0A][random.next(upTo: 4)]
            }
            var text = Array(Readings.heartRate(second: 0).utf8)
            while text.count < count { text += block.prefix(count - text.count) }
            return text
        }
        let fits = try post(plain(64 << 20, 40))
        #expect(fits.ratio < 90 && fits.answer?.status == 200, "\(fits.ratio): \(fits.answer as Any)")
        let tooLong = try post(plain((64 << 20) + 1, 40))
        #expect(tooLong.ratio < 90 && tooLong.answer?.status == 413, "\(tooLong.ratio): \(tooLong.answer as Any)")
        try good.goOn()
        let tooDense = try post(plain(8 << 20, 4_000))
        #expect(tooDense.ratio > 110 && tooDense.answer?.status == 413, "\(tooDense.ratio): \(tooDense.answer as Any)")
        #expect(tooDense.answer?.body.contains("100 for each compressed one") == true)
        try good.goOn()
        let done = try run.terminate()
        #expect(done.balance?.received == good.sent + 1 && done.balance?.isClosed == true, "\(done.error)")
    }

    /// Half requests hold no more than they may: the one that would is told to come again, and small ones go on.
    @Test func unfinishedBodies() throws {
        let (run, address) = try start()
        let good = GoodClient(address)
        let part = String(repeating: " ", count: 7 << 20)
        let others = try (0..<12).map { _ in
            let connection = try RawConnection(port: PostClient.port(address))
            connection.send("\(Self.head)Content-Length: 8000000\r\n\r\n\(part)")
            try good.goOn()
            return connection
        }
        try Waiting.until("some are refused") {
            for connection in others { connection.receive() }
            return others.contains { $0.text.hasPrefix("HTTP/1.1 503 ") }
        }
        try good.goOn()
        #expect(others.contains { $0.received.isEmpty }, "those that fit are waited for")
        #expect(try run.terminate().balance?.accepted == good.sent)
    }

    /// A client that takes no answers is read no further, until it takes them.
    @Test func whoReadsNoAnswers() throws {
        let (run, address) = try start()
        let good = GoodClient(address)
        let silent = try RawConnection(port: PostClient.port(address))
        let request = Array("\(Self.head)Content-Length: 2\r\n\r\n[]".utf8)
        // What the kernel takes is finite, and so is what kymo takes: at some time nothing is taken any more.
        var (sent, refused) = (0, 0)
        while refused < 200 {
            let rest = sent % request.count
            let taken = silent.sendUnread(Array(request[rest...] + (0..<99).flatMap { _ in request }))
            sent += taken
            refused = taken > 0 ? 0 : refused + 1
            if taken == 0 { usleep(5_000) }
            guard sent < 100 << 20 else { break }
        }
        #expect(refused == 200, "\(sent) bytes were taken")
        try good.goOn()
        try silent.wait("the first answer") { !PostClient.answers(in: $0.received.prefix(1_000)).isEmpty }
        let first = PostClient.answers(in: silent.received.prefix(1_000))[0]
        let size = first.header.utf8.count + 4 + first.body.utf8.count
        try silent.wait("all answers") { $0.received.count == sent / request.count * size }
        _ = try run.terminate()
    }

    /// Whatever bytes come, the next client is answered.
    @Test func noise() throws {
        let (run, address) = try start()
        let good = GoodClient(address)
        var random = SeededBytes(seed: 20_261_126)
        for _ in 0..<200 {
            var request = Array("\(Self.head)Content-Length: 2\r\n\r\n{}".utf8)
            for _ in 0...random.next(upTo: 4) {
                request[random.next(upTo: request.count)] = UInt8(random.next(upTo: 256))
            }
            let connection = try RawConnection(port: PostClient.port(address))
            connection.send(request)
            connection.finishSending()
            try connection.wait("the end") { $0.hasEnded }
            #expect(connection.text.hasPrefix("HTTP/1.1 "), "\(request)")
            try good.goOn()
        }
        #expect(try run.terminate().end == .exit(0))
    }
}
