import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo flush`: open windows of a running instance are closed now.
@Suite struct FlushTests {
    private let run = StoredRun()

    private func start(_ arguments: [String] = []) throws -> (instance: ChildProcess, address: String) {
        let instance = try Kymo.start(
            [
                "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--format",
                "ndjson", "--idle", "0s", "--window", "1h",
            ] + arguments)
        let address = try instance.addresses()[0]
        try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        return (instance, address)
    }

    private func send(_ lines: [String], to address: String, total: Int) throws {
        try Sending.send(lines: lines, to: address)
        try Waiting.until("\(total) readings") {
            try run.json("status", "--format", "json")["sources"]?.elements?.first?["received"]?.integer == total
        }
    }

    private func closed(_ arguments: String...) throws -> JSONTree {
        let done = try Kymo.run(["flush", "--format", "json", "--data", run.data] + arguments)
        #expect(done.end == .exit(0), "\(done.error) \(done.text)")
        return try JSONTree(parsing: done.output)
    }

    /// Of what is in the files, those that still grow included.
    private func statuses() -> [String] {
        Files.names(run.output).filter { $0.contains(".ndjson") }.flatMap { name in
            Files.text("\(run.output)/\(name)").split(separator: "\n").compactMap { line in
                try? JSONTree(parsing: Array(line.utf8))["status"]?.text
            }
        }
    }

    /// What is open leaves; again there is nothing to close; what comes later amends; and nothing is lost or twice.
    @Test(arguments: [1, 2]) func closesWhatIsOpen(lanes: Int) throws {
        let (instance, address) = try start(["--lanes", "\(lanes)", "--shards", "\(lanes)"])
        let lines = Readings.heartRates(30) + Readings.heartRates(20, device: "watch-2")
        try send(lines, to: address, total: 50)
        #expect(statuses().isEmpty)
        let first = try closed()
        #expect(first["closed"]?.integer == 2 && first["isDurable"]?.isTrue == true)
        // In the file by the time that the command says so.
        #expect(statuses() == ["final", "final"])
        #expect(try run.command("flush").text == "closed 0 windows: none was open\n")
        try send([Readings.heartRate(second: 40)], to: address, total: 51)
        #expect(try closed()["closed"]?.integer == 1)
        #expect(statuses().sorted() == ["amended", "final", "final"])
        // A reading that came again changes nothing.
        try send([Readings.heartRate(second: 40)], to: address, total: 52)
        _ = try closed()
        #expect(statuses().count == 3)
        let done = try instance.terminate()
        let balance = try #require(done.balance)
        #expect(balance.received == 52 && balance.accepted == 51 && balance.duplicate == 1 && balance.isClosed)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// Only windows of the types and devices that are named are closed.
    @Test func closesWhatIsNamed() throws {
        let (instance, address) = try start()
        let steps = Readings.heartRate(second: 1).replacing("heartRate", with: "bodyMass")
            .replacing("\"/min\"", with: "\"kg\"")
        try send(
            Readings.heartRates(3) + Readings.heartRates(3, device: "watch-2") + [steps], to: address, total: 7)
        #expect(try closed("--device", "nobody")["closed"]?.integer == 0)
        #expect(try closed("--device", "watch-2", "--type", "heart*")["closed"]?.integer == 1)
        #expect(try closed("--type", "heartRate")["closed"]?.integer == 1)
        #expect(try closed()["closed"]?.integer == 1)
        #expect(try instance.terminate().end == .exit(0))
    }

    /// What a flush has closed is there after a kill, and what came after it is taken from the journal.
    @Test func outlivesAKill() throws {
        let (instance, address) = try start()
        try send(Readings.heartRates(30), to: address, total: 30)
        #expect(try closed()["closed"]?.integer == 1)
        try send([Readings.heartRate(second: 50)], to: address, total: 31)
        try Waiting.until("the journal") {
            try run.json("status", "--format", "json")["store"]?["journalReadings"]?.integer ?? 0 > 0
        }
        instance.signal(SIGKILL)
        _ = try instance.wait()
        let (next, _) = try start()
        _ = try closed()
        #expect(statuses().contains("amended"))
        #expect(try next.terminate().end == .exit(0))
        let query = try Kymo.run(["query", "--readings", "--data", run.data])
        #expect(query.lines.count == 31)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    @Test func withoutAnInstance() throws {
        try run.run(Readings.heartRates(3))
        let done = try run.command("flush")
        #expect(done.end == .exit(66) && done.error.contains("no instance runs in"), "\(done.error)")
    }

    /// Where a server keeps what it got first, later readings of a window would never reach it.
    @Test func notWhereTheFirstVersionStays() throws {
        let config = run.folder.write("kymo.yaml", "output: {write: conditional-create}\n")
        let instance = try Kymo.start([
            "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--config", config,
        ])
        _ = try instance.addresses()
        try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        let done = try run.command("flush")
        #expect(done.end == .exit(1) && done.error.contains("keep the first version"), "\(done.error)")
        #expect(try instance.terminate().end == .exit(0))
    }
}
