import CommandSupport
import Glibc
import Testing

/// `kymo demo`, which a new user runs first: it needs nothing, keeps nothing, and its picture is of what came out.
@Suite struct DemoTests {
    @Test func showsTheMainJob() throws {
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["demo"], environment: ["HOME": folder.path, "XDG_STATE_HOME": folder.file("state")],
            directory: folder.path)
        #expect(done.end == .exit(0) && done.error.isEmpty, "\(done.error)")
        let balance = try #require(Balance(done.text.replacing("  received ", with: "kymo: received ")))
        #expect(balance.received == balance.accepted + balance.duplicate + balance.conflict + balance.rejected)
        #expect(balance.accepted > 1_000 && balance.duplicate > 0 && balance.rejected == 1)
        #expect(done.text.contains("1 rejected as nullValue: "))
        let rows = done.lines.filter { $0.hasPrefix("  sim-") && $0.hasSuffix(" Observations") }
        #expect(rows.count == 12 && rows.allSatisfy { $0.contains { "▁▂▃▄▅▆▇█".contains($0) } }, "\(done.text)")
        #expect(done.text.contains("\"resourceType\": \"Observation\"") && done.text.contains("valueSampledData"))
        #expect(done.lines.allSatisfy { $0.count <= 120 })
        #expect(Files.names(folder.path).isEmpty, "nothing is kept")
    }

    /// Each command that it names next is one.
    @Test func namesCommandsThatWork() throws {
        let folder = TemporaryFolder()
        let text = try Kymo.run(["demo", "--seed", "3"]).text
        let next = text.split(separator: "\n").drop { $0 != "Next:" }.dropFirst()
        #expect(next.count == 3)
        for line in next {
            let command = line.firstRange(of: "   ").map { line[..<$0.lowerBound] } ?? line
            let script = command.replacing("kymo ", with: "\(Kymo.path) ")
            let done = try ChildProcess("/bin/sh", ["-c", String(script)], directory: folder.path).finish()
            let isSilent = command.contains("--export")
            #expect(done.end == .exit(0) && done.output.isEmpty == isSilent, "\(command): \(done.error)")
        }
    }

    /// The console of an instance with a ward, until it is stopped.
    @Test func servesTheConsole() throws {
        let folder = TemporaryFolder()
        let demo = try Kymo.start(["demo", "--console"], environment: ["TMPDIR": folder.path])
        try demo.waitForError("#login=")
        let link = try #require(demo.errorText.firstMatch(of: /(http:\/\/127\.0\.0\.1:[0-9]+)\/console\/#login=\S+/))
        let address = String(link.output.1)
        let page = try ChildProcess("/usr/bin/curl", ["-sS", "\(address)/console/"]).finish()
        #expect(page.text.contains("<html"), "\(page.error)")
        // What each device's trouble comes to, in the metrics.
        let rejections = try ["clockAhead", "patientDeviceMismatch"].map { reason in
            try Regex("kymo_rejected_total\\{[^}]*reason=\"\(reason)\"[^}]*\\} [1-9]")
        }
        try Waiting.until("rejections of both reasons") {
            let metrics = try ChildProcess("/usr/bin/curl", ["-sS", "\(address)/metrics"]).finish().text
            return rejections.allSatisfy { metrics.contains($0) }
        }
        #expect(Files.names(folder.path).count == 1)
        demo.signal(SIGINT)
        let done = try demo.finish()
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(Files.names(folder.path).isEmpty, "nothing is kept")
    }

    @Test func closedOutputIsNoCrash() throws {
        let done = try ChildProcess("/bin/sh", ["-c", "\(Kymo.path) demo | head -1"]).finish()
        #expect(done.end == .exit(0) && done.lines.count == 1)
    }
}
