import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Clients of `kymo run --mllp` that are slow, or want to fill memory, while another one goes on.
@Suite struct HostileMLLPTests {
    private let folder = TemporaryFolder()

    /// Sends one message after the other, each of which must be acknowledged.
    private final class GoodClient {
        private let client: MLLPClient
        private(set) var sent = 0

        init(_ address: String) throws { client = try MLLPClient(address) }

        func goOn() throws {
            let text = MonitorMessages.message(id: sent, second: sent, results: [MonitorMessages.heartRate("72")])
            let reply = try client.exchange(text)
            #expect(reply?.contains("MSA|AA|\(sent)\n") == true, "\(reply ?? "no reply")")
            sent += 1
        }
    }

    private func start(_ arguments: [String] = []) throws -> (ChildProcess, String) {
        let run = try Kymo.start(
            ["run", "--mllp", "127.0.0.1:0", "--mapping", "pcd-01", "--data", folder.file("data")] + arguments)
        return (run, try run.addresses()[0])
    }

    /// Half a message for ever, dripped or not, is cut; a silent connection between messages is not.
    @Test func halfMessages() throws {
        let (run, address) = try start()
        let good = try GoodClient(address)
        let silent = try MLLPClient(address)
        let half = try (0..<10).map { _ in try MLLPClient(address).connection }
        for connection in half { connection.send([0x0B] + Array("MSH|^~".utf8)) }
        try Waiting.until("all are cut", seconds: 120) {
            for connection in half[..<5] { connection.send("x") }
            for connection in half { connection.receive() }
            try good.goOn()
            return half.allSatisfy(\.hasEnded)
        }
        silent.connection.receive()
        #expect(!silent.connection.hasEnded && half.allSatisfy { $0.received.isEmpty })
        let done = try run.terminate()
        #expect(done.balance?.reasons == ["frameIncomplete": 10] && done.balance?.isClosed == true, "\(done.error)")
        #expect(done.balance?.accepted == good.sent && done.error.contains("idle connections 10"), "\(done.error)")
    }

    /// A message of more than 1 MiB ends its connection, and so does another protocol; a message of 1 MiB is read.
    @Test func largeMessages() throws {
        let (run, address) = try start()
        let good = try GoodClient(address)
        let large = try MLLPClient(address)
        let text = MonitorMessages.message(id: 5, results: [MonitorMessages.heartRate("72")]) + "\nZZZ|"
        let fill = String(repeating: "z", count: (1 << 20) - text.utf8.count)
        #expect(try large.exchange(text + fill)?.contains("MSA|AA|5\n") == true)
        large.connection.send(MLLPClient.frame(text + fill + "z"))
        try large.connection.wait("the end") { $0.hasEnded }
        let other = try MLLPClient(address)
        other.connection.send("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 10_000))")
        try other.connection.wait("the end") { $0.hasEnded }
        try good.goOn()
        let done = try run.terminate()
        #expect(done.balance?.reasons == ["frameTooLong": 1, "frameMalformed": 1], "\(done.error)")
    }

    /// Unfinished messages of many clients hold no more than they may: those that would are cut, and small ones go on.
    @Test func unfinishedMessages() throws {
        let file = folder.write(
            "kymo.yaml",
            "data: \(folder.file("data"))\nmappings: [pcd-01]\nsources:\n- mllp: 127.0.0.1:0\n"
                + "  connectionsPerPeer: 200\n"
        )
        let run = try Kymo.start(["run", "--config", file])
        let address = try run.addresses()[0]
        let good = try GoodClient(address)
        let part = [0x0B] + [UInt8](repeating: 0x20, count: 1_000_000)
        let others = try (0..<80).map { _ in
            let connection = try MLLPClient(address).connection
            connection.send(part)
            try good.goOn()
            return connection
        }
        try Waiting.until("some are cut") {
            for connection in others { connection.receive() }
            try good.goOn()
            return others.contains(where: \.hasEnded)
        }
        #expect(others.count(where: \.hasEnded) < others.count / 2)
        let done = try run.terminate()
        #expect(done.balance?.accepted == good.sent && done.balance?.isClosed == true, "\(done.error)")
    }

    /// More connections than may be are refused, and the one that was there first goes on.
    @Test func manyConnections() throws {
        let (run, address) = try start()
        let good = try GoodClient(address)
        try good.goOn()
        var others: [RawConnection] = []
        for number in 0..<1_000 {
            others.append(try MLLPClient(address).connection)
            if number % 50 == 0 { try good.goOn() }
        }
        try Waiting.until("most are refused") {
            for connection in others { connection.receive() }
            try good.goOn()
            return others.count(where: \.hasEnded) == 1_000 - 31
        }
        let done = try run.terminate()
        #expect(done.error.contains("refused connections 969") && done.balance?.accepted == good.sent, "\(done.error)")
    }

    /// Replies that are never read stop the connection from being read, and nobody else.
    @Test func repliesThatAreNeverRead() throws {
        let (run, address) = try start()
        let good = try GoodClient(address)
        let many = (0..<500).flatMap {
            MLLPClient.frame(MonitorMessages.message(id: $0, second: $0, results: [MonitorMessages.heartRate("72")]))
        }
        for _ in 0..<5 {
            let client = try MLLPClient(address).connection
            var (sent, idle) = (0, 0)
            while idle < 20 {
                let taken = client.sendUnread(Array(many[(sent % many.count)...]))
                sent += taken
                idle = taken > 0 ? 0 : idle + 1
                usleep(2_000)
                try good.goOn()
                try #require(sent < 256 << 20, "it is read on and on")
            }
            #expect(sent > 64 << 10)
        }
        #expect(try run.terminate().end == .exit(0))
    }
}
