import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// Clocks that are wrong: the machine's, which steps while readings come, and those of devices. What a reading belongs
/// to follows from its own time alone, and how long a series is silent from a clock that is never set: a step is no
/// silence.
@Suite(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
struct ClockStepTests {
    /// A reading of `device`, `second` seconds after 23:58:00 UTC of a day that ended with a leap second, in one of the
    /// ways to write that moment.
    private static func line(_ device: String, second: Int, value: Int, form: Int) -> String {
        let (day, later) = (second < 120 ? 30 : 1, second < 120 ? 23 * 3_600 + 58 * 60 + second : second - 120)
        func time(_ seconds: Int) -> String {
            [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
                .joined(separator: ":")
        }
        let text =
            switch form {
            case 0: "2015-0\(day == 30 ? 6 : 7)-\(day == 30 ? "30" : "01")T\(time(later))Z"
            // Summer time in Berlin, where the next day has begun two hours before.
            case 1: "2015-07-01T\(time((later + 7_200) % 86_400))+02:00"
            case 2: "2015-06-30T\(time((later + 86_400 - 4 * 3_600) % 86_400)).000-04:00"
            // The leap second, which is the first moment of the next day.
            default: second == 120 ? "2015-06-30T23:59:60Z" : "2015-07-01T\(time((later + 12_600) % 86_400))+03:30"
            }
        return #"{"deviceId":"\#(device)","type":"heartRate","timestamp":"\#(text)","value":\#(value),"unit":"/min"}"#
    }

    /// Devices whose clocks lost their time, or are ahead of all that the machine's shows here.
    private static let wrongClocks = [
        "1970-01-01T00:00:00Z", "2000-01-01T00:00:01Z", "2038-01-19T03:14:08Z", "2106-02-07T06:28:16Z",
    ]

    private static func wrong(_ clock: Int, _ number: Int) -> String {
        #"{"deviceId":"wrong-\#(clock)","type":"heartRate","timestamp":"\#(wrongClocks[clock])","#
            + #""value":\#(60 + number),"unit":"/min"}"#
    }

    /// Seconds that the machine's clock is off: steps, and what a clock shows that is slewed.
    private static let offsets: [Double] = [
        0, 0.05, -0.05, 1, -1, 3_600, -3_600, 86_400, -86_400, 315_360_000, -315_360_000,
    ]

    private static let arguments = [
        "run", "--stdin", "--ephemeral", "--format", "ndjson", "--window", "30s", "--lateness", "20s", "--idle", "1m",
        "--lanes", "1", "--shards", "2",
    ]

    /// Observations of devices whose clocks are right.
    private func observations(_ done: Kymo.Finished) throws -> BundleReader {
        var reader = BundleReader()
        try reader.read(ndjson: Readings.ndjson(done.lines.filter { !$0.contains("wrong-") }))
        return reader
    }

    @Test(arguments: Trials.seeds(Trials.tortureRounds ?? 4)) func windowsFollowTheTimesOfReadings(
        seed: UInt64
    ) throws {
        var random = SeededBytes(seed: seed)
        let devices = ["watch-1", "watch-2", "watch-3"]
        // Each device in order, but for a few seconds.
        let lines = (0..<200).flatMap { second in
            devices.map { device in
                let late = random.next(upTo: 10) == 0 ? min(second, random.next(upTo: 15)) : 0
                return Self.line(
                    device, second: second - late, value: 50 + (second - late) % 60, form: random.next(upTo: 4))
            }
        }
        let oracle = try Kymo.run(Self.arguments, input: .bytes(Readings.ndjson(lines)))
        let expected = try observations(oracle)
        #expect(oracle.end == .exit(0) && expected.observations.count >= 3 * 6, "\(oracle.error)")

        let machine = try FaultyMachine(root: "/nowhere")
        let run = try Kymo.start(Self.arguments, environment: machine.environment, input: .pipe)
        var (ahead, behind) = (0, 0)
        for start in stride(from: 0, to: lines.count, by: 50) {
            machine.step(seconds: Self.offsets[random.next(upTo: Self.offsets.count)])
            // Long enough for a look at silence, twenty of which are in a second.
            usleep(60_000)
            var part = Array(lines[start..<min(start + 50, lines.count)])
            let clock = random.next(upTo: Self.wrongClocks.count)
            part.insert(Self.wrong(clock, start), at: random.next(upTo: part.count))
            if clock < 2 { behind += 1 } else { ahead += 1 }
            run.write(Readings.ndjson(part))
            // Mapped by this clock, and not by the next.
            usleep(15_000)
        }
        run.closeInput()
        let done = try run.finish()
        #expect(done.end == .exit(0), "seed \(seed): \(done.error)")
        let (balance, calm) = (try #require(done.balance), try #require(oracle.balance))
        // What is ahead is rejected, and counted; nothing else is.
        #expect(balance.isClosed && balance.reasons["clockAhead"] ?? 0 == ahead, "seed \(seed): \(done.error)")
        #expect(balance.rejected == calm.rejected + ahead, "seed \(seed): \(done.error)")
        #expect(balance.received == lines.count + ahead + behind, "seed \(seed): \(done.error)")
        let found = try observations(done)
        // No window was closed early, by a clock that stepped or by a device that is ahead: each came once.
        #expect(found.versions == expected.versions, "seed \(seed)")
        let differences = found.differences(from: expected)
        #expect(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
        #expect(done.text.contains("wrong-") == (behind > 0), "seed \(seed)")
    }

    /// A file to which nothing is written is finished though the machine's clock was set back by a day since.
    @Test(arguments: [["--ephemeral"], ["--data", "data"]]) func filesAreFinishedByAClockThatIsNeverSet(
        keeping: [String]
    ) throws {
        let (machine, folder) = (try FaultyMachine(root: "/nowhere"), TemporaryFolder())
        let environment = machine.environment.merging(["KYMO_OUTPUT_ROTATE_IDLE": "5s"]) { $1 }
        let run = try Kymo.start(
            ["run", "--stdin", "--out", "out", "--format", "ndjson", "--idle", "100ms"] + keeping,
            environment: environment, directory: folder.path, input: .pipe)
        run.write(Readings.ndjson([Readings.heartRate(second: 0)]))
        try Waiting.until("a file") { !Files.names(folder.file("out")).isEmpty }
        machine.step(seconds: -86_400)
        try #require(!Files.names(folder.file("out")).contains { $0.hasSuffix(".ndjson") })
        try Waiting.until("a finished file, not \(Files.names(folder.file("out")))") {
            Files.names(folder.file("out")).contains { $0.hasSuffix(".ndjson") }
        }
        run.closeInput()
        #expect(try run.finish().end == .exit(0))
    }
}
