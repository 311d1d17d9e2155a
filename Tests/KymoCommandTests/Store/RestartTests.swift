import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What one run has kept is what the next goes on with.
@Suite struct RestartTests {
    /// A run from standard input to its end, with the store in `folder`.
    private func run(_ folder: TemporaryFolder, _ lines: [String], _ more: [String] = []) throws -> Kymo.Finished {
        try Kymo.run(
            ["run", "--stdin", "--data", folder.file("data")] + more, input: .bytes(Readings.ndjson(lines)))
    }

    @Test func aLateReadingFindsTheFullWindow() throws {
        let folder = TemporaryFolder()
        let early = (0..<300).filter { $0 != 17 }.map { Readings.heartRate(second: $0, value: 60 + $0 % 7) }
        let first = try run(folder, early)
        #expect(first.balance?.accepted == 299, "\(first.error)")
        let second = try run(folder, [Readings.heartRate(second: 17, value: 61)])
        var reader = BundleReader()
        try reader.read(ndjson: second.output)
        let shown = try #require(reader.observations.values.first)
        #expect(reader.observations.count == 1 && shown["status"]?.text == "amended")
        let whole = try Kymo.run(
            ["run", "--stdin"],
            input: .bytes(Readings.ndjson(early + [Readings.heartRate(second: 17, value: 61)])))
        var oracle = BundleReader()
        try oracle.read(ndjson: whole.output)
        #expect(reader.differences(from: oracle, ignoring: ["status"]) == [])
    }

    @Test func whatIsKnownChangesNothing() throws {
        let folder = TemporaryFolder()
        let lines = Readings.heartRates(600)
        _ = try run(folder, lines)
        let again = try run(folder, lines.shuffled())
        #expect(again.output.isEmpty && again.balance?.duplicate == 600, "\(again.error)")
    }

    @Test func onlyOneProcessUsesADirectory() throws {
        let folder = TemporaryFolder()
        let first = try Kymo.start(["run", "--stdin", "--data", folder.file("data")], input: .pipe)
        _ = try first.addresses()
        let second = try run(folder, [])
        #expect(second.end == .exit(73) && second.error.contains("another kymo uses the data directory"))
        first.closeInput()
        #expect(try first.finish().end == .exit(0))
    }

    @Test func theDirectoryIsPrivate() throws {
        let folder = TemporaryFolder()
        _ = try run(folder, [])
        #expect(Files.mode(folder.file("data")) == 0o700)
    }

    @Test func aPlaceThatCannotBeUsedIsNamed() throws {
        let folder = TemporaryFolder()
        folder.write("data", "a file")
        let done = try run(folder, [])
        #expect(done.end == .exit(73) && done.error.contains(folder.file("data")) && done.error.contains("--data"))
    }

    /// systemd's folder comes first, then the user's.
    @Test func theUsualPlace() throws {
        let folder = TemporaryFolder()
        let arguments = ["run", "--stdin", "--out", folder.file("out")]
        let lines = Readings.ndjson(Readings.heartRates(3))
        _ = try Kymo.run(arguments, environment: ["STATE_DIRECTORY": folder.file("state")], input: .bytes(lines))
        #expect(Files.exists(folder.file("state/kymo.sqlite")))
        let pipe = try Kymo.run(["run", "--stdin"], environment: ["STATE_DIRECTORY": folder.file("p")])
        #expect(pipe.end == .exit(0) && !Files.exists(folder.file("p")), "a pure pipe keeps nothing")
    }

    /// Readings in a unit and an Observation in another would mislabel a patient's values.
    @Test func aChangedUnitIsRefused() throws {
        let folder = TemporaryFolder()
        folder.write("m/device.json", MappingText.device)
        let fhir = MappingText.fhir.replacing("\"instance\"", with: "\"5m\"").replacing("Quantity", with: "Statistics")
        folder.write("m/fhir.json", fhir)
        let line = MappingText.reading
        let mapping = ["--mapping", folder.file("m/")]
        let first = try run(folder, [line], mapping)
        #expect(first.end == .exit(0) && first.balance?.accepted == 1, "\(first.error)")
        folder.write("m/fhir.json", fhir.replacing("\"/min\"", with: "\"Hz\""))
        let second = try run(folder, [line], mapping)
        #expect(second.end == .exit(78) && second.error.contains("changes from '/min' to 'Hz'"), "\(second.error)")
    }

    /// What was acknowledged and can no longer become an Observation is a dead letter, not forgotten.
    @Test func readingsOfATypeThatIsGoneAreDeadLetters() throws {
        let folder = TemporaryFolder()
        folder.write("m/device.json", MappingText.device)
        folder.write("m/fhir.json", MappingText.fhir.replacing("\"instance\"", with: "\"5m\""))
        let process = try Kymo.start([
            "run", "--unix", folder.file("a.sock"), "--data", folder.file("data"), "--mapping", folder.file("m/"),
        ])
        _ = try process.addresses()
        let client = try AckClient(folder.file("a.sock"))
        client.send(Readings.ndjson([MappingText.reading]))
        try Waiting.until("an acknowledgement") {
            client.receive()
            return client.acknowledged == 1
        }
        process.signal(SIGKILL)
        _ = try process.wait()
        let letters = ["--mapping", "reading", "--dead-letter", folder.file("dead.ndjson")]
        let done = try run(folder, [], letters)
        #expect(done.end == .exit(0) && done.output.isEmpty, "\(done.error)")
        let found = try DeadLetter.read(folder.file("dead.ndjson"))
        #expect(found.count == 1 && found.first?.text.contains("61") ?? false, "\(found)")
    }

    /// Devices may belong to other shards than those that wrote the journal.
    @Test func theNumberOfShardsMayChange() throws {
        let folder = TemporaryFolder()
        let devices = (0..<40).map { "watch-\($0)" }
        let early = devices.flatMap { device in (0..<20).map { Readings.heartRate(second: $0 * 2, device: device) } }
        let late = devices.flatMap { device in (0..<20).map { Readings.heartRate(second: $0 * 2 + 1, device: device) } }
        let process = try Kymo.start(
            ["run", "--unix", folder.file("a.sock"), "--data", folder.file("data"), "--idle", "0s"],
            environment: ["KYMO_SHARDS": "3"])
        _ = try process.addresses()
        let client = try AckClient(folder.file("a.sock"))
        client.send(Readings.ndjson(early))
        try Waiting.until("all lines") {
            client.receive()
            return client.acknowledged == early.count
        }
        process.signal(SIGKILL)
        _ = try process.wait()
        let done = try run(folder, late)
        var (found, oracle) = (BundleReader(), BundleReader())
        try found.read(ndjson: done.output)
        try oracle.read(ndjson: try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(early + late))).output)
        #expect(found.differences(from: oracle) == [] && oracle.observations.count == 40)
    }
}
