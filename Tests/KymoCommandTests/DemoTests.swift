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

    /// The console of a demo, for whoever opens its link.
    private struct Console {
        let address: String
        let code: String
        let cookies: String

        init(_ demo: ChildProcess, cookies: String) throws {
            try demo.waitForError("End it with Ctrl-C.")
            let link = try #require(
                demo.errorText.firstMatch(of: /(http:\/\/127\.0\.0\.1:[0-9]+)\/console\/#login=(\S+)/))
            (address, code, self.cookies) = (String(link.output.1), String(link.output.2), cookies)
        }

        func page(_ path: String) throws -> String {
            try ChildProcess("/usr/bin/curl", ["-sS", "\(address)/\(path)"]).finish().text
        }

        /// What the API answers; with `body` to a POST. An answer without end is cut after some seconds.
        func ask(_ path: String, _ body: String? = nil) throws -> String {
            var arguments = ["-sSN", "--max-time", "5", "-b", cookies, "-c", cookies, "-H", "Origin: \(address)"]
            if let body { arguments += ["-H", "Content-Type: application/json", "-d", body] }
            return try ChildProcess("/usr/bin/curl", arguments + ["\(address)/console/api/\(path)"]).finish().text
        }
    }

    /// Mappings have results, letters can be replayed, and the overview names the device that leaves gaps.
    @Test func theConsoleOfTheDemoCanDoWhatOthersCan() throws {
        let (folder, cookies) = (TemporaryFolder(), TemporaryFolder())
        let demo = try Kymo.start(["demo", "--console"], environment: ["TMPDIR": folder.path])
        let console = try Console(demo, cookies: cookies.file("cookies"))
        // Six hours of four devices, one of which is out of reach for a sixth of the time.
        try Waiting.until("the readings of six hours") {
            let counts = try console.page("metrics").matches(of: /kymo_readings_received_total(?:\{[^}]*\})? ([0-9]+)/)
            return counts.reduce(0) { $0 + (Int($1.output.1) ?? 0) } > 2_500
        }
        #expect(try console.ask("login", "{\"code\":\"\(console.code)\"}").contains("operate"))
        let tested = try console.ask("mappings/tests?name=reading")
        #expect(tested.contains("\"examples\":[{") && !tested.contains("\"differences\":[\""), "\(tested)")
        let letters = try console.ask("letters?reason=clockAhead")
        let number = try #require(letters.firstMatch(of: /"number":([0-9]+)/)).output.1
        // Its clock is wild still.
        let replayed = try console.ask("letters/replay", "{\"letters\":[\(number)]}")
        #expect(replayed.contains("replayed 0 payloads") && replayed.contains("clockAhead"), "\(replayed)")
        try Waiting.until("the device with gaps") {
            let told = try console.ask("live")
            return told.contains("Gaps in the readings of masked-")
                && told.contains("readings were not taken: the clock of the device is ahead")
        }
        demo.signal(SIGINT)
        #expect(try demo.finish().end == .exit(0))
    }

    /// The console of an instance with a ward, until it is stopped.
    @Test func servesTheConsole() throws {
        let folder = TemporaryFolder()
        let demo = try Kymo.start(["demo", "--console"], environment: ["TMPDIR": folder.path])
        let console = try Console(demo, cookies: folder.file("cookies"))
        #expect(try console.page("console/").contains("<html"))
        // What each device's trouble comes to, in the metrics.
        let rejections = try ["clockAhead", "patientDeviceMismatch"].map { reason in
            try Regex("kymo_rejected_total\\{[^}]*reason=\"\(reason)\"[^}]*\\} [1-9]")
        }
        try Waiting.until("rejections of both reasons") {
            let metrics = try console.page("metrics")
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
