import CommandSupport
import KymographTestKit
import Testing
import TrialSupport

/// Commands that are there to show readings do so on standard output. Nothing else of what any command says has an
/// identifier of a device, a patient or an encounter, but for two things: a word of the command line that names nothing
/// is repeated, and who feeds a run from a shell of which nothing is accepted is shown what was refused first.
@Suite struct CommandRedactionTests {
    /// A command line, and whether it is there to show what it reads.
    private struct Line {
        /// The words that name the command, as its help has them.
        var command: String
        var arguments: [String]
        var shows: Bool

        static func silent(_ command: String, _ arguments: String...) -> Line {
            Line(command: command, arguments: arguments, shows: false)
        }

        static func shows(_ command: String, _ arguments: String...) -> Line {
            Line(command: command, arguments: arguments, shows: true)
        }
    }

    /// Commands that read no data of patients, or only by what is tested elsewhere.
    private static let others = [
        // Simulated devices, and an instance of its own.
        "demo",
        // RedactionTests looks into the archive, and into what a source that runs says.
        "support", "run",
    ]

    private let folder = TemporaryFolder()
    private let identifiers: [String: String]

    init() {
        var generator = SeededGenerator(seed: Trials.seed(26))
        identifiers = ["dev", "pat", "enc", "cor"].reduce(into: [:]) { found, name in
            found[name] = "\(name)z" + String(UInt64.random(in: 1 << 40...1 << 50, using: &generator), radix: 36)
        }
    }

    private var device: String { identifiers["dev"] ?? "" }
    private var patient: String { identifiers["pat"] ?? "" }

    private func reading(_ second: Int) -> String {
        """
        {"deviceId":"\(device)","patientId":"\(patient)","encounterId":"\(identifiers["enc"] ?? "")",\
        "correlationId":"\(identifiers["cor"] ?? "")","type":"heartRate","value":6\(second % 10),"unit":"/min",\
        "timestamp":"2026-03-01T08:00:\(10 + second)Z"}
        """
    }

    private var rejected: String { "{\"deviceId\":\"\(device)\",\"\(patient)\":\"\(patient)\"}" }

    /// Files, a store with readings, payloads and letters, and outputs.
    private func prepare() throws {
        let lines = (0..<20).map { reading($0) } + [rejected]
        folder.write("lines.ndjson", (lines + [""]).joined(separator: "\n"))
        folder.write("broken.ndjson", "\(rejected)\n{\"\(patient)\n\"\(device)\"\n")
        folder.write("patients.csv", "device,patient\n\(device),\(patient)\n")
        folder.write("twice.csv", "device,patient\n\(device),\(patient)\n\(device),\(identifiers["enc"] ?? "")\n")
        folder.write(
            "export.xml",
            """
            <HealthData><Record type="HKQuantityTypeIdentifierHeartRate" sourceName="\(device)" unit="count/min"
            startDate="2026-03-01 08:00:00 +0000" endDate="2026-03-01 08:00:00 +0000" value="66"/></HealthData>
            """)
        folder.write("rules.yaml", "rules:\n  - {name: bench, then: drop, devices: [\"\(patient)-*\"]}\n")
        folder.write(
            "kymo.yaml",
            """
            mappings: [reading]
            sources: [{unix: a.sock, defaultDevice: \(device), defaultPatient: \(patient)}]
            patients: patients.csv
            rules: rules.yaml
            store: {keepRaw: 30d}
            window: 1m
            data: data
            receipts: receipts
            output: {to: out, format: ndjson}

            """)
        #expect(try Kymo.run(["keys", "new", folder.file("key")]).end == .exit(0))
        for (data, more) in [("data", [String]()), ("sealed", ["--key-file", folder.file("key")])] {
            let done = try Kymo.run(
                ["run", "--stdin", "--config", "kymo.yaml", "--data", data, "--log-level", "debug"]
                    + ["--out", data == "data" ? "out" : "out-sealed"] + more,
                directory: folder.path, input: .bytes(Readings.ndjson(lines)))
            #expect(done.end == .exit(0), "\(done.error)")
            expectSilence(done.error, "run \(data)")
        }
    }

    private func expectSilence(_ text: String, _ what: String) {
        for identifier in identifiers.values {
            #expect(!text.contains(identifier), "\(what) says \(identifier): \(text)")
        }
    }

    /// What reads files and arguments alone.
    private var ofFiles: [Line] {
        [
            .silent("check", "--config", "kymo.yaml"), .silent("check", "--config", "kymo.yaml", "--format", "json"),
            .silent("check", "--patients", "twice.csv"), .shows("config print", "--config", "kymo.yaml"),
            .silent("config example"), .silent("config schema"), .shows("map", "lines.ndjson"),
            .shows("map", "--explain", "broken.ndjson"), .shows("eval", "deviceId", "lines.ndjson"),
            .shows("eval", "$.patientId", "broken.ndjson"),
            .shows("replay", "lines.ndjson", "--stdout", "--speed", "max"),
            .silent("replay", "lines.ndjson", "--unixgram", "missing.sock"),
            .silent("simulate", "--stdout", "--count", "5"), .silent("mappings"),
            .silent("dictionary", "--out", "made", "lines.ndjson"),
            .silent("test", "lines.ndjson"), .silent("migrate", "nothing", "lines.ndjson"),
            .silent("import apple", "export.xml", "--patient", patient, "--data", "apple", "--out", "out-apple"),
            .silent("patients check", "patients.csv"), .silent("patients check", "twice.csv"),
            .silent("patients check", "patients.csv", "--format", "json"),
            .shows("patients check", "patients.csv", "--device", device),
            .shows("compare", "out", "lines.ndjson"), .shows("compare", "out", "out"),
            .shows("decode", "lines.ndjson"), .silent("completions", "bash"), .silent("capabilities"),
            .silent("version", "--verbose"), .silent("keys new", "another-key"),
        ]
    }

    /// What reads a store that no instance uses.
    private var ofStores: [Line] {
        [
            .shows("query"), .shows("query", "--readings"), .shows("query", "--raw"), .silent("query", "--count"),
            .shows("query", "--device", device, "--patient", patient, "--type", device), .shows("export"),
            .shows("export", "--format", "csv"), .silent("export", "--format", "parquet", "--out", "parquet"),
            .shows("ledger"), .shows("ledger", "--verify"), .shows("ledger", "--format", "json"),
            .shows("receipts", "receipts"), .shows("sources list"), .shows("sources list", "--format", "json"),
            .silent("dead reasons"), .shows("dead list"), .shows("dead show", "1"), .silent("dead show", "7777"),
            .silent("dead replay", "--all", "--mapping", "reading", "--out", "again"),
            .silent("dead replay", "--all", "--report", "json", "--out", "again"), .silent("dead discard", "1"),
            .silent("sources remove", "--device", device), .silent("status"), .silent("top", "--once"), .silent("tap"),
            .silent("flush"), .silent("pause", "heartRate"), .silent("resume", "heartRate"),
            .silent("console login"), .silent("forget-lookups"), .silent("audit list"),
            .silent("audit list", "--format", "ndjson"), .silent("audit verify"), .silent("audit events"),
            .silent("reset", "--dry-run"), .silent("reset"), .silent("keys rotate"),
        ]
    }

    /// What asks an instance that runs.
    private var ofInstances: [Line] {
        [
            .silent("status"), .silent("status", "--format", "prometheus"), .silent("top", "--once"),
            .silent("top", "--once", "--format", "json"), .silent("flush"), .silent("flush", "--device", device),
            .silent("pause", "heartRate"), .silent("resume", "heartRate"), .silent("forget-lookups"),
            .silent("console login"), .shows("sources list"),
            .silent("sources remove", "--device", device), .silent("dead replay", "--all"), .silent("reset", "--yes"),
            .silent("keys rotate", "--key-file", "key"),
        ]
    }

    /// Runs `line`; whether it has shown an identifier.
    @discardableResult
    private func run(_ line: Line, _ more: [String] = []) throws -> Bool {
        let words = line.command.split(separator: " ").map(String.init)
        let done = try Kymo.run(words + line.arguments + more, directory: folder.path)
        let what = (words + line.arguments).joined(separator: " ")
        expectSilence(done.error, "\(what), on standard error,")
        if !line.shows { expectSilence(done.text, what) }
        return line.shows && identifiers.values.contains { done.text.contains($0) }
    }

    /// Of each command there is a line here, or the reason why not.
    @Test func eachCommandIsHere() throws {
        func names(_ command: CommandHelp, _ path: [String]) -> [String] {
            let below = (command.subcommands ?? []).filter { $0.commandName != "help" }
            guard !below.isEmpty else { return [path.joined(separator: " ")] }
            return below.flatMap { names($0, path + [$0.commandName]) }
        }
        let all = Set(names(try #require(ExamplePages.help), []))
        let here = Set((ofFiles + ofStores + ofInstances + ofSealedStores).map(\.command) + Self.others)
        #expect(here == all, "missing \(all.subtracting(here)), unknown \(here.subtracting(all))")
    }

    private var ofSealedStores: [Line] {
        let file = Files.names(folder.file("out-sealed")).first { $0.hasSuffix(".sealed") } ?? "none.sealed"
        return [
            .shows("decrypt", "out-sealed/\(file)"), .silent("decrypt", "lines.ndjson"), .shows("query"),
            .silent("keys rotate", "--all"), .silent("keys encrypt"), .silent("audit list"),
        ]
    }

    @Test func identifiersAreWhereTheyBelong() throws {
        try prepare()
        var shown: Set<String> = []
        for line in ofFiles where try run(line) { shown.insert(line.command) }
        for line in ofSealedStores { try run(line, ["--data", "sealed", "--key-file", "key"]) }
        for line in ofSealedStores { try run(line, ["--data", "sealed"]) }
        let instance = try Kymo.start(["run", "--config", "kymo.yaml", "--log-level", "debug"], directory: folder.path)
        _ = try instance.addresses()
        for line in ofInstances { try run(line, ["--data", "data"]) }
        let done = try instance.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        expectSilence(done.error + done.text, "run")
        for line in ofStores {
            let place = line.command == "receipts" ? [] : ["--data", "data"]
            if try run(line, place) { shown.insert(line.command) }
        }
        // They have read what there is.
        let expected: Set = ["map", "query", "export", "ledger", "patients check"]
        #expect(shown.isSuperset(of: expected), "\(expected.subtracting(shown))")
    }
}
