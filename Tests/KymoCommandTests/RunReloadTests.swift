import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Mappings loaded again while `kymo run` works.
@Suite struct RunReloadTests {
    /// A folder with a mapping of the types `beat` (windows of one minute) and `pulse` (one Observation a reading).
    struct Mapping {
        let folder = TemporaryFolder()

        init() {
            write(device: "beat", "pulse")
            write(code: "v0")
        }

        var path: String { "\(folder.path)/mine" }

        /// Puts a new file in the place of the old one, as many editors do.
        private func replace(_ name: String, _ text: String) {
            folder.write("mine/\(name).new", text)
            Files.move(folder.file("mine/\(name).new"), to: folder.file("mine/\(name)"))
        }

        func write(device types: String...) {
            let templates = types.map { name in
                #"""
                {"templateType":"JsonPathContent","template":{"typeName":"\#(name)",
                  "typeMatchExpression":"$..[?(@\#(name))]","deviceIdExpression":"$.d","timestampExpression":"$.t",
                  "values":[{"valueName":"\#(name)","valueExpression":"$.\#(name)","required":true}]}}
                """#
            }
            replace(
                "device.json",
                #"{"templateType":"CollectionContent","template":[\#(templates.joined(separator: ","))]}"#)
        }

        static func fhir(code: String) -> String {
            #"""
            {"templateType":"CollectionFhir","template":[
              {"templateType":"CodeValueFhir","template":{"typeName":"beat","period":"1m",
                "codes":[{"system":"urn:t","code":"\#(code)"}],
                "value":{"valueType":"Statistics","valueName":"beat","unit":"/min","code":"/min",
                  "components":["count"]}}},
              {"templateType":"CodeValueFhir","template":{"typeName":"pulse","period":"instance",
                "codes":[{"system":"urn:t","code":"\#(code)"}],
                "value":{"valueType":"Quantity","valueName":"pulse","unit":"/min","code":"/min"}}}]}
            """#
        }

        func write(code: String) { replace("fhir.json", Self.fhir(code: code)) }

        /// Writes into the file as it is.
        func overwrite(fhir: String) { folder.write("mine/fhir.json", fhir) }

        static let broken = fhir(code: "bad").replacing("\"Quantity\"", with: "\"Quantum\"")
    }

    /// `count` readings of `device`, ten of `beat` to one of `pulse`, each at an instant of its own.
    private func readings(_ count: Int, device: String) -> [String] {
        (0..<count).map { index in
            let seconds = index / 20
            let parts = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            let time = "\(parts.joined(separator: ":")).\(["00", "05"][index % 2])\(index / 2 % 10)"
            return #"{"d":"\#(device)","t":"2026-03-01T\#(time)Z","\#(index % 11 == 0 ? "pulse" : "beat")":72}"#
        }
    }

    private func code(_ observation: JSONTree) -> String {
        observation["code"]?["coding"]?.elements?.first?["code"]?.text ?? ""
    }

    private func count(_ observation: JSONTree) -> Int {
        for component in observation["component"]?.elements ?? [] {
            if case .number(let text) = component["valueInteger"] { return Int(text) ?? 0 }
        }
        return 1
    }

    private func identity(_ observation: JSONTree) -> String {
        observation["identifier"]?.elements?.first?["value"]?.text ?? ""
    }

    private func time(_ observation: JSONTree) -> String {
        observation["effectiveDateTime"]?.text?.replacing("Z", with: "") ?? ""
    }

    private func store(_ output: [UInt8]) throws -> BundleReader {
        var reader = BundleReader()
        try reader.read(ndjson: output)
        return reader
    }

    private func reloads(_ error: String) -> (succeeded: Int, failed: Int) {
        let lines = error.split(separator: "\n").map(LogLine.message)
        let words = lines.last { $0.hasPrefix("kymo: reloads ") }?.split(separator: " ") ?? []
        return words.count == 5
            ? (Int(words[2].dropLast()) ?? 0, Int(words[4]) ?? 0) : (0, 0)
    }

    /// How many reloads the instance that keeps `data` has ended, those with errors among them.
    private func reloads(at data: String) throws -> Int {
        let status = try Kymo.run(["status", "--data", data, "--format", "json"])
        let counters = try JSONTree(parsing: status.output)["counters"]?.elements ?? []
        return counters.filter { $0["name"]?.text == "kymo_mapping_reloads_total" }
            .reduce(0) { $0 + ($1["value"]?.integer ?? 0) }
    }

    /// How often lines of a log told `text`, each by itself or as one of so many more that are like it.
    private func told(_ text: String, in error: String) -> Int {
        error.split(separator: "\n").filter { $0.contains(text) }.reduce(0) { sum, line in
            sum + (line.firstMatch(of: /… (\d+) more like this/).flatMap { Int($0.1) } ?? 1)
        }
    }

    /// Standard input, UDP and a Unix socket at once, each with a lane of its own, two shards and small rings; the
    /// mappings are loaded twenty times meanwhile, each fourth time with an error.
    @Test func nothingIsLostUnderLoad() throws {
        let mapping = Mapping()
        let folder = mapping.folder
        let each = 11_000
        let file = folder.write(
            "kymo.yaml",
            """
            lanes: 3
            shards: 2
            ringSlots: 512
            watch: false
            lateness: 0s
            mappings: \(mapping.path)
            sources: [{udp: '127.0.0.1:0'}, {unix: a.sock}, {stdin: true}]
            """)
        let run = try Kymo.start(
            ["run", "--config", file, "--data", folder.file("data")], directory: folder.path, input: .pipe)
        let udp = try #require(try run.addresses(3).first { $0.hasPrefix("udp ") })
        let senders = try [("u", ["--udp", String(udp.dropFirst(4))]), ("x", ["--unix", folder.file("a.sock")])].map {
            let lines = folder.write("\($0.0).ndjson", readings(each, device: $0.0).map { $0 + "\n" }.joined())
            return try Kymo.start(["replay", lines, "--rate", "4000"] + $0.1)
        }
        let lines = readings(each, device: "s").map { Array(($0 + "\n").utf8) }
        let rounds = 20
        for round in 1...rounds {
            for line in lines[(each * (round - 1) / rounds)..<(each * round / rounds)] { run.write(line) }
            if round % 4 == 0 { mapping.overwrite(fhir: Mapping.broken) } else { mapping.write(code: "v\(round)") }
            if round % 5 == 0 { mapping.write(device: "pulse", "beat") }
            if round % 5 == 2 { mapping.write(device: "beat", "pulse") }
            run.signal(SIGHUP)
            // Of many like it, a log tells a number only: the count says when the next one may come.
            try Waiting.until("reload \(round)") { try reloads(at: folder.file("data")) == round }
        }
        for sender in senders { #expect(try sender.wait() == .exit(0)) }
        run.closeInput()
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.received == 3 * each && balance.accepted == 3 * each && balance.isClosed, "\(done.error)")
        #expect(balance.kernelDropped == 0)
        let counts = reloads(done.error)
        #expect(counts.succeeded == 15 && counts.failed == 5, "\(done.error)")
        #expect(told("mine/fhir.json:8:26: error:", in: done.error) == 5, "\(done.error)")
        try checkObservations(done.output, each: each)
    }

    /// Each `pulse` once, and all `beat`s of each minute in its window.
    private func checkObservations(_ output: [UInt8], each: Int) throws {
        let store = try store(output)
        var pulses = 0
        var beats = 0
        for (id, observation) in store.observations {
            if identity(observation).contains(".pulse.") {
                pulses += 1
                #expect(store.versions[id] == 1)
            } else {
                beats += count(observation)
            }
        }
        #expect(pulses == 3 * each / 11 && beats == 3 * each / 11 * 10)
        let windows = (each / 20 + 59) / 60
        #expect(store.observations.count - pulses == 3 * windows)
    }

    /// Files are followed however they are written; an error says where, and the former mapping stays.
    @Test func filesAreWatched() throws {
        let mapping = Mapping()
        let folder = mapping.folder
        let run = try Kymo.start(["run", "--unix", folder.file("a.sock"), "--mapping", mapping.path])
        let address = try run.addresses()[0]
        let lines = readings(2_000, device: "d").filter { $0.contains("pulse") }
        func send(_ index: Int) throws {
            let before = run.output.count
            try Sending.send(lines: [lines[index]], to: address)
            try Waiting.until("output") { run.output.count > before && run.output.last == 0x0A }
        }
        try send(0)
        mapping.write(code: "v1")
        try run.waitForError("mine/fhir.json has changed: loaded the mappings")
        try send(1)
        mapping.overwrite(fhir: Mapping.broken)
        try run.waitForError("the former ones stay in use")
        #expect(run.errorText.contains("\(mapping.path)/fhir.json:8:26: error:"), "\(run.errorText)")
        try send(2)
        mapping.overwrite(fhir: Mapping.fhir(code: "v3"))
        try Waiting.until("v3") { told("loaded the mappings", in: run.errorText) == 2 }
        try send(3)
        let done = try run.terminate()
        #expect(done.end == .exit(0) && reloads(done.error) == (2, 1), "\(done.error)")
        let store = try store(done.output)
        let codes = store.observations.values.sorted { time($0) < time($1) }.map { code($0) }
        #expect(codes == ["v0", "v1", "v1", "v3"])
    }

    /// Each order is answered, also one that is refused as the one before it; the status says so until one is taken.
    @Test func eachOrderIsAnswered() throws {
        let mapping = Mapping()
        let data = ["--data", mapping.folder.file("data")]
        let run = try Kymo.start(["run", "--stdin", "--no-watch", "--mapping", mapping.path] + data, input: .pipe)
        _ = try run.addresses()
        func status() throws -> String { try Kymo.run(["status"] + data).text }
        #expect(try !status().contains("reload refused"))
        mapping.overwrite(fhir: Mapping.broken)
        for count in 1...3 {
            run.signal(SIGHUP)
            try Waiting.until("answer \(count)") { told("the former ones stay in use", in: run.errorText) == count }
            #expect(told("fhir.json:8:26: error:", in: run.errorText) == count, "\(run.errorText)")
        }
        let refused = try status()
        #expect(refused.contains(": SIGHUP: the mappings have errors; the former ones stay in use"), "\(refused)")
        mapping.overwrite(fhir: Mapping.fhir(code: "v1"))
        run.signal(SIGHUP)
        try run.waitForError("loaded the mappings")
        #expect(try !status().contains("reload refused"))
        let done = try run.terminate()
        #expect(reloads(done.error) == (1, 3) && !done.error.contains("more like this"), "\(done.error)")
    }

    /// Without watching, and for a changed configuration file, the signal decides.
    @Test func withoutWatching() throws {
        let mapping = Mapping()
        let folder = mapping.folder
        let file = folder.write("kymo.yaml", "window: 1m\n")
        let run = try Kymo.start(
            ["run", "--stdin", "--no-watch", "--config", file, "--mapping", mapping.path], input: .pipe)
        _ = try run.addresses()
        let lines = readings(40, device: "d").filter { $0.contains("pulse") }
        mapping.write(code: "v1")
        // A watch would have seen it after half a second, and loaded it after another.
        usleep(1_600_000)
        run.write(Readings.ndjson([lines[0]]))
        try Waiting.until("output") { run.output.last == 0x0A }
        run.signal(SIGHUP)
        try run.waitForError("SIGHUP: loaded the mappings")
        #expect(!run.errorText.contains("took over") && !run.errorText.contains("cannot change"))
        run.write(Readings.ndjson([lines[1]]))
        folder.write("kymo.yaml", "window: 2m\n")
        run.signal(SIGHUP)
        try run.waitForError("SIGHUP: cannot change while it runs: window 1m → 2m (\(file):1:9); restart to apply it")
        run.closeInput()
        let done = try run.finish()
        #expect(done.end == .exit(0) && reloads(done.error) == (1, 1), "\(done.error)")
        #expect(try store(done.output).observations.values.map { code($0) }.sorted() == ["v0", "v1"])
    }

    /// A mapping folder that is not there for a while keeps nobody from working.
    @Test func aFolderThatGoesAndComes() throws {
        let mapping = Mapping()
        let folder = mapping.folder
        let run = try Kymo.start(["run", "--stdin", "--mapping", mapping.path], input: .pipe)
        _ = try run.addresses()
        let lines = readings(40, device: "d").filter { $0.contains("pulse") }
        Files.move(mapping.path, to: folder.file("away"))
        try run.waitForError("no such folder")
        run.write(Readings.ndjson([lines[0]]))
        try Waiting.until("output") { run.output.last == 0x0A }
        Files.move(folder.file("away"), to: mapping.path)
        mapping.write(code: "v1")
        try run.waitForError("loaded the mappings")
        run.write(Readings.ndjson([lines[1]]))
        run.closeInput()
        let done = try run.finish()
        #expect(done.end == .exit(0))
        #expect(try store(done.output).observations.values.map { code($0) }.sorted() == ["v0", "v1"])
    }
}
