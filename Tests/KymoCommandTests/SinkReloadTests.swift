import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// Sinks that are added, changed and removed by SIGHUP while `kymo run` works.
@Suite struct SinkReloadTests {
    /// An instance with sinks that write to folders, and what each of them is to have.
    struct Scene {
        let run = StoredRun()
        private(set) var instance: ChildProcess?
        private var address = ""
        private var changes = 0
        private var minute = 0
        /// Readings that the instance has received.
        private var sent = 0
        /// Lines of which each folder is to have Observations.
        private(set) var expected: [String: [String]] = [:]

        var log: String { instance?.errorText ?? "" }

        func configure(_ sinks: [String], more: String = "") {
            run.folder.write(
                "kymo.yaml",
                """
                lanes: 2
                shards: 2
                lateness: 0s
                idle: 0s
                data: data
                sources: [{unix: \(run.folder.file("a.sock"))}]
                sinks: [\(sinks.joined(separator: ", "))]
                \(more)

                """)
        }

        mutating func start() throws {
            let instance = try Kymo.start(
                ["run", "--config", "kymo.yaml", "--window", "1m"], directory: run.folder.path)
            address = try instance.addresses()[0]
            self.instance = instance
            sent = 0
            try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        }

        /// Has the configuration read again, and waits until the log has `words`, which it did not have before.
        func reload(_ words: String) throws {
            #expect(!log.contains(words), "\(words): \(log)")
            instance?.signal(SIGHUP)
            try Waiting.until("'\(words)' in \(log)") { log.contains(words) }
        }

        /// Has the configuration read again, which is refused with `words`. These may be in the log already, which has
        /// repeats only as a number.
        func reloadInVain(_ words: String) throws {
            func refused() throws -> String? {
                let metrics = try run.command("status", "--format", "prometheus").text
                return metrics.firstMatch(of: /kymo_mapping_reloads_total\{result="failed"\} (\d+)/).map {
                    String($0.1)
                }
            }
            let before = try refused()
            #expect(before != nil)
            instance?.signal(SIGHUP)
            try Waiting.until("another refusal than \(before ?? "") in \(log)") { try refused() != before }
            #expect(log.contains(words), "\(words): \(log)")
        }

        /// Has these sinks written to. Each time another setting changes, too, so that each message is written.
        mutating func use(_ sinks: [String]) throws {
            changes += 1
            configure(sinks, more: "drain: \(30 + changes)s")
            try reload("→ \(30 + changes)s")
        }

        /// Sends readings of two devices, in a minute of their own, and has their windows closed. Each of the folders
        /// `got` is to get those of its devices.
        /// `meanwhile`, the windows are open.
        mutating func send(
            _ got: [String: Set<String>], isOneAway: Bool = false, meanwhile: (inout Scene) throws -> Void = { _ in }
        ) throws {
            let lines = ["bed-0", "bed-1"].flatMap { device in
                (0..<3).map { Readings.heartRate(second: 60 * minute + $0, device: device) }
            }
            minute += 1
            try Sending.send(lines: lines, to: address)
            sent += lines.count
            try Waiting.until("\(sent) readings") {
                try run.json("status", "--format", "json")["sources"]?.elements?.first?["received"]?.integer == sent
            }
            try meanwhile(&self)
            let flushed = try run.command("flush")
            #expect(flushed.end == .exit(0) || isOneAway, "\(flushed.text) \(flushed.error)")
            for (folder, devices) in got {
                expected[folder, default: []] += lines.filter { line in
                    devices.contains { line.contains("\"\($0)\"") }
                }
            }
        }

        func kill() throws {
            instance?.signal(SIGKILL)
            _ = try instance?.wait()
        }

        func end() throws -> Kymo.Finished { try #require(try instance?.terminate()) }

        /// What is in the files of each folder is what was to come there.
        func check(_ steps: [String] = []) throws {
            for (name, lines) in expected {
                let done = try Kymo.run(
                    ["run", "--stdin", "--ephemeral", "--window", "1m", "--lateness", "5s", "--idle", "1s"],
                    input: .bytes(Readings.ndjson(lines)))
                var (oracle, found) = (BundleReader(), BundleReader())
                try oracle.read(ndjson: done.output)
                for file in Files.names(run.folder.file(name)) {
                    try found.read(ndjson: Files.read(run.folder.file("\(name)/\(file)")))
                }
                let differences = found.differences(from: oracle, ignoring: ["status"])
                #expect(differences.isEmpty, "\(name): \(differences.prefix(3)) \(steps)")
            }
        }
    }

    private static let both: Set = ["bed-0", "bed-1"]

    /// One that is added gets what is made from then on; one that is removed gets nothing more; the others never notice.
    @Test func comesAndGoes() throws {
        var scene = Scene()
        scene.configure(["{to: a}", "{to: b}"])
        try scene.start()
        try scene.send(["a": Self.both, "b": Self.both])
        try scene.use(["{to: c}", "{to: a}", "{to: b}"])
        #expect(scene.log.contains("sinks[0] unset → to c (kymo.yaml:7:"), "\(scene.log)")
        try scene.send(["a": Self.both, "b": Self.both, "c": Self.both])
        try scene.use(["{to: c}", "{to: b}"])
        #expect(scene.log.contains("sinks[1] to a → unset"), "\(scene.log)")
        try scene.send(["b": Self.both, "c": Self.both])
        let status = try scene.run.command("status").text
        #expect(status.contains("sink files c:") && !status.contains("sink files a:"), "\(status)")
        // The files of a sink that has gone are complete.
        #expect(!Files.names(scene.run.folder.file("a")).contains { $0.hasSuffix(".open") })
        let done = try scene.end()
        #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(done.error)")
        #expect(!done.error.contains("given up") && done.error.contains("reloads 2, failed 0"), "\(done.error)")
        try scene.check()
        #expect(try scene.run.command("ledger", "--verify").end == .exit(0))
    }

    /// What a filter lets pass is decided anew for what is made from then on.
    @Test func filtersChange() throws {
        var scene = Scene()
        scene.configure(["{to: a}", "{to: b, devices: bed-0}"])
        try scene.start()
        try scene.send(["a": Self.both, "b": ["bed-0"]])
        try scene.use(["{to: a, devices: bed-0}", "{to: b}"])
        try scene.send(["a": ["bed-0"], "b": Self.both])
        try scene.use(["{to: a}", "{to: b}"])
        try scene.send(["a": Self.both, "b": Self.both])
        #expect(try scene.end().end == .exit(0))
        try scene.check()
    }

    /// Windows that are open, and that close while nothing comes, go by the new filters alone.
    @Test func whatIsOpenGoesByTheNewFilters() throws {
        var scene = Scene()
        scene.configure(["{to: a}", "{to: b}"])
        try scene.start()
        try scene.send(["a": Self.both, "b": Self.both, "c": ["bed-0"]]) { scene in
            try scene.use(["{to: a}", "{to: b}", "{to: c, devices: bed-0}", "{to: e, format: events}"])
        }
        try scene.send(["a": Self.both, "c": ["bed-0"]]) { scene in
            try scene.use(["{to: a}", "{to: c, devices: bed-0}", "{to: e, format: events}"])
        }
        let done = try scene.end()
        #expect(done.end == .exit(0) && !done.error.contains("given up"), "\(done.error)")
        try scene.check()
        let folder = scene.run.folder.file("e")
        let events = Files.names(folder).flatMap { Files.text("\(folder)/\($0)").split(separator: "\n") }
        #expect(events.count == 6 && !events.contains { $0.contains("resourceType") }, "\(events)")
        #expect(try scene.run.command("ledger", "--verify").end == .exit(0))
    }

    /// A sink of events begins with the readings that are taken from then on.
    @Test func events() throws {
        var scene = Scene()
        scene.configure(["{to: a}", "{to: b}"])
        try scene.start()
        try scene.send(["a": Self.both, "b": Self.both])
        try scene.use(["{to: a}", "{to: b}", "{to: e, format: events, devices: bed-1}"])
        try scene.send(["a": Self.both, "b": Self.both])
        try scene.use(["{to: a}", "{to: b}"])
        try scene.send(["a": Self.both, "b": Self.both])
        #expect(try scene.end().end == .exit(0))
        try scene.check()
        let folder = scene.run.folder.file("e")
        let events = Files.names(folder).flatMap { Files.text("\(folder)/\($0)").split(separator: "\n") }
        #expect(events.count == 3 && events.allSatisfy { $0.contains("bed-1") && $0.contains("T08:01:0") }, "\(events)")
    }

    /// A server that nobody answers for goes with what it has not got, and that is said, and in the ledger.
    @Test func aServerThatIsAwayGoes() throws {
        var scene = Scene()
        let server = "{server: 'http://127.0.0.1:9/fhir', identity: create, name: ward}"
        scene.configure(["{to: a}", server])
        try scene.start()
        let refused = scene.run
        try scene.send(["a": Self.both], isOneAway: true)
        #expect(try refused.command("status").text.contains("sink ward: "))
        try scene.use(["{to: a}"])
        try Waiting.until("the message in \(scene.log)") {
            scene.log.contains("given up: no sink is called 'ward' any more")
        }
        try scene.send(["a": Self.both])
        #expect(try refused.json("status", "--format", "json")["store"]?["outboxRows"]?.integer == 0)
        #expect(try scene.end().end == .exit(0))
        let ledger = try refused.command("ledger").text
        #expect(ledger.contains("2 windows were given up for ward"), "\(ledger)")
        try scene.check()
    }

    /// What cannot be opened refuses the whole; what needs a restart is named.
    @Test func refusals() throws {
        var scene = Scene()
        scene.configure(["{to: a}", "{to: b}"])
        try scene.start()
        scene.run.folder.write("file", "")
        scene.configure(["{to: a}", "{to: good}", "{to: file/no}"], more: "maxFuture: 9m")
        try scene.reload("nothing was changed, the former settings and mappings stay in use")
        #expect(scene.log.contains(/SIGHUP: kymo\.yaml:7:[0-9]+:/), "\(scene.log)")
        #expect(!scene.log.contains("took over"))
        scene.configure(["{to: a, format: events}", "{to: b}", "{to: stdout}"])
        try scene.reload("sinks[0].format unset → events (kymo.yaml:7:")
        #expect(scene.log.contains("sinks[2] unset → to stdout (kymo.yaml:7:"), "\(scene.log)")
        try scene.send(["a": Self.both, "b": Self.both])
        // Both directories were left again.
        try scene.use(["{to: a}", "{to: good}"])
        try scene.send(["a": Self.both, "good": Self.both])
        #expect(try scene.end().end == .exit(0))
        try scene.check()
    }

    /// Output that goes directly to one directory has no outbox from which others could be served.
    @Test func theDirectWayNeedsARestart() throws {
        var scene = Scene()
        scene.configure(["{to: a}"])
        try scene.start()
        scene.configure(["{to: a}", "{to: b}"])
        try scene.reload("cannot change while it runs: sinks[1] unset → to b (kymo.yaml:7:")
        try scene.send(["a": Self.both])
        #expect(try scene.end().end == .exit(0))
        try scene.check()
    }
}

/// Random sequences of reloads, restarts and kills, beside a list of what each sink is to have.
@Suite struct SinkReloadSequenceTests {
    private struct Sequence {
        private var scene = SinkReloadTests.Scene()
        private var random: SeededGenerator
        /// The devices of each sink that is there.
        private var present: [String: Set<String>] = ["keep": ["bed-0", "bed-1"], "a": ["bed-0", "bed-1"]]
        /// Places that sinks have had since the start.
        private var places = 2
        private(set) var steps: [String] = []

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            scene.configure(written(present))
            try scene.start()
        }

        private func written(_ sinks: [String: Set<String>]) -> [String] {
            sinks.map { name, devices in
                devices.count == 2 ? "{to: \(name)}" : "{to: \(name), devices: \(devices.first ?? "")}"
            }
        }

        private mutating func others() -> [String: Set<String>] {
            var next: [String: Set<String>] = ["keep": ["bed-0", "bed-1"]]
            for name in ["a", "b", "c"] where Bool.random(using: &random) {
                let choices: [Set<String>] = [["bed-0"], ["bed-1"], ["bed-0", "bed-1"]]
                next[name] = choices[Int.random(in: 0..<3, using: &random)]
            }
            return next
        }

        mutating func step() throws {
            switch Int.random(in: 0..<6, using: &random) {
            case 0...3: try reload(others())
            case 4:
                steps.append("restart")
                #expect(try scene.end().end == .exit(0), "\(steps)")
                try begin()
            default:
                steps.append("kill")
                try scene.kill()
                try begin()
            }
            try scene.send(present)
        }

        /// A run with one directory alone has no outbox, and so takes no other sinks.
        private mutating func begin() throws {
            if present.count == 1 { present["a"] = ["bed-0"] }
            scene.configure(written(present))
            places = present.count
            try scene.start()
        }

        private mutating func reload(_ next: [String: Set<String>]) throws {
            let needed = places + next.keys.count { present[$0] == nil }
            steps.append("\(needed > 8 ? "refused " : "")\(next.sorted { $0.key < $1.key })")
            guard needed <= 8 else {
                scene.configure(written(next), more: "drain: \(400 + steps.count)s")
                return try scene.reloadInVain("\(needed) sinks have come and gone since the start")
            }
            try scene.use(written(next))
            (present, places) = (next, needed)
        }

        func finish() throws {
            let done = try scene.end()
            #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(steps) \(done.error)")
            try scene.check(steps)
            #expect(try scene.run.command("ledger", "--verify").end == .exit(0), "\(steps)")
        }
    }

    @Test(arguments: Trials.seeds(tenthOf: 40)) func eachGetsItsOwn(seed: UInt64) throws {
        var sequence = try Sequence(seed: seed)
        for _ in 0..<16 { try sequence.step() }
        try sequence.finish()
    }
}
