import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Where `kymo run` puts what comes out.
@Suite struct RunOutputTests {
    private let readings = Readings.heartRates(700)

    @Test func standardOutputHasBundlesOnly() throws {
        let done = try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(readings)))
        #expect(done.end == .exit(0))
        #expect(done.lines.count >= 1)
        for line in done.lines {
            #expect(try JSONTree(parsing: Array(line.utf8))["resourceType"]?.text == "Bundle")
        }
        var reader = BundleReader()
        try reader.read(ndjson: done.output)
        #expect(reader.observations.count == 3 && reader.others.contains { $0["resourceType"]?.text == "Device" })
        let balance = try #require(done.balance)
        #expect(balance.received == 700 && balance.accepted == 700 && balance.isClosed)
        #expect(balance.windows == 3 && balance.observations == reader.versions.values.reduce(0, +))
        #expect(done.error.contains("kymo: listening on stdin, mapping reading"))
    }

    @Test func oneObservationALine() throws {
        let bundles = try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(readings)))
        let done = try Kymo.run(
            ["run", "--stdin", "--format", "ndjson"], input: .bytes(Readings.ndjson(readings)))
        #expect(done.end == .exit(0) && done.lines.count == 3)
        for line in done.lines {
            #expect(try JSONTree(parsing: Array(line.utf8))["resourceType"]?.text == "Observation")
        }
        #expect(try store(done.output).observations.keys == store(bundles.output).observations.keys)
    }

    /// Every payload is scanned, and the output is the same.
    @Test func withoutAFastPath() throws {
        let input = Readings.ndjson(readings)
        let arguments = ["run", "--stdin", "--format", "ndjson", "--shards", "1", "--lanes", "1"]
        let quick = try Kymo.run(arguments, input: .bytes(input))
        let scanned = try Kymo.run(arguments + ["--no-fast-path"], input: .bytes(input))
        #expect(quick.end == .exit(0) && scanned.end == .exit(0))
        #expect(quick.lines.count == 3 && scanned.output == quick.output)
        #expect(scanned.balance?.accepted == 700)
    }

    @Test func filesInADirectory() throws {
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--out", folder.file("out")], input: .bytes(Readings.ndjson(readings)))
        #expect(done.end == .exit(0) && done.output.isEmpty)
        let names = Files.names(folder.file("out"))
        #expect(names.count == 1, "\(names)")
        let name = try #require(names.first)
        #expect(name.wholeMatch(of: /kymo-[0-9]{8}T[0-9]{6}-[0-9]{6}\.ndjson/) != nil, "\(name)")
        #expect(try store(Files.read(folder.file("out/\(name)"))).observations.count == 3)
    }

    /// Small files, so that many are made, each whole.
    @Test func rotation() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml", "window: 10s\noutput: {to: out, rotateBytes: 10KiB, maxEntries: 5, format: ndjson}\n")
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file], directory: folder.path, input: .bytes(Readings.ndjson(readings)))
        #expect(done.end == .exit(0), "\(done.error)")
        let names = Files.names(folder.file("out"))
        #expect(names.count > 5 && names.allSatisfy { $0.hasSuffix(".ndjson") }, "\(names)")
        var all = BundleReader()
        for name in names {
            let content = Files.read(folder.file("out/\(name)"))
            #expect(content.last == 0x0A && content.count < 20_480)
            try all.read(ndjson: content)
        }
        #expect(all.observations.count == 70)
    }

    @Test func compressedFiles() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "window: 10s\noutput: {to: out, compression: zstd}\n")
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file], directory: folder.path, input: .bytes(Readings.ndjson(readings)))
        #expect(done.end == .exit(0), "\(done.error)")
        let names = Files.names(folder.file("out"))
        #expect(names.count == 1 && names[0].hasPrefix("kymo-") && names[0].hasSuffix(".ndjson.zst"), "\(names)")
        let plain = try ChildProcess("zstd", ["-dc", folder.file("out/\(names[0])")]).finish()
        #expect(plain.end == .exit(0))
        #expect(try store(plain.output).observations.count == 70)
    }

    @Test func deadLettersKeepTheBytes() throws {
        let folder = TemporaryFolder()
        let bad = ["{\"type\":", "{\"type\":\"none\"}", "[1,2", "{\"a\": \"é\u{1F600}\"", "\"\\u0000\""]
        let lines = zip(bad, Readings.heartRates(5)).flatMap { [$0, $1] }
        let done = try Kymo.run(
            ["run", "--stdin", "--dead-letter", folder.file("dead.ndjson")], input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0))
        let letters = try DeadLetter.read(folder.file("dead.ndjson"))
        #expect(letters.map(\.text) == bad)
        #expect(letters.map(\.reason) == ["invalidJSON", "noTemplate", "invalidJSON", "invalidJSON", "noTemplate"])
        #expect(letters.allSatisfy { $0.source == "stdin" && $0.receivedAt.hasSuffix("Z") })
        #expect(try #require(done.balance).rejected == 5)
        // A second run appends.
        _ = try Kymo.run(
            ["run", "--stdin", "--dead-letter", folder.file("dead.ndjson")], input: .bytes(Readings.ndjson(["x"])))
        #expect(try DeadLetter.read(folder.file("dead.ndjson")).map(\.text) == bad + ["x"])
    }

    /// Whoever follows the file sees a letter while kymo runs.
    @Test func deadLettersShowSoon() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start([
            "run", "--unix", folder.file("a.sock"), "--dead-letter", folder.file("dead.ndjson"), "--ephemeral",
        ])
        for number in 1...3 {
            try Sending.send(lines: ["x"], to: try run.addresses()[0])
            try Waiting.until("letter \(number)") { try DeadLetter.read(folder.file("dead.ndjson")).count == number }
        }
        #expect(try run.terminate().balance?.rejected == 3)
    }

    @Test func outputThatCannotBeMade() throws {
        let folder = TemporaryFolder()
        folder.write("file", "")
        let notADirectory = try Kymo.run(["run", "--stdin", "--out", folder.file("file")])
        #expect(notADirectory.end == .exit(73) && notADirectory.error.contains("file"))
        let noParent = try Kymo.run(["run", "--stdin", "--out", folder.file("a/b")])
        #expect(noParent.end == .exit(73), "\(noParent.error)")
        let noLetters = try Kymo.run(["run", "--stdin", "--dead-letter", folder.file("a/b")])
        #expect(noLetters.end == .exit(73))
    }

    @Test func aDirectoryHasOneWriter() throws {
        let folder = TemporaryFolder()
        let first = try Kymo.start(["run", "--stdin", "--out", folder.file("out")], input: .pipe)
        _ = try first.addresses()
        let second = try Kymo.run(["run", "--stdin", "--out", folder.file("out")])
        #expect(second.end == .exit(73) && second.error.contains("another sink"))
        first.closeInput()
        #expect(try first.finish().end == .exit(0))
    }

    /// What a process that was killed left behind becomes visible at the next start.
    @Test func aKilledRunIsRecovered() throws {
        let folder = TemporaryFolder()
        let first = try Kymo.start(
            ["run", "--stdin", "--out", folder.file("out"), "--window", "1s", "--lateness", "0s"], input: .pipe)
        first.write(Readings.ndjson(readings))
        // A whole line: of a part of the first one nothing is left to recover.
        try Waiting.until("output") {
            Files.names(folder.file("out")).contains { Files.read(folder.file("out/\($0)")).last == 0x0A }
        }
        first.signal(SIGKILL)
        #expect(try first.wait() == .signal(SIGKILL))
        let second = try Kymo.run(["run", "--stdin", "--out", folder.file("out")])
        #expect(second.end == .exit(0) && second.error.contains("recovered kymo-"))
        let names = Files.names(folder.file("out"))
        #expect(!names.isEmpty && names.allSatisfy { $0.hasSuffix(".ndjson") }, "\(names)")
        for name in names { _ = try store(Files.read(folder.file("out/\(name)"))) }
    }

    private func store(_ output: [UInt8]) throws -> BundleReader {
        var reader = BundleReader()
        try reader.read(ndjson: output)
        return reader
    }
}
