import CommandSupport
import Testing

/// `kymo dictionary`, and `kymo run` with what it made.
@Suite struct DictionaryTests {
    private func observations(_ folder: TemporaryFolder) throws -> String {
        let played = try Kymo.run(
            [
                "simulate", "--devices", "60", "--duration", "10s", "--start", "2026-03-01T00:00:00Z", "--speed", "max",
                "--stdout",
            ])
        let done = try Kymo.run(
            ["run", "--stdin", "--window", "1s", "--format", "ndjson"], input: .bytes(played.output))
        #expect(done.end == .exit(0), "\(done.error)")
        return folder.write("observations.ndjson", done.text)
    }

    /// The figure that it reports is of Observations that it was not trained on.
    @Test func singleObservationsGetFiveTimesSmaller() throws {
        let folder = TemporaryFolder()
        let done = try Kymo.run(["dictionary", try observations(folder), "--out", folder.path])
        #expect(done.end == .exit(0), "\(done.error)")
        let path = try #require(done.lines.first)
        #expect(path.wholeMatch(of: /.*\/kymograph-[0-9.]+-[0-9]+\.zdict/) != nil, "\(path)")
        let match = try #require(done.error.firstMatch(of: /, ([0-9]+\.[0-9]) times smaller/))
        #expect((Double(match.1) ?? 0) >= 5, "\(done.error)")
    }

    @Test func runCompressesWithIt() throws {
        let folder = TemporaryFolder()
        let input = try observations(folder)
        let path = try #require(try Kymo.run(["dictionary", input, "--out", folder.path]).lines.first)
        let file = folder.write(
            "kymo.yaml", "window: 10s\noutput: {to: out, compression: zstd, dictionary: \"\(path)\"}\n")
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file], directory: folder.path,
            input: .bytes(Readings.ndjson(Readings.heartRates(5))))
        #expect(done.end == .exit(0), "\(done.error)")
        let name = try #require(Files.names(folder.file("out")).first)
        let plain = try ChildProcess("zstd", ["-D", path, "-dc", folder.file("out/\(name)")]).finish()
        #expect(plain.end == .exit(0) && plain.text.contains("\"resourceType\":\"Observation\""))
        #expect(try ChildProcess("zstd", ["-dc", folder.file("out/\(name)")]).finish().end != .exit(0))
    }

    @Test func refusesWhatItCannotUse() throws {
        let folder = TemporaryFolder()
        let few = folder.write("few.ndjson", "{}\n{}\n")
        let done = try Kymo.run(["dictionary", few, "--out", folder.path])
        #expect(done.end == .exit(65) && done.error.contains("at least 100"), "\(done.error)")
        #expect(try Kymo.run(["dictionary", folder.file("none")]).end == .exit(66))
        #expect(try Kymo.run(["dictionary", few, "--size", "2"]).end == .exit(64))
        let file = folder.write("kymo.yaml", "output: {to: out, compression: zstd, dictionary: \"\(few)\"}\n")
        let run = try Kymo.run(["run", "--stdin", "--config", file], directory: folder.path, input: .bytes([]))
        #expect(run.end == .exit(73) && run.error.contains("is no zstd dictionary"), "\(run.error)")
    }
}
