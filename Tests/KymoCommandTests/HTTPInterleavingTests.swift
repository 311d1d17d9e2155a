import CommandSupport
import KymographTestKit
import Testing
import TrialSupport

/// Requests of several connections, with and without `results=items`, that come in pieces and wait together.
@Suite struct HTTPInterleavingTests {
    /// A client that sends requests without waiting for answers, of readings that nobody else brings.
    private struct Sender {
        let connection: RawConnection
        /// What of its requests is not sent.
        var rest: ArraySlice<UInt8> = []
        /// The answers to them.
        var expected: [String] = []
        private let number: Int
        private var readings: [String] = []

        init(_ number: Int, port: UInt16, requests: Int, _ random: inout SeededGenerator) throws {
            self.number = number
            connection = try RawConnection(port: port)
            for place in 0..<requests { addRequest(isLast: place == requests - 1, &random) }
        }

        private mutating func addRequest(isLast: Bool, _ random: inout SeededGenerator) {
            var (lines, items): ([String], [String]) = ([], [])
            var (rejected, new, known): ([(index: Int, reason: String)], Int, Int) = ([], 0, 0)
            for place in 0..<Int.random(in: 1...9, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    lines.append("{")
                    items.append(#"{"rejected":["invalidJSON"]}"#)
                    rejected.append((place, "invalidJSON"))
                case 1 where !readings.isEmpty:
                    lines.append(readings[Int.random(in: 0..<readings.count, using: &random)])
                    items.append(#"{"known":1}"#)
                    known += 1
                default:
                    let count = Int.random(in: 1...3, using: &random)
                    lines.append("[\((0..<count).map { _ in nextReading() }.joined(separator: ","))]")
                    items.append("{\"new\":\(count)}")
                    new += count
                }
            }
            let report = PostClient.report(lines.count, rejected: rejected, accepted: new, duplicate: known)
            let isAsked = Bool.random(using: &random)
            expected.append(
                isAsked ? "\(report.dropLast(2)),\"items\":[\(items.joined(separator: ","))]}\n" : report)
            rest += PostClient.request(
                Readings.ndjson(lines), path: "/v1/ingest\(isAsked ? "?results=items" : "")",
                fields: isLast ? "Connection: close\r\n" : "")
        }

        /// A reading of one of the sender's devices, which several shards have.
        private mutating func nextReading() -> String {
            let device = "watch-\(number)-\(readings.count % 5)"
            readings.append(Readings.heartRate(second: readings.count, device: device))
            return readings[readings.count - 1]
        }

        /// Sends the next `count` bytes.
        mutating func send(_ count: Int) {
            connection.send(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
    }

    /// Each answer has what became of its own lines, exactly, whatever comes between the pieces of its body, and however
    /// many others wait with it.
    @Test(arguments: [1, 2], Trials.seeds(3)) func eachAnswerIsOfItsOwnBody(lanes: Int, seed: UInt64) throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start([
            "run", "--http", "127.0.0.1:0", "--data", folder.file("data"), "--lanes", "\(lanes)", "--shards", "3",
        ])
        let port = PostClient.port(try run.addresses()[0])
        var random = SeededGenerator(seed: seed)
        var senders = try (0..<3).map { try Sender($0, port: port, requests: 40, &random) }
        while senders.contains(where: { !$0.rest.isEmpty }) {
            senders[Int.random(in: 0..<3, using: &random)].send(Int.random(in: 1...700, using: &random))
        }
        for (number, sender) in senders.enumerated() {
            try sender.connection.wait("the end") { $0.hasEnded }
            let answers = PostClient.answers(in: sender.connection.received[...])
            let bodies = answers.map { PostClient.withoutBlanks($0.body) }
            #expect(bodies.count == sender.expected.count, "client \(number): \(bodies.count)")
            for (place, (body, expected)) in zip(bodies, sender.expected).enumerated() {
                #expect(body == expected, "client \(number), request \(place)")
            }
        }
        #expect(try run.terminate().balance?.isClosed == true)
    }
}
