import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Several sinks at once: each gets what its filter names, at its own pace.
@Suite struct SinkListTests {
    private static let lines = (0..<3).flatMap { device in
        (0..<600).map { Readings.heartRate(second: $0, value: 60 + $0 % 30, device: "bed-\(device)") }
    }
    private static let window = ["--window", "1m", "--lateness", "5s", "--idle", "1s"]

    private func files(_ folder: TemporaryFolder, _ name: String) throws -> BundleReader {
        var reader = BundleReader()
        for file in Files.names(folder.file(name)) {
            try reader.read(ndjson: Files.read(folder.file("\(name)/\(file)")))
        }
        return reader
    }

    private func oracle(_ lines: [String]) throws -> BundleReader {
        let done = try Kymo.run(["run", "--stdin", "--ephemeral"] + Self.window, input: .bytes(Readings.ndjson(lines)))
        var reader = BundleReader()
        try reader.read(ndjson: done.output)
        return reader
    }

    private func lines(of devices: Set<Int>) -> [String] {
        Self.lines.filter { line in devices.contains { line.contains("\"bed-\($0)\"") } }
    }

    private static let threeSinks = """
        sinks:
          - to: stdout
          - {to: one, devices: bed-1}
          - {to: others, devices: [bed-0, bed-2], types: heart*}
        """

    @Test(arguments: ["--ephemeral", "--data"])
    func eachGetsItsOwn(keeping: String) throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", Self.threeSinks)
        let keeping = keeping == "--data" ? [keeping, folder.file("data")] : [keeping]
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file] + keeping + Self.window, directory: folder.path,
            input: .bytes(Readings.ndjson(Self.lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        var all = BundleReader()
        try all.read(ndjson: done.output)
        let found = [all, try files(folder, "one"), try files(folder, "others")]
        for (reader, devices) in zip(found, [[0, 1, 2], [1], [0, 2]] as [Set<Int>]) {
            let differences = reader.differences(from: try oracle(lines(of: devices)), ignoring: ["status"])
            #expect(differences.isEmpty, "\(devices): \(differences.prefix(3))")
        }
        guard keeping.count == 2 else { return }
        let status = try JSONTree(
            parsing: try Kymo.run(["status", "--format", "json", "--data", folder.file("data")]).output)
        #expect(status["store"]?["outboxRows"]?.integer == 0, "what a filter keeps from a sink does not wait for it")
    }

    /// The process is killed while it writes: afterwards each has everything that is its own.
    @Test func killed() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml", "sinks: [{to: one, devices: bed-1}, {to: others, devices: [bed-0, bed-2]}]")
        let arguments = ["run", "--config", file, "--data", folder.file("data")] + Self.window
        var rest = Self.lines[...]
        for round in 0..<6 {
            let run = try Kymo.start(
                arguments + ["--unix", folder.file("k.sock")], directory: folder.path)
            _ = try run.addresses()
            let client = try AckClient(folder.file("k.sock"))
            client.send(Readings.ndjson(Array(rest.prefix(250))))
            try Waiting.until("an acknowledgement") {
                client.receive()
                return client.acknowledged > 0
            }
            usleep(UInt32(20_000 * round))
            run.signal(SIGKILL)
            _ = try run.wait()
            client.receive()
            rest = rest.dropFirst(client.acknowledged)
        }
        let last = try Kymo.run(
            arguments + ["--stdin"], directory: folder.path, input: .bytes(Readings.ndjson(Array(rest))))
        #expect(last.end == .exit(0), "\(last.error)")
        for (name, devices) in [("one", [1]), ("others", [0, 2])] as [(String, Set<Int>)] {
            let differences = try files(folder, name).differences(
                from: try oracle(lines(of: devices)), ignoring: ["status"])
            #expect(differences.isEmpty, "\(name): \(differences.prefix(3))")
        }
    }

    /// A window belongs to a sink when a reading of it came from one of the sink's sources.
    @Test func bySource() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml",
            """
            sources: [{unix: a.sock, name: ward}, {unix: b.sock}]
            sinks: [{to: ward, sources: ward}, {to: rest, sources: "unix *"}]
            """)
        let run = try Kymo.start(
            ["run", "--config", file, "--data", folder.file("data")] + Self.window, directory: folder.path)
        _ = try run.addresses()
        for (socket, device) in [("a.sock", 0), ("b.sock", 1)] {
            let client = try AckClient(folder.file(socket))
            let sent = lines(of: [device])
            client.send(Readings.ndjson(sent))
            try Waiting.until("all to be acknowledged") {
                client.receive()
                return client.acknowledged == sent.count
            }
        }
        #expect(try run.terminate().end == .exit(0))
        for (name, device) in [("ward", 0), ("rest", 1)] {
            #expect(
                try files(folder, name).differences(from: try oracle(lines(of: [device])), ignoring: ["status"]) == [])
        }
    }

    /// What no sink wants is said, and kept in the archive all the same.
    @Test func whatNobodyWants() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "sinks: [{to: one, devices: bed-1, types: [heartRat, heartRate]}]")
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file, "--data", folder.file("data")] + Self.window,
            directory: folder.path, input: .bytes(Readings.ndjson(Self.lines)))
        #expect(
            done.end == .exit(0) && done.error.contains("filtered 20: windows that no sink is to get"), "\(done.error)")
        #expect(done.error.contains("no mapping has a type 'heartRat'; did you mean 'heartRate'?"), "\(done.error)")
        let query = try Kymo.run(["query", "--data", folder.file("data"), "--format", "ndjson", "--limit", "5000"])
        #expect(query.text.contains("bed-0") && query.text.contains("bed-2"), "\(query.error)")
    }

    /// A sink that is ended while bundles wait for it: that is said, and the ledger does not call its windows complete.
    @Test func aSinkThatIsEndedWithoutItsBundles() throws {
        let folder = TemporaryFolder()
        func run(_ sinks: String, _ lines: [String]) throws -> Kymo.Finished {
            let file = folder.write("kymo.yaml", "sinks: [{to: all}\(sinks)]")
            return try Kymo.run(
                ["run", "--stdin", "--config", file, "--data", folder.file("data")] + Self.window,
                directory: folder.path, input: .bytes(Readings.ndjson(lines)))
        }
        func server(_ name: String) -> String {
            ", {server: \"http://127.0.0.1:9/fhir\", identity: create, name: \(name), devices: bed-1}"
        }
        #expect(try run(server("study"), Self.lines).end == .exit(0))
        let ended = try run(server("trial"), [])
        #expect(ended.end == .exit(0), "\(ended.error)")
        #expect(ended.error.contains("given up: no sink of this run is called 'study'"), "\(ended.error)")
        func ledger(_ device: String) throws -> Kymo.Finished {
            try Kymo.run(["ledger", "--data", folder.file("data"), "--device", device])
        }
        let lost = try ledger("bed-1")
        #expect(lost.end == .exit(65) && lost.text.contains("10 windows were given up for study"), "\(lost.text)")
        #expect(lost.text.contains("files all has it, study was ended without it"), "\(lost.text)")
        #expect(try ledger("bed-0").end == .exit(0))
        #expect(try Kymo.run(["ledger", "--verify", "--data", folder.file("data")]).end == .exit(0))
    }

    /// A sink that has a window, and hears nothing of what amends it: the ledger says so until it gets a version again.
    @Test func aSinkThatIsLeftOutForAWhile() throws {
        let folder = TemporaryFolder()
        func run(_ sinks: String, _ lines: [String]) throws -> Kymo.Finished {
            let file = folder.write("kymo.yaml", "sinks: [{to: all}, \(sinks)]")
            return try Kymo.run(
                ["run", "--stdin", "--config", file, "--data", folder.file("data")] + Self.window,
                directory: folder.path, input: .bytes(Readings.ndjson(lines)))
        }
        func amend(_ sinks: String, _ value: Int) throws -> Kymo.Finished {
            let late = Readings.heartRate(second: 3, value: value, device: "bed-1")
            #expect(try run(sinks, [late]).balance?.accepted == 1)
            return try Kymo.run(["ledger", "--data", folder.file("data"), "--device", "bed-1"])
        }
        #expect(try run("{to: study}", Self.lines).end == .exit(0))
        for (sinks, value) in [("{to: trial}", 201), ("{to: study, types: steps}", 202)] {
            let ledger = try amend(sinks, value)
            #expect(ledger.end == .exit(65), "\(ledger.text)")
            #expect(ledger.text.contains("1 window was given up for files study"), "\(ledger.text)")
        }
        let complete = try amend("{to: study}", 203)
        #expect(!complete.text.contains("given up for files study"), "\(complete.text)")
        // That of the other run, which has gone with the version that it got.
        #expect(complete.text.contains("1 window was given up for files trial"), "\(complete.text)")
    }
}
