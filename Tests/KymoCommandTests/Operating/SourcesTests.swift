import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo sources`: what has come from where.
@Suite struct SourcesTests {
    private let run = StoredRun()

    private func sources() throws -> [JSONTree] {
        try run.json("sources", "list", "--format", "json")["sources"]?.elements ?? []
    }

    private func series() throws -> [String] {
        let rows = try run.json("sources", "list", "--format", "json")["series"]?.elements ?? []
        return rows.map { row in
            let texts = ["device", "type", "first", "last"].map { row[$0]?.text ?? "-" }
            return "\(texts[0]) \(texts[1]) \(row["readings"]?.integer ?? -1) \(texts[2]) \(texts[3])"
        }
    }

    /// Sources of a run, of another, and of none; in open windows and closed ones.
    @Test func devicesAndTypes() throws {
        try run.run(Readings.heartRates(90) + ["{}"])
        let instance = try Kymo.start([
            "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--idle", "0s",
        ])
        let address = try instance.addresses()[0]
        try Sending.send(
            lines: [Readings.heartRate(second: 100), Readings.heartRate(second: 200, device: "watch-2")], to: address)
        try Waiting.until("both devices") { try series().count == 2 }
        #expect(
            try series() == [
                "watch-1 heartRate 91 2026-03-01T08:00:00Z 2026-03-01T08:01:40Z",
                "watch-2 heartRate 1 2026-03-01T08:03:20Z 2026-03-01T08:03:20Z",
            ])
        let rows = try sources()
        let (standard, unix) = (rows.first { $0["name"]?.text == "stdin" }, rows.first { $0["name"]?.text == address })
        #expect(standard?["state"]?.text == "absent" && unix?["state"]?.text == "open")
        #expect(standard?["devices"]?.integer == 1 && unix?["devices"]?.integer == 2)
        #expect(standard?["received"]?.integer == 91 && standard?["rejected"]?.integer == 1)
        #expect(standard?["readings"]?.integer == 90 && unix?["readings"]?.integer == 2)
        #expect(standard?["last"]?.text == "2026-03-01T08:01:29Z" && unix?["first"]?.text == "2026-03-01T08:01:40Z")
        let table = try run.command("sources", "--devices")
        #expect(table.lines.count == 3 && table.lines[0].hasPrefix("DEVICE") && table.text.contains("stdin,unix "))
        _ = try run.command("pause", address)
        #expect(try run.command("sources").text.contains("paused"))
        #expect(try instance.terminate().end == .exit(0))
        #expect(try sources().allSatisfy { ["stopped", "paused"].contains($0["state"]?.text ?? "") })
    }

    /// What was removed is listed no more, its readings stay, and it comes back with its next reading.
    @Test(arguments: [false, true]) func removing(whileItRuns: Bool) throws {
        try run.run(Readings.heartRates(3) + Readings.heartRates(3, device: "watch-2"))
        var instance: ChildProcess?
        if whileItRuns {
            instance = try Kymo.start([
                "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--idle", "0s",
            ])
            try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        }
        for _ in 0..<2 { #expect(try run.command("sources", "remove", "--device", "watch-1").end == .exit(0)) }
        #expect(try series().map { $0.prefix(7) } == ["watch-2"])
        #expect(try run.command("sources", "remove", "--device", "never-there").end == .exit(0))
        #expect(try run.command("query", "--readings").lines.count == 6)
        #expect(try sources().first { $0["name"]?.text == "stdin" }?["devices"]?.integer == 1)
        if let instance {
            let own = try run.command("sources", "remove", try instance.addresses()[0])
            #expect(own.end == .exit(1) && own.error.contains("it is not gone"), "\(own.error)")
            let done = try instance.terminate()
            #expect(done.error.contains("1 device and 0 sources are listed no more, asked by process "))
            #expect(!done.error.contains("watch-1"))
        }
        #expect(try run.command("sources", "remove", "stdin").end == .exit(0))
        #expect(try !sources().contains { $0["name"]?.text == "stdin" })
        try run.run([Readings.heartRate(second: 700)])
        #expect(try series().map { $0.prefix(7) } == ["watch-1", "watch-2"])
        #expect(try sources().contains { $0["name"]?.text == "stdin" })
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    @Test func withoutNames() throws {
        let done = try run.command("sources", "remove")
        #expect(done.end == .exit(64) && done.error.contains("name sources, or devices with --device"))
        #expect(try run.command("sources").end == .exit(66))
    }
}
