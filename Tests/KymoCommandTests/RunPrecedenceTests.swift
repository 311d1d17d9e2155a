import CommandSupport
import KymographTestKit
import Testing

/// Flags stand over the environment, that over the file, and that over the defaults.
@Suite struct RunPrecedenceTests {
    private let readings = Readings.ndjson(Readings.heartRates(120))

    /// Ten minutes of readings give so many windows as the winning length says.
    @Test(
        arguments: [
            (nil, nil, nil, 1), (nil, nil, "60s", 2), (nil, "30s", "60s", 4), ("20s", "30s", "60s", 6),
            ("20s", nil, nil, 6), (nil, "30s", nil, 4), (nil, "", "60s", 2),
        ] as [(String?, String?, String?, Int)])
    func window(flag: String?, variable: String?, file: String?, count: Int) throws {
        let folder = TemporaryFolder()
        var arguments = ["run", "--stdin"]
        if let file { arguments += ["--config", folder.write("kymo.yaml", "window: \(file)\n")] }
        if let flag { arguments += ["--window", flag] }
        let environment = variable.map { ["KYMO_WINDOW": $0] } ?? [:]
        let done = try Kymo.run(arguments, environment: environment, input: .bytes(readings))
        #expect(done.end == .exit(0))
        #expect(try #require(done.balance).windows == count)
    }

    /// Sources of a stronger place replace those of a weaker one as a whole.
    @Test func sources() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "sources: [{unix: file.sock}]\n")
        let fromFlag = try Kymo.run(
            ["run", "--stdin", "--config", file], environment: ["KYMO_UNIX": "env.sock"], directory: folder.path)
        #expect(fromFlag.error.contains("listening on stdin") && !fromFlag.error.contains(".sock"))
        let run = try Kymo.start(
            ["run", "--config", file], environment: ["KYMO_UNIX": "env.sock"], directory: folder.path)
        #expect(try run.addresses() == ["unix env.sock"])
        #expect(try run.terminate().end == .exit(0))
    }

    @Test func formatAndDestination() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "output: {to: out, format: ndjson}\nsources: [{stdin: true}]\n")
        let done = try Kymo.run(
            ["run", "--config", file, "--out", "stdout"], environment: ["KYMO_OUTPUT_FORMAT": "bundle"],
            directory: folder.path, input: .bytes(readings))
        #expect(done.end == .exit(0) && !Files.exists(folder.file("out")))
        #expect(try JSONTree(parsing: Array((done.lines.first ?? "").utf8))["resourceType"]?.text == "Bundle")
    }

    /// A wrong value is an error even where a stronger place overrides it.
    @Test func overriddenErrors() throws {
        let done = try Kymo.run(
            ["run", "--stdin", "--window", "1m"], environment: ["KYMO_WINDOW": "soon"], input: .bytes(readings))
        #expect(done.end == .exit(78) && done.error.contains("KYMO_WINDOW"))
    }

    @Test func unknownVariablesWarn() throws {
        let done = try Kymo.run(["run", "--stdin"], environment: ["KYMO_WINDWO": "1m"], input: .bytes(readings))
        #expect(done.end == .exit(0) && done.error.contains("KYMO_WINDOW"))
    }

    /// What servers that refuse nanoseconds are spared; the identity has them.
    @Test func timePrecision() throws {
        let reading = Readings.heartRate(second: 0).replacing("08:00:00Z", with: "10:00:00.123456789 +0200")
        let done = try Kymo.run(
            ["run", "--stdin"], environment: ["KYMO_OUTPUT_TIME_PRECISION": "micro", "KYMO_OUTPUT_FORMAT": "ndjson"],
            input: .bytes(Readings.ndjson([reading])))
        #expect(done.end == .exit(0))
        let observation = try JSONTree(parsing: Array((done.lines.first ?? "").utf8))
        #expect(observation["effectiveDateTime"]?.text == "2026-03-01T10:00:00.123456+02:00")
        let wrong = try Kymo.run(["run", "--stdin"], environment: ["KYMO_OUTPUT_TIME_PRECISION": "nano"])
        #expect(wrong.end == .exit(78) && wrong.error.contains("source, milli, micro"))
    }

    @Test func strictIdentity() throws {
        let done = try Kymo.run(["run", "--stdin"], environment: ["KYMO_IDENTITY": "strict"], input: .bytes(readings))
        #expect(done.end == .exit(65))
        #expect(try #require(done.balance).reasons == ["noPatient": 120])
    }

    @Test func limits() throws {
        let done = try Kymo.run(
            ["run", "--stdin"], environment: ["KYMO_LIMITS_READINGS_PER_WINDOW": "50", "KYMO_LIMITS_DEVICES": "1"],
            input: .bytes(readings + Readings.ndjson(Readings.heartRates(7, device: "watch-2"))))
        let balance = try #require(done.balance)
        #expect(balance.isClosed && balance.accepted == 50)
        #expect(balance.reasons == ["tooManyReadings": 70, "tooManyDevices": 7])
    }

    @Test func limitsOfDocuments() throws {
        let lines = [
            Readings.heartRate(second: 0), "[[[1]]]", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]",
            Readings.heartRate(second: 1, device: String(repeating: "w", count: 200)),
        ]
        let limits = ["KYMO_LIMITS_DEPTH": "2", "KYMO_LIMITS_VALUES": "20", "KYMO_LIMITS_LINE_BYTES": "150"]
        let done = try Kymo.run(["run", "--stdin"], environment: limits, input: .bytes(Readings.ndjson(lines)))
        let balance = try #require(done.balance)
        #expect(balance.isClosed && balance.accepted == 1, "\(done.error)")
        #expect(balance.reasons == ["tooDeep": 1, "tooManyValues": 1, "lineTooLong": 1], "\(done.error)")
    }
}
