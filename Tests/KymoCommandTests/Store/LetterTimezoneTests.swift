import CommandSupport
import KymographTestKit
import Testing

/// Dead letters of a source with a time zone.
@Suite struct LetterTimezoneTests {
    private let run = StoredRun()
    private static let local = MappingText.reading.replacing("08:00:00Z", with: "10:00:00")

    private var mapping: String { run.folder.file("mine") }

    /// The mapping reads readings, or nothing.
    private func write(isMended: Bool) {
        // It names the patient, too.
        let device = MappingText.device.replacing(
            "\"timestampExpression\"", with: "\"patientIdExpression\": \"$.id\", \"timestampExpression\"")
        run.folder.write("mine/device.json", isMended ? device : device.replacing("(@pulse)", with: "(@nothing)"))
        run.folder.write("mine/fhir.json", MappingText.fhir)
    }

    private func replay(_ stated: [String]) throws -> Kymo.Finished {
        try Kymo.run(
            ["dead", "replay", "--all", "--data", run.data, "--out", run.output, "--format", "ndjson"] + stated)
    }

    private func checkTaken(_ replay: Kymo.Finished) {
        #expect(replay.end == .exit(0), "\(replay.error)")
        let text = run.written.joined()
        #expect(text.contains("10:00:00+02:00") && !text.contains("10:00:00Z"), "\(text)")
    }

    /// What names no offset is read by the wall clock by which its source has read it, also where the replay names none:
    /// in UTC it would be hours away, in another window.
    @Test(arguments: [[], ["--timezone", "+02:00"]]) func readsLettersByTheClockOfTheirSource(stated: [String]) throws {
        write(isMended: false)
        let rejected = try run.run([Self.local], ["--mapping", mapping, "--timezone", "+02:00"])
        #expect(rejected.balance?.rejected == 1 && run.written.isEmpty, "\(rejected.error)")
        write(isMended: true)
        checkTaken(try replay(["--mapping", mapping] + stated))
    }

    /// Nor by the clock of a run that came after it.
    @Test(arguments: [[], ["--timezone", "UTC"]]) func theSourceHadAnotherClockSince(later: [String]) throws {
        write(isMended: false)
        let rejected = try run.run([Self.local], ["--mapping", mapping, "--timezone", "+02:00"])
        #expect(rejected.balance?.rejected == 1, "\(rejected.error)")
        write(isMended: true)
        #expect(try run.run([], ["--mapping", mapping] + later).end == .exit(0))
        checkTaken(try replay(["--mapping", mapping]))
    }

    /// Letters of both clocks come in one replay, each by its own.
    @Test func lettersOfTwoClocks() throws {
        write(isMended: false)
        for (time, zone) in [("10:00:00", "+02:00"), ("11:00:00", "+01:00")] {
            let line = Self.local.replacing("10:00:00", with: time)
            #expect(try run.run([line], ["--mapping", mapping, "--timezone", zone]).balance?.rejected == 1)
        }
        write(isMended: true)
        checkTaken(try replay(["--mapping", mapping]))
        #expect(run.written.joined().contains("11:00:00+01:00"), "\(run.written)")
    }

    // MARK: A source that has its own

    private func arguments(_ zone: String) -> [String] {
        let zone = zone.isEmpty ? "" : ", timezone: \"\(zone)\""
        let config = run.folder.write(
            "kymo.yaml", "sources:\n  - {unix: \(run.folder.file("a.sock")), mappings: [\(mapping)]\(zone)}\n")
        return ["--config", config]
    }

    private func start(_ zone: String) throws -> ChildProcess {
        let instance = try Kymo.start(
            ["run", "--no-watch", "--data", run.data, "--out", run.output, "--format", "ndjson"] + arguments(zone))
        _ = try instance.addresses()
        try Waiting.until("the instance to answer") { try run.command("status").text.contains("used by process") }
        return instance
    }

    /// Leaves letter 1 of `line`, by the clock `zone`.
    private func fill(_ zone: String, _ line: String = local) throws {
        write(isMended: false)
        let instance = try start(zone)
        try Sending.send(lines: [line], to: "unix \(run.folder.file("a.sock"))")
        try Waiting.until("a letter") { try run.command("dead", "list").lines.count == 2 }
        #expect(try instance.terminate().end == .exit(0))
        write(isMended: true)
    }

    /// Replays with the clock `zone`, by an instance or without.
    private func replay(by zone: String, isRunning: Bool) throws -> Kymo.Finished {
        let instance = isRunning ? try start(zone) : nil
        let replay = try replay(arguments(zone))
        #expect(try instance?.terminate().end ?? .exit(0) == .exit(0))
        return replay
    }

    private func checkLeft(_ replay: Kymo.Finished) throws {
        #expect(replay.end == .exit(65), "\(replay.error)")
        #expect(replay.error.contains("letter 1: what it holds depends on timezone of its source"), "\(replay.error)")
        #expect(run.written.isEmpty)
        #expect(try run.command("dead", "list").lines.count == 2)
    }

    /// A letter is left where its source has another clock: by that it would be a reading of another hour.
    @Test(arguments: [false, true]) func anotherClockLeavesTheLetter(isRunning: Bool) throws {
        try fill("+02:00")
        try checkLeft(try replay(by: "UTC", isRunning: isRunning))
        // An instance reads what comes by its own clock; a pipeline of the letter has none, and takes that of the letter.
        if isRunning { try checkLeft(try replay(by: "", isRunning: true)) }
        #expect(try run.json("dead", "show", "1")["timezone"]?.text == "+02:00")
        checkTaken(try replay(by: isRunning ? "+02:00" : "", isRunning: isRunning))
    }

    /// One that names its offset is of the same time by any clock.
    @Test(arguments: [false, true]) func anOffsetNeedsNoClock(isRunning: Bool) throws {
        try fill("+02:00", Self.local.replacing("10:00:00", with: "10:00:00+02:00"))
        checkTaken(try replay(by: "UTC", isRunning: isRunning))
    }

    /// Of letters of earlier versions it is not known by which clock they came, nor by one that this machine lacks.
    @Test(arguments: ["DELETE FROM letter_context", "UPDATE letter_context SET timezone = 'Mars/Phobos'"])
    func aClockThatIsNotKnown(change: String) throws {
        try fill("+02:00")
        try run.change(change)
        for isRunning in [false, true] {
            try checkLeft(try replay(by: "", isRunning: isRunning))
            try checkLeft(try replay(by: "+02:00", isRunning: isRunning))
        }
    }

    /// With an offset, they come.
    @Test(arguments: [false, true]) func anOffsetOfAnEarlierVersion(isRunning: Bool) throws {
        try fill("", Self.local.replacing("10:00:00", with: "10:00:00+02:00"))
        try run.change("DELETE FROM letter_context")
        checkTaken(try replay(by: "UTC", isRunning: isRunning))
    }
}
