import CommandSupport
import Foundation
import KymographCore
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

    /// Commands on a store.
    private static func readers(_ scene: HostileScene, letters: [String]) -> [[String]] {
        let always = [
            ["query"], ["query", "--format", "table"], ["query", "--readings"],
            ["query", "--readings", "--format", "table"], ["query", "--device", scene.device],
            ["query", "--type", scene.text], ["query", "--cursor", scene.text], ["sources"],
            ["sources", "list", "--devices"],
            ["sources", "list", "--format", "json"], ["ledger"], ["ledger", "--format", "json"],
            ["ledger", "--verify"],
            ["ledger", "--device", scene.device], ["dead"], ["dead", "--format", "json"], ["dead", "list"],
            ["dead", "list", "--mapping", "reading"], ["dead", "list", "--format", "ndjson"],
            ["dead", "list", "--format", "json"], ["status"], ["status", "--format", "json"],
            ["dead", "replay", "--all", "--mapping", "reading", "--out", scene.folder.file("again")],
            ["sources", "remove", "--device", scene.device], ["sources", "remove", scene.text],
            ["pause", "type", scene.text],
            ["flush", "--device", scene.device], ["flush", "--type", scene.text],
            ["tap", "--stage", "payload", "--type", scene.text, "--rate", "0"],
        ]
        return always + letters.flatMap { [["dead", "show", $0], ["dead", "show", $0, "--text"]] }
    }

    /// Commands on files and arguments.
    private static func others(_ scene: HostileScene) -> [[String]] {
        let file = "broken \(HostileScene.inFile(scene.text)).yaml"
        return [
            ["patients", "check", "patients.csv"], ["patients", "check", "patients.csv", "--device", scene.device],
            ["patients", "check", "patients.csv", "--device", scene.device, "--format", "json"],
            ["patients", "check", "patients.csv", "--device", scene.patient], ["map", "document.json"],
            ["map", "--explain", "document.json"], ["map", "--explain", "--mapping", "mine", "payloads"],
            ["map", "--explain", "--format", "json", "--mapping", "mine", "payloads"], ["map", "payloads", "payloads"],
            ["eval", "a", "document.json"], ["eval", "$.a", "document.json"],
            ["eval", "a.[\(scene.text)", "document.json"],
            ["eval", "a", scene.text.replacing("\0", with: "")], ["check", "--config", file],
            ["run", "--config", file],
            ["config", "print", "--config", file], ["run", "--udp", scene.text.replacing("\0", with: "")],
            ["run", "--mapping", scene.text.replacing("\0", with: "")], [scene.text.replacing("\0", with: "")],
            ["check", "--config", "odd.yaml"], ["mappings", "--export", scene.text.replacing("\0", with: ""), "x"],
            ["test", scene.text.replacing("\0", with: "")], ["compare", "out", "payloads"],
            ["config", "print", "--config", "odd.yaml"], ["query", "--\(scene.text.replacing("\0", with: ""))"],
        ]
    }

    @Test(arguments: Trials.seeds(tenthOf: 30)) func noCommandShowsControlCharacters(seed: UInt64) throws {
        let scene = try HostileScene(seed: seed)
        let run = try scene.start(["--log-format", seed % 2 == 0 ? "json" : "text"])
        let tap = try Kymo.start(["tap", "--stage", "payload", "--reveal", "--data", scene.folder.file("data")])
        let readings = try Kymo.start([
            "tap", "--stage", "measurement", "--reveal", "--data", scene.folder.file("data"),
        ])
        for tapped in [tap, readings] { try tapped.waitForError("tapping process") }
        try scene.fill()
        try Waiting.until("tapped events") { tap.output.count > 200 && readings.output.count > 200 }
        for tapped in [tap, readings] { expectClean(try tapped.terminate(), ["tap"]) }
        let list = try scene.command(["dead", "list"]).lines.dropFirst()
        let letters = list.compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(letters.count > 6, "\(list)")
        let table = Self.readers(scene, letters: letters).map { $0.map { $0.replacing("\0", with: "") } }
        for arguments in table { expectClean(try scene.command(arguments), arguments, mayBeSilent: true) }
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

    /// What programs read is as it is, unless it goes to a terminal.
    @Test func dataIsExactButOnATerminal() throws {
        let scene = try HostileScene(seed: Trials.seed(1))
        _ = try scene.start()
        try scene.fill()
        _ = try scene.stop()
        let list = try scene.command(["dead", "list", "--reason", "noTemplate"]).lines.dropFirst()
        let letter = try #require(list.first?.split(separator: " ").first.map(String.init))
        let pieces = [["dead", "show", letter, "--bytes"], ["export", "--format", "csv"]]
        for arguments in pieces {
            let piped = try scene.command(arguments)
            #expect(!piped.output.isEmpty && piped.end == .exit(0), "\(arguments): \(piped.error)")
            let terminal = try PseudoTerminal()
            let shown = try scene.command(arguments, output: .path(terminal.path))
            let text = String(decoding: terminal.received(), as: UTF8.self).replacing("\r\n", with: "\n")
            #expect(shown.end == .exit(0) && HostileText.controls(in: Array(text.utf8)) == [], "\(arguments): \(text)")
            #expect(text == PrintableText.lines(String(decoding: piped.output, as: UTF8.self)), "\(arguments)")
        }
        let exported = try scene.command(["export", "--format", "csv"])
        #expect(exported.text.utf8.count > 0 && exported.text.contains(scene.device))
    }
}
