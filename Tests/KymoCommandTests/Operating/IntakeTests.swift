import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `types` and `until` of a source.
@Suite struct IntakeTests {
    private let run = StoredRun()

    private func configuration(_ lines: String) -> String {
        run.folder.write(
            "kymo.yaml",
            """
            sources:
            - unix: \(run.folder.file("a.sock"))
            \(lines.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))

            """)
    }

    private func start(_ configuration: String) throws -> (instance: ChildProcess, address: String) {
        let instance = try Kymo.start([
            "run", "--config", configuration, "--data", run.data, "--out", run.output, "--format", "ndjson", "--idle",
            "0s",
        ])
        return (instance, try instance.addresses()[0])
    }

    private let weight = Readings.heartRate(second: 5).replacing("heartRate", with: "bodyMass")
        .replacing("\"/min\"", with: "\"kg\"")

    /// Other types are rejected with a reason of their own; the letter waits until the type is named.
    @Test func onlyTheTypesThatAreNamed() throws {
        let config = configuration("types: [heart*]")
        let (instance, address) = try start(config)
        try Sending.send(lines: Readings.heartRates(3) + [weight], to: address)
        try Waiting.until("the letter") { try run.command("dead", "list").text.contains("typeNotAllowed") }
        #expect(try run.command("dead", "list").text.contains("type bodyMass"))
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 3 && balance.isClosed && balance.reasons == ["typeNotAllowed": 1])
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        let arguments = ["dead", "replay", "--all", "--data", run.data, "--out", run.output, "--config", config]
        let again = try Kymo.run(arguments)
        #expect(again.end == .exit(65) && again.error.contains("typeNotAllowed"), "\(again.error)")
        _ = configuration("types: [heart*, bodyMass]")
        #expect(try Kymo.run(arguments).end == .exit(0))
        #expect(try run.command("query", "--readings").lines.count == 4)
    }

    /// The time is that of the offset that is written: 09:00:02+01:00 is 08:00:02Z.
    @Test func untilTheStop() throws {
        let (instance, address) = try start(configuration("until: 2026-03-01T09:00:02+01:00"))
        try Sending.send(lines: Readings.heartRates(4), to: address)
        try Waiting.until("the letters") {
            try run.command("dead", "list").text.split(separator: "\n").count { $0.contains("afterStopDate") } == 2
        }
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 2 && balance.isClosed && balance.reasons == ["afterStopDate": 2])
    }

    /// An interval belongs to the time before the stop when it ends by then, however long it is.
    @Test func intervalsUntilTheStop() throws {
        func config(_ second: Int) -> String { configuration("until: 2026-03-01T08:00:0\(second)Z") }
        let (instance, address) = try start(config(1))
        let lines = (0...2).map { second in
            #"{"deviceId": "watch-\#(second)", "patientId": "p-0042", "type": "sleepDuration", "timestamp": "#
                + #""2026-03-01T08:00:0\#(second)Z", "value": 8, "unit": "h", "start": "2026-03-01T00:00:00Z"}"#
        }
        try Sending.send(lines: lines, to: address)
        try Waiting.until("the letter") { try run.command("dead", "list").text.contains("afterStopDate") }
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 2 && balance.isClosed && balance.reasons == ["afterStopDate": 1])
        // A replay decides likewise.
        func replay(_ second: Int) throws -> Kymo.Finished {
            try Kymo.run([
                "dead", "replay", "--all", "--data", run.data, "--out", run.output, "--config", config(second),
            ])
        }
        #expect(try replay(1).end == .exit(65))
        let taken = try replay(2)
        #expect(taken.end == .exit(0), "\(taken.error)")
        #expect(try run.command("query", "--readings").lines.count == 3)
    }

    /// A SIGHUP takes over what is named.
    @Test func readAgain() throws {
        let config = configuration("types: [bodyMass]")
        let (instance, address) = try start(config)
        _ = configuration("types: [heartRate]\nuntil: 2030-01-01T00:00:00Z")
        instance.signal(SIGHUP)
        try instance.waitForError("took over sources[0].types bodyMass → heartRate")
        try Sending.send(lines: Readings.heartRates(2) + [weight], to: address)
        try Waiting.until("the letter") { try run.command("dead", "list").text.contains("typeNotAllowed") }
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 2 && balance.reasons == ["typeNotAllowed": 1])
    }

    /// A time without offset is of no clock that all who read it know.
    @Test(arguments: ["2026-03-01T09:00:02", "tomorrow", "2026-13-01T00:00:00Z"])
    func aTimeThatIsNone(text: String) throws {
        let done = try Kymo.run(["check", "--config", configuration("until: \"\(text)\"")])
        #expect(done.end == .exit(78))
        let output = done.text + done.error
        #expect(output.contains("kymo.yaml:3") && output.contains("write a time with its offset"), "\(output)")
    }

    /// A pattern that no type has is told at the start.
    @Test func aTypeThatIsNone() throws {
        let (instance, _) = try start(configuration("types: [hartRate]"))
        try instance.waitForError("no mapping has a type 'hartRate'; did you mean 'heartRate'?")
        #expect(try instance.terminate().end == .exit(0))
    }
}
