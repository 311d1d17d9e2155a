import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// Reloads, refused ones among them, while readings come in all the time: nothing is lost, nothing is there twice, and
/// how long the pipeline stands still is measured from outside.
///
/// `kymo simulate --latency` sends readings of many devices that close windows one after the other, a few of them or one a
/// millisecond, and reads the output: a pause makes all windows late that close in it.
@Suite(.serialized) struct ReloadPauseTests {
    private static let isFull = Trials.isTorture
    private static let devices = isFull ? 1_000 : 100
    /// Of each device, a second.
    private static let rate = 50
    private static let seconds = isFull ? 75 : 4
    private static let reloads = isFull ? 500 : 12
    /// From one reload to the next, at least.
    private static let pace = Duration.milliseconds(isFull ? 120 : 250)

    /// A run, and the files that it loads again.
    private struct Scene {
        let mapping = RunReloadTests.Mapping()
        let run: ChildProcess
        let admin: AdminClient
        private(set) var taken = 0
        private(set) var refused = 0

        var folder: TemporaryFolder { mapping.folder }
        var data: String { folder.file("data") }

        init() throws {
            let folder = mapping.folder
            folder.write("kymo.yaml", Scene.configuration(0))
            run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path, output: .pipe)
            _ = try run.addresses()
            admin = try AdminClient(run)
        }

        /// Each second time with a mapping and a source more, and each time with other settings.
        private static func configuration(_ round: Int) -> String {
            let hasMore = round % 2 == 1
            return """
                window: 1s
                lateness: 0s
                watch: false
                data: data
                output: {to: stdout, format: ndjson, maxAge: 0s}
                http: {admin: "127.0.0.1:0"}
                mappings: [reading\(hasMore ? ", ./mine" : "")]
                drain: \(100 + round)s
                limits: {devices: \(100_000 + round)}
                sources: [{unix: a.sock}\(hasMore ? ", {unix: b.sock, defaultDevice: d-\(round)}" : "")]

                """
        }

        /// Puts files in the place of the former ones, sends SIGHUP, and waits until they are in use or refused: each
        /// fifth time for a mapping that is wrong, each fifth time for a file that is half written.
        mutating func reload(_ round: Int) throws {
            let text = Scene.configuration(round)
            let (isWrong, isCut) = (round % 5 == 4, round % 5 == 2)
            mapping.write(code: "v\(round)")
            // One that is not used is not looked at.
            if isWrong { mapping.overwrite(fhir: RunReloadTests.Mapping.broken) }
            let more = isWrong ? Scene.configuration(round | 1) : text
            folder.write("kymo.yaml.new", isCut ? String(text.prefix(text.count - 9)) : more)
            Files.move(folder.file("kymo.yaml.new"), to: folder.file("kymo.yaml"))
            if isWrong || isCut { refused += 1 } else { taken += 1 }
            run.signal(SIGHUP)
            try Waiting.until("reload \(round): \(run.errorText.suffix(600))") {
                let body = try admin.get("/metrics").body
                return body.contains("\nkymo_mapping_reloads_total{result=\"succeeded\"} \(taken)\n")
                    && body.contains("\nkymo_mapping_reloads_total{result=\"failed\"} \(refused)\n")
            }
        }
    }

    private func number(_ tree: JSONTree?) -> Double {
        guard case .number(let text)? = tree else { return -1 }
        return Double(text) ?? -1
    }

    /// Starts the devices; what they measure is in standard output at their end.
    private func startDevices(_ scene: Scene) throws -> ChildProcess {
        let output = try #require(scene.run.outputPipe)
        let plan = [
            "--devices", "\(Self.devices)", "--rate", "\(Self.rate)", "--duration", "\(Self.seconds)s", "--window",
            "1s",
        ]
        return try Kymo.start(
            ["simulate", "--latency", "--unix", scene.folder.file("a.sock"), "--format", "json"] + plan,
            input: .open(output))
    }

    private func reload(_ scene: inout Scene, _ count: Int) throws {
        let clock = ContinuousClock()
        // What is measured begins after two windows.
        let begin = clock.now + .seconds(2)
        for round in 1..<(count + 1) {
            while clock.now < begin + Self.pace * (round - 1) { usleep(1_000) }
            try scene.reload(round)
        }
        #expect(!Self.isFull || clock.now < begin + .seconds(Self.seconds), "some came after the last reading")
    }

    /// Runs with so many reloads; gives the percentiles of how late windows came out, in microseconds.
    private func measure(_ count: Int) throws -> JSONTree {
        var scene = try Scene()
        let devices = try startDevices(scene)
        try reload(&scene, count)
        let sender = try devices.finish(seconds: 300)
        #expect(sender.end == .exit(0), "\(sender.error)")
        let report = try JSONTree(parsing: sender.output)
        // What closes at the end has to be read, too.
        let reader = try ChildProcess(
            "/bin/cat", [], input: .open(try #require(scene.run.outputPipe)), output: .path("/dev/null"))
        scene.run.closeOutput()
        let done = try scene.run.terminate(seconds: 300)
        #expect(try reader.wait() == .exit(0))
        let balance = try #require(done.balance)
        let sent = Int(number(report["sent"]))
        #expect(done.end == .exit(0) && balance.isClosed && sent > 0, "\(done.error.suffix(2_000))")
        #expect(balance.received == sent && balance.accepted == sent, "of \(sent): \(balance)")
        // A run without any says nothing of them.
        let counts = "reloads \(scene.taken), failed \(scene.refused)"
        #expect(count == 0 || done.error.contains(counts), "\(done.error.suffix(2_000))")
        // Each window came out, and none twice.
        #expect(Int(number(report["cameOut"])) == Self.devices * Self.seconds, "\(sender.text)")
        let ledger = try Kymo.run(["ledger", "--verify", "--data", scene.data])
        let isWhole = ledger.end == .exit(0) && ledger.error.contains(" with \(sent) readings")
        #expect(isWhole, "\(ledger.error) \(ledger.text.suffix(600))")
        return try #require(report["latency"])
    }

    @Test func nothingIsLostWhileReadingsCome() throws {
        let figures = try measure(Self.reloads)
        print("\(Self.reloads) reloads while \(Self.devices * Self.rate) readings/s come: \(text(figures))")
        #expect(number(figures["max"]) > 0)
        guard Self.isFull else { return }
        // Tells whether what is late is so for the machine: others may want the processors.
        let calm = try measure(0)
        print("none: \(text(calm))")
        let (late, otherwise) = (number(figures["p99"]), number(calm["p99"]))
        #expect(late < 100_000 || late < otherwise, "windows came out \(late) us late, without reloads \(otherwise)")
    }

    private func text(_ figures: JSONTree) -> String {
        ["p50", "p99", "p99.9", "max"]
            .map { "\($0) \((number(figures[$0]) / 100).rounded() / 10) ms" }.joined(separator: ", ")
    }
}
