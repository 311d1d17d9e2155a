import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// `store.keepRaw` and `kymo query --raw`: the payloads that readings of windows came in.
@Suite struct PayloadQueryTests {
    private static let keeps = "store: {keepRaw: 30d}\n"

    /// Runs `lines` with what `settings` say.
    @discardableResult
    private func run(_ run: StoredRun, _ lines: [String], settings: String = keeps) throws -> Kymo.Finished {
        try run.run(lines, ["--config", run.folder.write("kymo.yaml", settings)])
    }

    /// The payloads that `arguments` ask for, in the order in which they are printed.
    private func payloads(_ run: StoredRun, _ arguments: String...) throws -> [String] {
        let done = try Kymo.run(["query", "--raw", "--limit", "20000", "--data", run.data] + arguments)
        #expect(done.end == .exit(0) && done.error.isEmpty, "\(done.error)")
        return try done.lines.map { line in
            guard case .string(let text)? = try JSONTree(parsing: Array(line.utf8))["payload"] else {
                throw WaitError(description: line)
            }
            return text
        }
    }

    /// What gave a reading is there byte by byte; what gave none is not, and is a dead letter.
    @Test func asTheyCame() throws {
        let run = StoredRun()
        let odd = Readings.heartRate(second: 5).replacing("{", with: "{ \"note\" : \"caf\\u00e9 \u{2192} é\\t\" ,  ")
        let array = "[" + Readings.heartRate(second: 61) + "," + Readings.heartRate(second: 6, device: "w-2") + ",{}]"
        let lines = [odd, "no JSON", array, Readings.heartRate(second: 7)]
        let done = try self.run(run, lines)
        #expect(done.balance?.accepted == 4 && done.error.contains("kept 3 payloads as they came"), "\(done.error)")
        #expect(try payloads(run, "--device", "watch-1").sorted() == [array, odd, lines[3]].sorted())
        #expect(try payloads(run, "--device", "watch-1", "--from", "2026-03-01T08:01:00Z") == [array])
        #expect(try payloads(run, "--device", "w-2") == [array])
        let shown = try JSONTree(
            parsing: Array(try run.command("query", "--raw", "--device", "w-2").lines[0].utf8))
        #expect(shown["device"] == .string("w-2") && shown["type"] == .string("heartRate"))
        #expect(shown["source"] == .string("stdin") && shown["window"] == .string("2026-03-01T08:00:00Z"))
        #expect(shown["readings"]?.elements == [.string("2026-03-01T08:00:06Z")] && shown["patient"] == nil)
        let table = try run.command("query", "--raw", "--format", "table", "--device", "w-2")
        #expect(table.lines.count == 2 && table.lines[1].hasSuffix(array), "\(table.text)")
    }

    /// An Observation leads to the payloads of its own readings alone.
    @Test func ofAnObservation() throws {
        let run = StoredRun()
        try self.run(run, Readings.heartRates(150))
        let observations = try run.command("query").lines
        #expect(observations.count == 3)
        for line in observations {
            let tree = try JSONTree(parsing: Array(line.utf8))
            let (id, start) = (try #require(tree["id"]?.text), tree["effectivePeriod"]?["start"]?.text ?? "")
            let own = Readings.heartRates(150).filter { $0.contains(start.prefix(16)) }
            #expect(try payloads(run, "--id", id) == own, "\(start)")
        }
    }

    /// Single readings have an Observation each.
    @Test func ofASingleReading() throws {
        let run = StoredRun()
        run.folder.write("mine/device.json", MappingText.device)
        run.folder.write("mine/fhir.json", MappingText.fhir)
        let lines = (10..<20).map { "{\"id\":\"p-1\",\"at\":\"2026-03-01T08:00:\($0)Z\",\"pulse\":\($0 + 50)}" }
        let mapping = ["--mapping", "\(run.folder.path)/mine"]
        try run.run(lines, mapping + ["--config", run.folder.write("kymo.yaml", Self.keeps)])
        for line in try Kymo.run(["query", "--data", run.data] + mapping).lines {
            let tree = try JSONTree(parsing: Array(line.utf8))
            let (id, at) = (try #require(tree["id"]?.text), try #require(tree["effectiveDateTime"]?.text))
            #expect(try payloads(run, ["--id", id] + mapping) == lines.filter { $0.contains(at) }, "\(line)")
        }
    }

    private func payloads(_ run: StoredRun, _ arguments: [String]) throws -> [String] {
        let done = try Kymo.run(["query", "--raw", "--data", run.data] + arguments)
        #expect(done.end == .exit(0), "\(done.error)")
        return try done.lines.compactMap { try JSONTree(parsing: Array($0.utf8))["payload"]?.text }
    }

    /// Random runs of random payloads against a model: each payload is found by each window that has a reading of it,
    /// as often as it came.
    @Test func likeAModel() throws {
        for seed in Trials.seeds(tenthOf: 30) {
            var random = SeededGenerator(seed: seed)
            let run = StoredRun()
            var sent: [String] = []
            for _ in 0..<3 {
                let again = sent.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
                let lines = again + (0..<60).map { _ in Self.payload(&random) }
                try self.run(run, lines)
                sent += lines
            }
            for device in 0..<3 {
                for minute in 0..<3 {
                    let (name, start) = ("d\(device)", "2026-03-01T08:0\(minute)")
                    let wanted = sent.filter { line in
                        line.split(separator: "}").contains {
                            $0.contains("\"\(name)\"") && $0.contains("T08:0\(minute):") && $0.contains("heartRate")
                        }
                    }
                    let found = try payloads(
                        run, "--device", name, "--type", "heartRate", "--from", "\(start):00Z", "--to",
                        "2026-03-01T08:0\(minute + 1):00Z")
                    #expect(found.sorted() == wanted.sorted(), "seed \(seed), \(name), minute \(minute)")
                }
            }
        }
    }

    /// One reading, or an array of a few, of three devices, two types and three minutes, no two of one time.
    private static func payload(_ random: inout SeededGenerator) -> String {
        let readings = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let (second, device) = (Int.random(in: 0..<180, using: &random), Int.random(in: 0..<3, using: &random))
            let reading = Readings.heartRate(second: second, value: 60 + second % 40, device: "d\(device)")
            guard Int.random(in: 0..<4, using: &random) == 0 else { return reading }
            return reading.replacing("heartRate", with: "oxygenSaturation").replacing("/min", with: "%")
        }
        return readings.count == 1 ? readings[0] : "[" + readings.joined(separator: ",") + "]"
    }

    /// What was acknowledged is there after a kill, with its payload.
    @Test func acknowledgedMeansKept() throws {
        let run = StoredRun()
        let file = run.folder.write("kymo.yaml", Self.keeps)
        let process = try Kymo.start(
            ["run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--idle", "0s", "--config", file])
        _ = try process.addresses()
        let client = try AckClient(run.folder.file("a.sock"))
        let lines = Readings.heartRates(300)
        client.send(Readings.ndjson(lines))
        try Waiting.until("all acknowledgements") {
            client.receive()
            return client.acknowledged == lines.count
        }
        process.signal(SIGKILL)
        _ = try process.wait()
        // Open windows are in the journal.
        #expect(try payloads(run, "--open").sorted() == lines.sorted())
        try self.run(run, [])
        #expect(try payloads(run).sorted() == lines.sorted())
    }

    /// It begins and ends with a reload, for what comes from then on.
    @Test func byReload() throws {
        let folder = TemporaryFolder()
        func settings(_ age: String) -> String { "watch: false\nsources: [{unix: a.sock}]\nstore: {keepRaw: \(age)}\n" }
        folder.write("kymo.yaml", settings("0s"))
        let process = try Kymo.start(
            ["run", "--config", "kymo.yaml", "--data", folder.file("data"), "--idle", "0s"], directory: folder.path)
        _ = try process.addresses()
        let client = try AckClient(folder.file("a.sock"))
        var sent = 0
        func send(_ lines: [String]) throws {
            client.send(Readings.ndjson(lines))
            sent += lines.count
            try Waiting.until("all acknowledgements") {
                client.receive()
                return client.acknowledged == sent
            }
        }
        let lines = Readings.heartRates(30)
        try send(Array(lines[0..<10]))
        folder.write("kymo.yaml", settings("1h"))
        process.signal(SIGHUP)
        try process.waitForError("store.keepRaw 0s → 1h")
        // The lane goes over with the next batch, and says nothing of it.
        try Waiting.until("a payload that is kept") {
            try send([lines[10]])
            return try Kymo.run(["query", "--raw", "--open", "--data", folder.file("data")]).lines.count > 0
        }
        try send(Array(lines[11..<20]))
        folder.write("kymo.yaml", settings("0s"))
        process.signal(SIGHUP)
        try process.waitForError("store.keepRaw 1h → 0s")
        let before = try process.waitForCount(folder)
        try Waiting.until("a payload that is not kept") {
            try send([lines[20]])
            return try process.waitForCount(folder) == before
        }
        try send(Array(lines[21..<30]))
        #expect(try process.terminate().end == .exit(0))
        let done = try Kymo.run(["query", "--raw", "--limit", "1000", "--data", folder.file("data")])
        let found = Set(try done.lines.compactMap { try JSONTree(parsing: Array($0.utf8))["payload"]?.text })
        #expect(found.isSuperset(of: lines[10..<20]) && found.isSubset(of: lines[10...20]), "\(found)")
    }

    /// They are compressed together, not one by one.
    @Test func areCompressed() throws {
        let run = StoredRun()
        let lines = Readings.heartRates(3_000)
        try self.run(run, lines)
        let size = try #require(try run.value("SELECT sum(length(body)) FROM raw"))
        #expect(size > 0 && size * 4 < Readings.ndjson(lines).count, "\(size)")
    }

    /// Payloads go by their age, and windows stay.
    @Test func byAge() throws {
        let run = StoredRun()
        try self.run(run, Readings.heartRates(90))
        #expect(try payloads(run).count == 90)
        try self.run(run, Readings.heartRates(10, device: "w-2"), settings: "store: {keepRaw: 1ms}\n")
        // Those of the second run may have gone, too.
        #expect(try run.command("query", "--raw", "--device", "watch-1").output.isEmpty)
        #expect(try run.value("SELECT count(*) FROM raw_device WHERE device = CAST('watch-1' AS BLOB)") == 0)
        #expect(try run.json("query", "--count")["readings"]?.integer == 100)
    }

    /// When the store is full, payloads go before any window does.
    @Test func beforeWindows() throws {
        let run = StoredRun()
        var random = SeededGenerator(seed: Trials.seed(7))
        let lines = Readings.heartRates(12_000).map { line in
            let noise = (0..<60).map { _ in String(UInt64.random(in: .min ... .max, using: &random), radix: 36) }
            return line.replacing("{", with: "{\"noise\":\"\(noise.joined())\",")
        }
        // What one commit brings may pass the limit until the next: where all came at once, the second run drops some.
        let runs = try [lines[..<9_000], lines[9_000...]].map {
            try self.run(run, Array($0), settings: "store: {keepRaw: 30d, maxBytes: 2MiB}\n")
        }
        let told = runs.map(\.error).joined()
        #expect(runs.map(\.balance?.accepted) == [9_000, 3_000], "\(told)")
        #expect(told.contains("dropping the oldest payloads that store.keepRaw keeps"), "\(told)")
        #expect(!told.contains("dropping the oldest windows"), "\(told)")
        #expect(try run.json("query", "--count")["readings"]?.integer == 12_000)
        let kept = try payloads(run)
        #expect(!kept.isEmpty && kept.count < 12_000 && Set(kept).isSubset(of: lines))
    }

    @Test func mistakes() throws {
        let run = StoredRun()
        let file = run.folder.write("kymo.yaml", Self.keeps)
        let nowhere = try Kymo.run(["run", "--stdin", "--config", file])
        #expect(nowhere.end == .exit(78) && nowhere.error.contains("store.keepRaw needs a data directory"))
        let long = run.folder.write("long.yaml", "store:\n  keepRaw: 60d\n")
        let tooLong = try Kymo.run(["run", "--stdin", "--data", run.data, "--config", long])
        #expect(tooLong.end == .exit(78) && tooLong.error.contains("long.yaml:2:12"), "\(tooLong.error)")
        #expect(tooLong.error.contains("raise store.archiveAge, too, or lower this"), "\(tooLong.error)")
        try run.run(Readings.heartRates(3))
        let none = try run.command("query", "--raw")
        #expect(none.end == .exit(0) && none.output.isEmpty && none.error.contains("store.keepRaw says for how long"))
        let both = try run.command("query", "--raw", "--readings")
        #expect(both.end == .exit(64) && both.error.contains("leave --readings and --count out"), "\(both.error)")
    }
}

extension ChildProcess {
    /// How many payloads the store of the run in `folder` has kept.
    fileprivate func waitForCount(_ folder: TemporaryFolder) throws -> Int {
        try Kymo.run(["query", "--raw", "--open", "--limit", "1000", "--data", folder.file("data")]).lines.count
    }
}
