import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// `kymo config`, by the real binary.
@Suite struct ConfigCommandTests {
    @Test func printsWhatRunWouldUse() throws {
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", "include: parts.yaml\nwindow: ${W}\n")
        folder.write("parts.yaml", "lanes: 2\nsources: [{stdin: true}]\n")
        let done = try Kymo.run(
            ["config", "print", "--config", "kymo.yaml", "--shards", "3"],
            environment: ["W": "7m", "KYMO_IDLE": "2s"], directory: folder.path)
        #expect(done.end == .exit(0) && done.error.isEmpty, "\(done.error)")
        #expect(
            Array(done.lines.dropFirst()) == [
                "window: 7m # kymo.yaml:2:9", "idle: 2s # KYMO_IDLE", "lanes: 2 # parts.yaml:1:8",
                "shards: 3 # --shards", "sources:", "  - stdin: true # parts.yaml:2:19",
            ])
        folder.write("printed.yaml", done.text)
        let check = try Kymo.run(["check", "--config", "printed.yaml"], directory: folder.path)
        #expect(check.end == .exit(0) && check.error.contains("; 0 warnings"), "\(check.error)")
        let again = try Kymo.run(
            ["config", "print", "--config", "printed.yaml", "--format", "json"], directory: folder.path)
        let first = try Kymo.run(
            ["config", "print", "--config", "kymo.yaml", "--shards", "3", "--format", "json"],
            environment: ["W": "7m", "KYMO_IDLE": "2s"], directory: folder.path)
        #expect(again.end == .exit(0) && again.text == first.text)
        let format = try Kymo.run(["config", "print", "--format", "ndjson"])
        #expect(format.text.contains("format: ndjson # --format"))
    }

    @Test func errorsAreThoseOfCheck() throws {
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", "window: ${W}\nlanes: 0\n")
        let done = try Kymo.run(["config", "print", "--config", "kymo.yaml"], directory: folder.path)
        #expect(done.end == .exit(78) && done.output.isEmpty)
        #expect(done.error.contains("kymo.yaml:1:9: error: window: the variable W is not set"))
        #expect(done.error.contains("kymo.yaml:2:8: error: "))
    }

    /// The dotted keys of a part of the schema.
    private func keys(_ schema: JSONTree, _ prefix: String = "") -> [String] {
        guard case .object(let members) = schema["properties"] else { return [] }
        return members.flatMap { name, member in
            member["properties"] == nil ? [prefix + name] : keys(member, "\(prefix)\(name).")
        }
    }

    /// A setting that is taken is in the schema, the example, the reference and, where it has a flag, in the help and
    /// the completions: all of them are made from one table, or are checked here.
    @Test func everySettingIsEverywhere() throws {
        let schema = try JSONTree(parsing: Kymo.run(["config", "schema"]).output)
        let example = try Kymo.run(["config", "example"]).text
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let page = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
        let help = try Kymo.run(["help", "run"]).text
        let completions = try ["bash", "zsh", "fish"].map { try Kymo.run(["completions", $0]).text }
        let settings = keys(schema).filter { !["include", "sources", "sinks"].contains($0) }
        #expect(settings.count > 100 && settings.contains("watchConfig") && settings.contains("store.maxBytes"))
        var flags = 0
        for key in settings {
            let name = key.split(separator: ".").last.map(String.init) ?? ""
            #expect(example.contains("\(name): "), "\(key) is not in the example")
            #expect(page.contains("| `\(key)` |"), "\(key) is not in docs/configuration.md")
            let flag = name.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
            guard !key.contains("."), help.contains("--\(flag) ") || help.contains("--\(flag)/") else { continue }
            flags += 1
            for text in completions { #expect(text.contains(flag), "--\(flag) is not completed") }
        }
        #expect(flags > 15, "\(flags) flags")
    }

    @Test func theExampleIsAccepted() throws {
        let folder = TemporaryFolder()
        let example = try Kymo.run(["config", "example"])
        #expect(example.end == .exit(0) && example.error.isEmpty)
        folder.write("kymo.yaml", example.text)
        let done = try Kymo.run(
            ["check", "--config", "kymo.yaml", "--udp", "127.0.0.1:0", "--strict"], directory: folder.path)
        #expect(done.end == .exit(0) && done.error.contains("; 0 warnings"), "\(done.error)")
    }

    @Test(.enabled(if: SharedMaterial.canRunPython, "no Python with jsonschema"))
    func anotherValidatorTakesTheSchema() throws {
        let schema = try Kymo.run(["config", "schema"])
        #expect(schema.end == .exit(0) && schema.error.isEmpty)
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", "include: [a.yaml]\n")
        folder.write("a.yaml", "sinks: [{to: x, types: [a]}, {server: 'https://x', identity: create, gzip: true}]\n")
        let printed = try [["--config", "kymo.yaml", "--defaults"], ["--defaults"], []].map {
            try Kymo.run(["config", "print", "--format", "json"] + $0, directory: folder.path).text
        }
        let valid =
            printed + [
                "null", #"{"window":"1h30m","lanes":"auto","shards":3,"limits":null,"include":"a.yaml"}"#,
                #"{"lanes":"${LANES:-2}","watch":false,"mappings":["a","b"],"store":{"maxBytes":1048576}}"#,
                #"{"sources":[{"stdin":true},{"unix":"a","socketMode":"0660","idleLimit":"0s"}],"ringSlots":512}"#,
            ]
        let invalid = [
            #"{"windw":"5m"}"#, #"{"window":"5"}"#, #"{"window":5}"#, #"{"lanes":0}"#, #"{"lanes":"many"}"#,
            #"{"output":{"format":"bundel"}}"#, #"{"output":"stdout"}"#, #"{"ringSlots":1000}"#, #"{"mappings":[]}"#,
            #"{"output":{"systems":{"patient":"patients"}}}"#, #"{"sources":[{}]}"#, #"{"sources":[]}"#,
            #"{"sources":[{"stdin":true,"unix":"a"}]}"#, #"{"sinks":[{"types":["a"]}]}"#, #"{"deadLetter":""}"#,
            #"{"store":{"maxBytes":"1MB"}}"#, "[]",
        ]
        let input =
            "{\"schema\":\(schema.text),\"valid\":[\(valid.joined(separator: ","))],"
            + "\"invalid\":[\(invalid.joined(separator: ","))]}"
        let script = "\(SharedMaterial.package)/Tests/Validation/check_configuration_schema.py"
        let done = try ChildProcess(SharedMaterial.python, [script], input: .bytes(Array(input.utf8))).finish()
        #expect(done.text == "\(valid.count) valid, \(invalid.count) invalid\n", "\(done.text)\(done.error)")
        #expect(done.end == .exit(0))
    }
}
