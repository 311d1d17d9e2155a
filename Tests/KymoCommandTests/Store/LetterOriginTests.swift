import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A dead letter is replayed as what its own source brought, or not at all: whose readings are says the source.
@Suite struct LetterOriginTests {
    /// Two wards, one after the other behind the same socket, each with sources as a configuration has them.
    private struct Wards {
        let run = StoredRun()

        init() {
            run.folder.write("no/device.json", MappingText.device.replacing("(@pulse)", with: "(@nothing)"))
            run.folder.write("yes/device.json", MappingText.device)
            for name in ["no", "yes"] { run.folder.write("\(name)/fhir.json", MappingText.fhir) }
        }

        var socket: String { run.folder.file("a.sock") }

        /// The name that the letters' source has without stating one.
        var name: String { "unix \(socket)" }

        /// The mapping of all sources that have none of their own reads the payloads.
        func configuration(_ sources: [String]) -> String {
            "mappings: [\(run.folder.file("yes"))]\nsources:\n" + sources.map { "  - \($0)\n" }.joined()
        }

        private func arguments(_ sources: [String]) -> [String] {
            let file = run.folder.write("kymo.yaml", configuration(sources))
            return ["--config", file, "--data", run.data, "--out", run.output, "--format", "ndjson"]
        }

        func start(_ sources: String...) throws -> ChildProcess {
            let instance = try Kymo.start(["run", "--no-watch"] + arguments(sources))
            _ = try instance.addresses(sources.count)
            try Waiting.until("the instance to answer") { try run.command("status").text.contains("used by process") }
            return instance
        }

        /// The first ward's source, whose mapping reads nothing.
        var first: String { "{unix: \(socket), mappings: [\(run.folder.file("no"))]}" }

        /// Leaves one letter of the first ward.
        func fill() throws {
            let instance = try start(first)
            try Sending.send(lines: [MappingText.reading], to: name)
            try Waiting.until("a letter") { try run.command("dead", "list").lines.count == 2 }
            #expect(try instance.terminate().end == .exit(0))
        }

        func replay(_ sources: String...) throws -> Kymo.Finished {
            try Kymo.run(["dead", "replay", "--all"] + arguments(sources))
        }

        /// Whether nothing came of the letter, and it is there as before.
        func checkUntouched(_ replay: Kymo.Finished, _ reason: String) throws {
            #expect(replay.end == .exit(65) && replay.error.contains("letter 1: "), "\(replay.error)")
            #expect(replay.error.contains(reason) && replay.error.contains("replayed 0 payloads"), "\(replay.error)")
            #expect(try run.command("dead", "list").lines.count == 2)
            #expect(try run.json("ledger", "--format", "json")["balance"]?["received"]?.integer == 1)
        }
    }

    /// The socket of ward A is ward B's now: the letter was filed as B's, with B's mappings, tags and patients.
    @Test(arguments: [false, true]) func anotherWardHasTheAddress(isRunning: Bool) throws {
        let wards = Wards()
        try wards.fill()
        let other = "{unix: \(wards.socket), name: ward-b, defaultPatient: p-b}"
        let instance = isRunning ? try wards.start(other) : nil
        try wards.checkUntouched(
            try wards.replay(other), "it came from \(wards.name), and no source is called that here")
        #expect(try instance?.terminate().end ?? .exit(0) == .exit(0))
        #expect(wards.run.written.isEmpty)
        // Who says which source it was has it replayed.
        let named = try wards.replay("{unix: \(wards.socket), name: \"\(wards.name)\"}")
        #expect(named.end == .exit(0), "\(named.error)")
        #expect(wards.run.written.count == 1 && !wards.run.written[0].contains("p-b"))
    }

    /// The name of ward A's source is an address, and ward B listens there: its bytes went to B.
    @Test func aNameThatIsTheAddressOfAnother() throws {
        let wards = Wards()
        try wards.fill()
        let instance = try wards.start(
            "{unix: \(wards.run.folder.file("b.sock")), name: \"\(wards.name)\"}",
            "{unix: \(wards.socket), name: ward-b, defaultPatient: p-b}")
        try wards.checkUntouched(
            try wards.replay("{unix: \(wards.socket)}"),
            "\(wards.name) is the name of a source that listens elsewhere by now")
        #expect(try instance.terminate().end == .exit(0))
        #expect(wards.run.written.isEmpty)
    }

    /// A source that a reload has removed takes nothing, and with the next one its socket is another's. (Within one, a
    /// source at the same address is the same one, whose name needs a restart.)
    @Test func aReloadHasGivenTheAddressAway() throws {
        let wards = Wards()
        let instance = try wards.start(wards.first)
        try Sending.send(lines: [MappingText.reading], to: wards.name)
        try Waiting.until("a letter") { try wards.run.command("dead", "list").lines.count == 2 }
        let elsewhere = wards.run.folder.file("c.sock")
        let other = "{unix: \(wards.socket), name: ward-b}"
        for (source, sign) in [("{unix: \(elsewhere)}", "c.sock"), (other, "ward-b")] {
            wards.run.folder.write("kymo.yaml", wards.configuration([source]))
            instance.signal(SIGHUP)
            try Waiting.until(sign) { try wards.run.command("status").text.contains(sign) }
        }
        try wards.checkUntouched(try wards.replay(other), "no source is called that here")
        #expect(try instance.terminate().end == .exit(0))
        #expect(wards.run.written.isEmpty)
    }

    /// Without any source in the settings all that comes is mapped alike, and nothing is to be mixed up.
    @Test func settingsWithoutSources() throws {
        let wards = Wards()
        try wards.fill()
        let run = wards.run
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--data", run.data, "--out", run.output, "--format", "ndjson", "--mapping",
            run.folder.file("yes"),
        ])
        #expect(replay.end == .exit(0) && run.written.count == 1, "\(replay.error)")
    }
}
