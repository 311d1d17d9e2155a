import CommandSupport
import KymographTestKit
import Testing

/// Where what comes of letters goes that are replayed without a running instance.
@Suite struct ReplaySinkTests {
    private let run = StoredRun()

    /// Settings with two folders as sinks; one reading that a template of another name would have read is a letter.
    private func fill() throws -> [String] {
        run.folder.write("m/device.json", MappingText.device.replacing("@pulse", with: "@puls"))
        run.folder.write("m/fhir.json", MappingText.fhir)
        let sinks = "- {to: \(run.output), name: first}\n- {to: \(run.folder.file("second")), name: second}\n"
        let file = run.folder.write("kymo.yaml", "mappings: [./m]\nsinks:\n\(sinks)")
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file, "--data", run.data], directory: run.folder.path,
            input: .bytes(Readings.ndjson([MappingText.reading])))
        #expect(done.end == .exit(65), "\(done.error)")
        run.folder.write("m/device.json", MappingText.device)
        return ["--config", file]
    }

    private func replay(_ arguments: [String]) throws -> Kymo.Finished {
        try Kymo.run(["dead", "replay", "--all", "--data", run.data] + arguments, directory: run.folder.path)
    }

    private func written(_ folder: String) -> Bool { !Files.names(folder).isEmpty }

    @Test func theSinksOfTheRunAreNamed() throws {
        let settings = try fill()
        let refused = try replay(["--mapping", "./m", "--out", run.output])
        #expect(refused.end == .exit(78), "\(refused.error)")
        #expect(refused.error.contains("delivered to first, second, which would get nothing"), "\(refused.error)")
        #expect(!written(run.output) && refused.output.isEmpty)
        #expect(try run.command("dead", "list").lines.count == 2)
        let done = try replay(settings)
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(written(run.output) && written(run.folder.file("second")))
    }

    @Test func othersMustBeWanted() throws {
        _ = try fill()
        let done = try replay(["--mapping", "./m", "--out", run.output, "--other-sinks"])
        #expect(done.end == .exit(0) && written(run.output), "\(done.error)")
        #expect(!written(run.folder.file("second")))
    }
}
