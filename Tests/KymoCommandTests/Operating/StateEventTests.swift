import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing

/// Events of the log that nothing else makes happen: each change of a state is written once, and so is its end.
@Suite struct StateEventTests {
    private let folder = TemporaryFolder()

    /// Starts with a log for programs, and waits until the socket is there.
    private func start(_ more: String, environment: [String: String] = [:]) throws -> ChildProcess {
        folder.write("kymo.yaml", "sources: [{unix: a.sock}]\nlog: {format: json}\nwindow: 30s\nidle: 1s\n\(more)\n")
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], environment: environment, directory: folder.path)
        try Waiting.until("the source: \(run.errorText)") { run.errorText.contains("listening on unix") }
        return run
    }

    /// Events and their levels, in order, that begin with one of `prefixes`.
    private func events(_ text: String, _ prefixes: [String]) throws -> [String] {
        try text.split(separator: "\n").compactMap { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let event = object?["event"] as? String, let level = object?["level"] as? String,
                prefixes.contains(where: event.hasPrefix)
            else { return nil }
            return "\(event) \(level)"
        }
    }

    /// A disk that is full, of the store or of the output, and has room again.
    @Test(
        .enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"), arguments: ["data", "out"])
    func aFullDisk(place: String) throws {
        let machine = try FaultyMachine(root: folder.file(place))
        let run = try start("data: data\noutput: {to: out}", environment: machine.environment)
        let client = try AckClient(folder.file("a.sock"))
        let event = place == "data" ? "store" : "output"
        machine.fill(true)
        client.send(Readings.ndjson(Readings.heartRates(120)))
        try run.waitForError("\"event\":\"\(event).waiting\"")
        machine.fill(false)
        try run.waitForError("\"event\":\"\(event).again\"")
        try Waiting.until("120 acknowledged: \(run.errorText)") {
            client.receive()
            return client.acknowledged == 120
        }
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let found = try events(done.error, ["store.waiting", "store.again", "output."])
        #expect(found == ["\(event).waiting error", "\(event).again info"], "\(done.error)")
    }

    /// Lists and mappings that are read again, and those that are refused.
    @Test func whatIsReadAgain() throws {
        folder.write("p.csv", "device,patient,from\nwatch-1,p-1,2026-01-01T00:00:00Z\n")
        folder.write("rules.yaml", "rules:\n  - name: bench\n    then: drop\n    devices: [\"test-*\"]\n")
        let run = try start("ephemeral: true\npatients: p.csv\nrules: rules.yaml\nwatchConfig: true")
        folder.write("p.csv", "device,patient,from\nwatch-1,p-1,2026-01-01T00:00:00Z\nwatch-2,p-2,\n")
        try run.waitForError("\"event\":\"patients.loaded\"")
        folder.write("p.csv", "device,patient,from\nwatch-1,p-3,2026-01-01T00:00:00Z\n")
        try run.waitForError("\"event\":\"patients.changed\"")
        folder.write("rules.yaml", "rules:\n  - name: bench\n    then: drop\n    devices: [\"bench-*\"]\n")
        try run.waitForError("\"event\":\"rules.loaded\"")
        folder.write("kymo.yaml", "lanes: many\n")
        try run.waitForError("\"event\":\"reload.refused\"")
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let found = try events(done.error, ["patients.", "rules.", "reload."])
        let expected = [
            "patients.loaded info", "patients.changed warning", "rules.loaded info", "reload.refused error",
        ]
        #expect(found == expected, "\(done.error)")
        #expect(!done.error.contains("watch-1") && !done.error.contains("p-3"), "\(done.error)")
    }

    /// A server that is there, and is no FHIR server.
    @Test func aServerThatIsUnfit() throws {
        let other = try Kymo.start(
            ["run", "--unix", folder.file("b.sock"), "--ephemeral"], environment: ["KYMO_HTTP_ADMIN": "127.0.0.1:0"])
        let url = "http://127.0.0.1:\(try AdminClient(other).port)/fhir"
        let run = try start("data: data\noutput: {to: none}\nserver: {url: \"\(url)\", identity: create}")
        let client = try AckClient(folder.file("a.sock"))
        client.send(Readings.ndjson(Readings.heartRates(120)))
        try run.waitForError("\"event\":\"sink.unfit\"")
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try events(done.error, ["sink.unfit"]) == ["sink.unfit error"], "\(done.error)")
    }
}
