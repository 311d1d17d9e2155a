import CommandSupport
import Foundation
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Identifiers, payloads, files and servers command no terminal, and write no line of a log.
@Suite struct HostileTextTests {
    private func expectClean(_ done: Kymo.Finished, _ what: [String], mayBeSilent: Bool = false) {
        for (stream, bytes) in [("output", done.output), ("error", Array(done.error.utf8))] {
            let found = HostileText.controls(in: bytes)
            #expect(
                found.isEmpty,
                "\(stream) of \(what): \(Set(found).sorted()) in \(String(decoding: bytes, as: UTF8.self).debugDescription)"
            )
        }
        #expect(mayBeSilent || !done.output.isEmpty || !done.error.isEmpty, "\(what) says nothing")
    }

    /// Commands on a store, which succeed, or find what is not as it should be (65).
    private static func readers(_ scene: HostileScene, letters: [String]) throws -> [[String]] {
        let mappings = ["--mapping", "reading", "--mapping", scene.folder.file("mine")]
        let first = try scene.command(["query", "--limit", "1"] + mappings)
        let cursor = try #require(first.error.firstMatch(of: /--cursor (\S+)/), "\(first.error)").1
        let always = [
            ["query"] + mappings, ["query", "--format", "table"], ["query", "--readings"],
            ["query", "--readings", "--format", "table"], ["query", "--device", scene.device] + mappings,
            ["query", "--type", scene.argument], ["query", "--cursor", String(cursor)] + mappings, ["sources"],
            ["sources", "list", "--devices"],
            ["sources", "list", "--format", "json"], ["ledger"], ["ledger", "--format", "json"],
            ["ledger", "--verify"],
            ["ledger", "--device", scene.device], ["dead"], ["dead", "--format", "json"], ["dead", "list"],
            ["dead", "list", "--mapping", "reading"], ["dead", "list", "--format", "ndjson"],
            ["dead", "list", "--format", "json"], ["status"], ["status", "--format", "json"],
            ["dead", "replay", "--all", "--mapping", "reading", "--out", scene.folder.file("again")],
            ["sources", "remove", "--device", scene.device], ["sources", "remove", scene.argument],
            ["flush", "--device", scene.device], ["flush", "--type", scene.argument],
        ]
        return always + letters.flatMap { [["dead", "show", $0], ["dead", "show", $0, "--text"]] }
    }

    /// Commands that name a text which nothing has, their status and what they say.
    private static func refusals(
        _ text: String, mapping: String
    ) -> [(arguments: [String], status: Int32, message: String)] {
        [
            (["query", "--cursor", text], 64, "it is none that 'kymo query' has named"),
            (
                ["query", "--id", text, "--mapping", "reading", "--mapping", mapping], 65,
                "the store has no Observation with the id"
            ),
            (["pause", "--as", "type", text], 1, "there is no type or source"),
            (["resume", "--as", "source", text], 1, "there is no type or source"),
        ]
    }

    /// Commands on files and arguments.
    private static func others(_ scene: HostileScene) -> [[String]] {
        let file = "broken \(HostileScene.inFile(scene.text)).yaml"
        return [
            ["patients", "check", "patients.csv"], ["patients", "check", "patients.csv", "--device", scene.device],
            ["patients", "check", "patients.csv", "--device", scene.device, "--format", "json"],
            ["patients", "check", "patients.csv", "--device", scene.patient], ["map", "document.json"],
            ["map", "--explain", "document.json"], ["map", "--explain", "--mapping", "./mine", "payloads"],
            ["map", "--explain", "--format", "json", "--mapping", "./mine", "payloads"],
            ["map", "payloads", "payloads"],
            ["eval", "a", "document.json"], ["eval", "$.a", "document.json"],
            ["eval", "a.[\(scene.text)", "document.json"],
            ["eval", "a", scene.argument], ["check", "--config", file],
            ["run", "--config", file],
            ["config", "print", "--config", file], ["run", "--udp", scene.argument],
            ["run", "--mapping", scene.argument], [scene.argument],
            ["check", "--config", "odd.yaml"], ["mappings", "--export", scene.argument, "x"],
            ["test", scene.argument], ["compare", "out", "payloads"],
            ["config", "print", "--config", "odd.yaml"], ["query", "--\(scene.argument)"],
        ]
    }

    @Test(arguments: Trials.seeds(tenthOf: 30)) func noCommandShowsControlCharacters(seed: UInt64) throws {
        let scene = try HostileScene(seed: seed)
        let run = try scene.start(["--log-format", seed % 2 == 0 ? "json" : "text"])
        let tap = try Kymo.start(["tap", "--stage", "payload", "--reveal", "--data", scene.folder.file("data")])
        let readings = try Kymo.start([
            "tap", "--stage", "measurement", "--reveal", "--data", scene.folder.file("data"),
        ])
        let nothing = try Kymo.start([
            "tap", "--stage", "payload", "--type", scene.argument, "--rate", "1", "--data", scene.folder.file("data"),
        ])
        for tapped in [tap, readings, nothing] { try tapped.waitForError("tapping process") }
        try nothing.waitForError("no mapping in use has the type")
        try scene.fill()
        try Waiting.until("tapped events") { tap.output.count > 200 && readings.output.count > 200 }
        for tapped in [tap, readings, nothing] {
            let done = try tapped.terminate()
            expectClean(done, ["tap"])
            #expect(done.end == .exit(0), "\(done.error)")
        }
        let list = try scene.command(["dead", "list"]).lines.dropFirst()
        let letters = list.compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(letters.count > 6, "\(list)")
        for arguments in try Self.readers(scene, letters: letters) {
            let done = try scene.command(arguments)
            expectClean(done, arguments, mayBeSilent: true)
            #expect([.exit(0), .exit(65)].contains(done.end), "\(arguments): \(done.end) \(done.error)")
        }
        for (arguments, status, message) in Self.refusals(scene.argument, mapping: scene.folder.file("mine")) {
            let done = try scene.command(arguments)
            expectClean(done, arguments)
            #expect(done.end == .exit(status) && done.error.contains(message), "\(arguments): \(done.error)")
        }
        #expect(try scene.command(["query", "--format", "table"]).text.contains(PrintableText.line(scene.device)))
        #expect(try scene.command(["top", "--once"]).text.contains("SOURCE"))
        let done = try #require(try scene.stop())
        expectClean(done, ["run"])
        #expect(done.error.contains("serverRefused"), "\(done.error)")
        // None of the server's lines is a line of the log.
        for line in done.error.split(separator: "\n") {
            #expect(!line.contains("kymo: forged") || !line.hasPrefix("2026-03-01T08"), "\(line)")
            #expect(!line.hasPrefix("<3>"), "\(line)")
        }
        withExtendedLifetime(run) {}
    }

    @Test(arguments: Trials.seeds(3)) func noMessageShowsControlCharacters(seed: UInt64) throws {
        let scene = try HostileScene(seed: seed)
        scene.folder.write(
            "odd.yaml",
            "sources: [{unix: a.sock, name: \(JSONText.quoted(scene.text))}]\ndeadLetter: \(JSONText.quoted(scene.device))\n"
        )
        Files.write(Array(scene.payloads.joined(separator: [0x0A])), to: scene.folder.file("payloads"))
        for arguments in Self.others(scene) {
            expectClean(try Kymo.run(arguments, directory: scene.folder.path), arguments)
        }
        let input = ChildProcess.Input.bytes(Array(scene.payloads.joined(separator: [0x0A])))
        for format in ["text", "json", "journald"] {
            let arguments = ["run", "--stdin", "--log-format", format, "--log-level", "debug", "--out", "o-\(format)"]
            expectClean(try Kymo.run(arguments, directory: scene.folder.path, input: input), arguments)
        }
    }

    /// Letters of payloads that were rejected.
    private func letters(_ scene: HostileScene) throws -> [String] {
        try ["noTemplate", "invalidJSON", "invalidUTF8"].flatMap { reason in
            try scene.command(["dead", "list", "--reason", reason]).lines.dropFirst()
                .compactMap { $0.split(separator: " ").first.map(String.init) }
        }
    }

    /// What programs read is as it is, unless it goes to a terminal.
    @Test func dataIsExactButOnATerminal() throws {
        let scene = try HostileScene(seed: Trials.seed(1))
        _ = try scene.start()
        try scene.fill()
        _ = try scene.stop()
        var shown: Set<[UInt8]> = []
        for letter in try letters(scene) {
            shown.insert(try expectEscapedOnATerminal(["dead", "show", letter, "--bytes"], scene))
        }
        #expect(shown.isSubset(of: scene.payloads) && shown.contains(scene.invalidUTF8) && shown.count > 3)
        let exported = try expectEscapedOnATerminal(["export", "--format", "csv"], scene)
        #expect(exported.contains(Array(scene.device.utf8)))
    }

    /// Runs a command into a file and to a terminal. Returns what the file has.
    private func expectEscapedOnATerminal(_ arguments: [String], _ scene: HostileScene) throws -> [UInt8] {
        let piped = try scene.command(arguments)
        #expect(!piped.output.isEmpty && piped.end == .exit(0), "\(arguments): \(piped.error)")
        let terminal = try PseudoTerminal()
        let shown = try scene.command(arguments, output: .path(terminal.path))
        let bytes = terminal.received().replacing([0x0D, 0x0A], with: [0x0A])
        #expect(shown.end == .exit(0) && HostileText.controls(in: bytes) == [], "\(arguments): \(bytes)")
        #expect(bytes == PrintableText.lines(piped.output), "\(arguments)")
        return piped.output
    }

    /// A pipe gets identifiers as they are; on a terminal it is the same document, with escapes.
    @Test(arguments: Trials.seeds(3)) func observationsOnATerminal(seed: UInt64) throws {
        let scene = try HostileScene(seed: seed)
        let arguments = ["run", "--stdin", "--mapping", "reading", "--format", "ndjson", "--window", "1m"]
        let input = ChildProcess.Input.bytes(scene.payloads[0])
        let piped = try Kymo.run(arguments, directory: scene.folder.path, input: input)
        #expect(piped.end == .exit(0) && piped.output.contains(Array(scene.device.utf8)), "\(piped.error)")
        let terminal = try PseudoTerminal()
        let run = try Kymo.start(
            arguments, directory: scene.folder.path, input: input, output: .path(terminal.path))
        var shown: [UInt8] = []
        try Waiting.until("an Observation: \(run.errorText)") {
            shown += terminal.received()
            return shown.contains(0x0A)
        }
        #expect(try run.wait() == .exit(0), "\(run.errorText)")
        shown = (shown + terminal.received()).replacing([0x0D, 0x0A], with: [0x0A])
        #expect(HostileText.controls(in: shown) == [], "\(shown)")
        #expect(shown.contains(Array(PrintableText.line(scene.device).utf8)))
        #expect(try JSONTree(parsing: shown)["resourceType"]?.text == "Observation")
    }
}
