import CommandSupport
import Foundation
import Testing

/// A run that reads its standard input is a pipe: the same input gives the same output, and input that gives none says
/// why.
@Suite struct RunPipeTests {
    private let readings = Readings.ndjson(Readings.heartRates(30))

    private func files(_ folder: TemporaryFolder, _ name: String) -> [String] {
        Files.names(folder.file(name)).sorted().map { Files.text(folder.file("\(name)/\($0)")) }
    }

    @Test func aSecondRunGivesTheSame() throws {
        let folder = TemporaryFolder()
        let home = ["XDG_STATE_HOME": folder.file("state"), "HOME": folder.path]
        for name in ["first", "second"] {
            let done = try Kymo.run(
                ["run", "--stdin", "--out", folder.file(name)], environment: home, input: .bytes(readings))
            #expect(done.end == .exit(0) && done.balance?.accepted == 30, "\(done.error)")
            #expect(!done.error.contains("keeping data"))
        }
        #expect(files(folder, "first") == files(folder, "second") && !files(folder, "first").isEmpty)
        #expect(!Files.exists(folder.file("state")))
    }

    /// With a data directory the second run has nothing new, and says so.
    @Test func whatIsThereAlreadyIsSaid() throws {
        let folder = TemporaryFolder()
        let arguments = ["run", "--stdin", "--out", folder.file("out"), "--data", folder.file("data")]
        let first = try Kymo.run(arguments, input: .bytes(readings))
        #expect(first.end == .exit(0) && first.error.contains("kymo: keeping data in \(folder.file("data"))\n"))
        #expect(!first.error.contains("already"))
        let second = try Kymo.run(arguments, input: .bytes(readings))
        #expect(second.end == .exit(0) && second.balance?.duplicate == 30)
        #expect(second.error.contains("\(folder.file("data")) had all of it already"), "\(second.error)")
    }

    /// A service keeps what it writes to files, and so does what sends to a server, which may be away.
    @Test func whatIsAskedToKeepKeeps() throws {
        let folder = TemporaryFolder()
        let service = try Kymo.run(
            ["run", "--stdin", "--out", folder.file("out")], environment: ["STATE_DIRECTORY": folder.file("state")],
            input: .bytes(readings))
        #expect(service.error.contains("keeping data in \(folder.file("state"))"), "\(service.error)")
        let server = try Kymo.run(
            ["run", "--stdin", "--server", "http://127.0.0.1:9/fhir", "--server-identity", "create", "--out", "none"],
            environment: ["XDG_STATE_HOME": folder.file("home")], input: .bytes(readings))
        #expect(server.error.contains("keeping data in \(folder.file("home/kymo"))"), "\(server.error)")
    }

    /// Who writes to a pipe may be killed in the middle of a row; a file ends with its last one.
    @Test(arguments: [true, false]) func theLastRowOfAPipe(isPipe: Bool) throws {
        let table = Array("deviceId,type,unit,timestamp,value\nw-1,heartRate,/min,2026-03-01T08:00:00Z,7".utf8)
        let arguments = ["run", "--stdin", "--framing", "csv"]
        let done: Kymo.Finished
        if isPipe {
            let run = try Kymo.start(arguments, input: .pipe)
            run.write(table)
            run.closeInput()
            done = try run.finish()
        } else {
            done = try Kymo.run(arguments, input: .bytes(table))
        }
        #expect(done.balance?.accepted == (isPipe ? 0 : 1), "\(done.error)")
        #expect(done.balance?.reasons == (isPipe ? ["frameIncomplete": 1] : [:]), "\(done.error)")
    }

    @Test(arguments: [
        ([0x1F, 0x8B, 0x08, 0x00, 0x41, 0x0A], "gzip -t"), ([0x28, 0xB5, 0x2F, 0xFD, 0x24, 0x0A], "zstd -t"),
        ([0xFF, 0xFE, 0x7B, 0x00, 0x0A], "iconv"),
        (Array("device,time,value\nw-1,2026-03-01,70\n".utf8), "--framing csv"),
        (Array("{\n  \"deviceId\": \"w-1\"\n".utf8), "frameIncomplete"),
        (Array("nonsense\n".utf8), "nonsense"),
        (Array("{\"deviceId\":\"w-1\"}\n".utf8), "{\"deviceId\":\"w-1\"}"),
    ])
    func inputThatGivesNothingIsAFailure(input: [UInt8], expected: String) throws {
        let done = try Kymo.run(["run", "--stdin"], input: .bytes(input))
        #expect(done.end == .exit(65) && done.output.isEmpty)
        #expect(done.error.contains("nothing was accepted; the first was rejected as "), "\(done.error)")
        #expect(done.error.contains(expected), "\(done.error)")
    }

    /// Files that people pipe in: compressed, with a byte order mark, one document over several lines, or a table.
    @Test func filesAreReadAsTheyAre() throws {
        let folder = TemporaryFolder()
        let lines = String(decoding: readings, as: UTF8.self).split(separator: "\n").map(String.init)
        let indented = lines.map {
            $0.replacing("{", with: "{\n  ").replacing(",", with: ",\n  ").replacing("}", with: "\n}")
        }
        let forms: [String: String] = [
            "mark": "\u{FEFF}" + lines.joined(separator: "\n"), "documents": indented.joined(separator: "\n"),
            "array": "[\n" + lines.joined(separator: ",\n") + "\n]\n",
            "one-line": "[" + lines.joined(separator: ",") + "]",
            "indented-array": "[\n  " + indented.joined(separator: ",\n").replacing("\n", with: "\n  ") + "\n]",
        ]
        let expected = try Kymo.run(["run", "--stdin"], input: .bytes(readings))
        for (name, text) in forms.merging(
            ["lines": String(decoding: readings, as: UTF8.self)], uniquingKeysWith: { $1 })
        {
            Files.write(Array(text.utf8), to: folder.file(name))
            for tool in ["cat", "gzip -c", "zstd -qc"] {
                let packed = try ChildProcess("/bin/sh", ["-c", "\(tool) < \(folder.file(name))"]).finish().output
                let done = try Kymo.run(["run", "--stdin"], input: .bytes(packed))
                #expect(done.end == .exit(0) && done.balance?.accepted == 30, "\(name) \(tool): \(done.error)")
                #expect(done.output == expected.output, "\(name) \(tool)")
            }
        }
    }

    /// Bytes of a frame are no text, and nobody is told to convert them.
    @Test func framesAreOfNoOtherForm() throws {
        let done = try Kymo.run(
            ["run", "--stdin", "--framing", "length,u32be"], input: .bytes([0, 0, 0, 9, 0x61, 0x62]))
        #expect(done.end == .exit(65) && done.error.contains("rejected as frameIncomplete: "), "\(done.error)")
        #expect(!done.error.contains("iconv"), "\(done.error)")
    }

    /// Nothing else keeps what a pipe rejects.
    @Test func whatIsRejectedIsInAFile() throws {
        let folder = TemporaryFolder()
        let good = try Kymo.run(["run", "--stdin"], directory: folder.path, input: .bytes(readings))
        #expect(good.end == .exit(0) && Files.names(folder.path).isEmpty)
        let mixed = try Kymo.run(
            ["run", "--stdin"], directory: folder.path, input: .bytes(readings + Array("nonsense\n".utf8)))
        #expect(mixed.end == .exit(0) && mixed.output == good.output)
        let name = try #require(Files.names(folder.path).first)
        #expect(
            mixed.error.contains("1 rejected reading, the first as invalidJSON: with reasons and bytes in ./\(name)\n"))
        let letter = Files.text(folder.file(name))
        let bytes = Data("nonsense".utf8).base64EncodedString()
        #expect(
            letter.contains("\"invalidJSON\"") && letter.contains("\"\(bytes)\"") && name.hasPrefix("kymo-rejected-"))
        let nowhere = try Kymo.run(
            ["run", "--stdin"], directory: "/proc", input: .bytes(readings + Array("nonsense\n".utf8)))
        #expect(nowhere.end == .exit(74) && nowhere.output == good.output)
        #expect(nowhere.error.contains("--dead-letter names another"), "\(nowhere.error)")
    }

    @Test func someThatAreRejectedAreNoFailure() throws {
        let mixed = try Kymo.run(["run", "--stdin"], input: .bytes(readings + Array("nonsense\n".utf8)))
        #expect(mixed.end == .exit(0) && mixed.balance?.accepted == 30 && !mixed.error.contains("nothing was accepted"))
        let empty = try Kymo.run(["run", "--stdin"], input: .bytes([]))
        #expect(empty.end == .exit(0))
    }
}
