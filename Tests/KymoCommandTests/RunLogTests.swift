import CommandSupport
import Foundation
import Glibc
import Testing

/// What `kymo run` writes to standard error, in each form.
@Suite struct RunLogTests {
    private let folder = TemporaryFolder()

    /// Runs a daemon that receives one reading, and ends it.
    private func daemon(
        _ options: [String] = [], environment: [String: String] = [:], until done: (ChildProcess) throws -> Void
    ) throws -> [String] {
        let run = try Kymo.start(
            ["run", "--unix", folder.file("a.sock"), "--ephemeral", "--out", folder.file("out")] + options,
            environment: environment)
        try Waiting.until("the socket: \(run.errorText)") { Loopback.listens(at: folder.file("a.sock")) }
        try Sending.send(lines: Readings.heartRates(1), to: "unix \(folder.file("a.sock"))")
        try done(run)
        let finished = try run.terminate()
        #expect(finished.end == .exit(0), "\(finished.error)")
        return finished.error.split(separator: "\n").map(String.init)
    }

    @Test func aDaemonWritesTimeAndLevel() throws {
        let lines = try daemon { _ = try $0.addresses() }
        let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z info kymo: .+/
        #expect(lines.count > 2 && lines.allSatisfy { $0.wholeMatch(of: form) != nil }, "\(lines)")
    }

    @Test func aRunThatEndsWritesMessagesOnly() throws {
        let done = try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(Readings.heartRates(1))))
        let lines = done.error.split(separator: "\n")
        #expect(lines.count > 2 && lines.allSatisfy { $0.hasPrefix("kymo: ") }, "\(done.error)")
    }

    @Test func jsonIsAnObjectInEachLine() throws {
        let lines = try daemon(["--log-format", "json"]) { try $0.waitForError("listening on") }
        for line in lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect((object["time"] as? String)?.hasSuffix("Z") == true && object["level"] as? String == "info")
            #expect(object["message"] is String)
        }
        #expect(lines.contains { $0.contains("\"message\":\"received 1 = accepted 1 ") }, "\(lines)")
    }

    @Test func journaldHasPriorities() throws {
        let lines = try daemon(environment: ["KYMO_LOG_FORMAT": "journald"]) { try $0.waitForError("listening on") }
        #expect(lines.count > 2 && lines.allSatisfy { $0.hasPrefix("<6>") }, "\(lines)")
    }

    /// systemd names the stream that it has given; another one is not the journal.
    @Test(arguments: [("", "<6>listening on"), ("1", "Z info kymo: listening on")])
    func theJournalIsRecognised(suffix: String, expected: String) throws {
        let script = """
            JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)\(suffix) exec "$0" run --unix "$1" --ephemeral --out "$2"
            """
        let run = try ChildProcess("/bin/sh", ["-c", script, Kymo.path, folder.file("a.sock"), folder.file("out")])
        try run.waitForError("listening on")
        #expect(run.errorText.contains(expected), "\(run.errorText)")
        #expect(try run.terminate().end == .exit(0))
    }

    @Test func theLevelLeavesOut() throws {
        let lines = try daemon(["--log-level", "error"]) { _ in }
        #expect(lines == [])
        let wrong = try Kymo.run(["run", "--stdin", "--log-level", "loud"])
        #expect(wrong.end == .exit(78) && wrong.error.contains("error, warning, info, debug"), "\(wrong.error)")
    }

    @Test func aSilentSourceIsToldOf() throws {
        let lines = try daemon(environment: ["KYMO_LOG_SILENT_AFTER": "300ms"]) { run in
            try run.waitForError("silent for 1s (log.silentAfter), since 2")
            try Sending.send(lines: Readings.heartRates(2), to: "unix \(folder.file("a.sock"))")
            try run.waitForError("receives again, after ")
        }
        #expect(lines.count { $0.contains("receives again") } == 1, "\(lines)")
    }

    /// A serial line that is not there, and comes.
    @Test func connectionsComeAndGo() throws {
        let link = folder.file("line")
        let lines = try daemon(["--serial", "\(link):9600", "--log-format", "json"]) { run in
            try run.waitForError("\"event\":\"source.disconnected\"")
            let terminal = try PseudoTerminal()
            unsafe symlink(terminal.path, link)
            try withExtendedLifetime(terminal) { try run.waitForError("\"event\":\"source.connected\"") }
        }
        let changes = try lines.compactMap { line -> [String]? in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let event = object?["event"] as? String, event.hasSuffix("connected") else { return nil }
            return [event, object?["level"] as? String ?? "", object?["source"] as? String ?? ""]
        }
        let source = "serial \(link)"
        let expected = [["source.disconnected", "warning", source], ["source.connected", "info", source]]
        #expect(changes.starts(with: expected), "\(lines)")
    }
}
