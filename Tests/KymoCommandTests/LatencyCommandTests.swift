import CommandSupport
import KymographTestKit
import Testing

/// `kymo simulate --latency` beside a real pipeline.
@Suite struct LatencyCommandTests {
    /// Both start at once, as in a shell's pipe; then the pipeline is ended.
    private func measure(_ folder: TemporaryFolder, windows: [String], _ arguments: [String]) throws -> Kymo.Finished {
        let socket = folder.file("latency.sock")
        let pipeline = try Kymo.start(
            ["run", "--ephemeral", "--unixgram", socket, "--format", "ndjson"] + windows,
            environment: ["KYMO_OUTPUT_MAX_AGE": "0s"], output: .pipe)
        let output = try #require(pipeline.outputPipe)
        let done = try Kymo.run(
            ["simulate", "--latency", "--unixgram", socket] + arguments, input: .open(output))
        pipeline.closeOutput()
        pipeline.signal(15)
        try pipeline.wait()
        return done
    }

    @Test func everyReadingComesOutAndIsCounted() throws {
        let done = try measure(
            TemporaryFolder(), windows: [], ["--devices", "5", "--rate", "20", "--duration", "1s"])
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.lines.first == "100 readings, one every 10000000 ns; 100 came out", "\(done.text)")
        #expect(done.lines.count == 4)
        let figures = done.lines.dropFirst(2).map { line in line.split(separator: " ").compactMap { Double($0) } }
        #expect(figures.allSatisfy { $0.count == 5 && $0 == $0.sorted() && $0[4] > 0 })
    }

    @Test func windowsAreMeasuredToo() throws {
        let done = try measure(
            TemporaryFolder(), windows: ["--window", "1s", "--lateness", "0s"],
            ["--devices", "4", "--rate", "10", "--duration", "2s", "--window", "1s"])
        #expect(done.end == .exit(0), "\(done.error)")
        let first = try #require(done.lines.first)
        // Each device closes a window a second.
        #expect(first == "80 readings, one every 25000000 ns; 8 windows came out", "\(done.text)")
    }

    @Test func figuresForPrograms() throws {
        let done = try measure(
            TemporaryFolder(), windows: [],
            ["--devices", "5", "--rate", "20", "--duration", "1s", "--format", "json"])
        #expect(done.end == .exit(0), "\(done.error)")
        let report = try JSONTree(parsing: done.output)
        #expect(report["readings"] == .number("100") && report["cameOut"] == .number("100"), "\(done.text)")
        #expect(report["intervalNanoseconds"] == .number("10000000"))
        // Those of the second before the measurement, and at least one that found out whether the pipeline is there.
        #expect(number(report["sent"]) ?? 0 > 200, "\(done.text)")
        for name in ["latency", "sentLate"] {
            let figures = ["p50", "p90", "p99", "p99.9", "max"].compactMap { number(report[name]?[$0]) }
            #expect(figures.count == 5 && figures == figures.sorted() && figures[4] > 0, "\(done.text)")
        }
    }

    private func number(_ tree: JSONTree?) -> Double? {
        guard case .number(let text)? = tree else { return nil }
        return Double(text)
    }

    @Test func anOutputThatEndsIsNoMeasurement() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run", "--ephemeral", "--unixgram", folder.file("a.sock")])
        _ = try run.addresses()
        let done = try Kymo.run(
            ["simulate", "--latency", "--unixgram", folder.file("a.sock")], input: .bytes([]))
        #expect(done.end == .exit(69) && done.error.contains("the pipeline's output has ended"), "\(done.error)")
    }

    @Test(arguments: [
        (["--stdout"], "name --udp, --unix or --unixgram"), (["--unix", "a", "--late", "0.1"], "leave out"),
        (["--unix", "a", "--speed", "2"], "leave out"),
        (["--unix", "a", "--devices", "10000", "--rate", "101"], "at most 1000000 readings a second"),
    ])
    func wrongOptions(arguments: [String], message: String) throws {
        let done = try Kymo.run(["simulate", "--latency"] + arguments)
        #expect(done.end == .exit(64) && done.error.contains(message), "\(done.error)")
    }

    @Test(arguments: [["--window", "1s"], ["--format", "json"]])
    func belongToLatency(_ option: [String]) throws {
        let done = try Kymo.run(["simulate", "--stdout"] + option)
        #expect(done.end == .exit(64) && done.error.contains("--latency"))
    }
}
