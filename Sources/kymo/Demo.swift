import ArgumentParser
import Dispatch
import Glibc
import Kymograph
import Synchronization

/// `kymo demo`: the main job in a few seconds, without a device, a network or a file.
struct Demo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show in a few seconds what kymo does, with simulated devices.",
        discussion: """
            Three simulated devices send half an hour of readings, some twice, some late and one without a value, into \
            a pipeline within this process. On a terminal it takes six seconds. Nothing is kept, and nothing leaves \
            the process.

            With --console it runs an instance with four devices, three of which are in trouble, and serves its \
            console on this machine, until it is ended with Ctrl-C. What it has kept is removed then.

            Example: kymo demo
            """)

    @Option(help: ArgumentHelp("Plays another half an hour.", valueName: "n"))
    var seed: UInt64 = 7

    @Flag(help: "Serve the console of an instance with simulated devices, until Ctrl-C.")
    var console = false

    func run() throws {
        if console { return try DemoConsole(seed: seed).run() }
        let screen = DemoScreen()
        try screen.write(
            """
            Three simulated devices send half an hour of readings. Windows of five minutes become FHIR Observations.


            """)
        let picture = DemoPicture()
        let summary = try play(picture, screen)
        try screen.finish(picture.lines)
        try screen.write(Self.closing(summary, picture))
    }

    /// Plays to the end, in a task, and waits for it.
    private func play(_ picture: DemoPicture, _ screen: DemoScreen) throws -> EngineSummary {
        let outcome = Mutex<Result<EngineSummary, EngineError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task { [seed] in
            let demonstration = DemoRun(picture, seed: seed, isPaced: screen.isTerminal) { screen.draw(picture.lines) }
            let result = await demonstration.result()
            outcome.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        switch outcome.withLock({ $0 }) {
        case .success(let summary)?: return summary
        case .failure(let error)?: throw StandardError.exit("\(error)", code: ExitStatus.software)
        case nil: preconditionFailure("the task has ended without an outcome")
        }
    }

    /// What is said at the end: the balance, what was rejected, an Observation, and what comes next.
    private static func closing(_ summary: EngineSummary, _ picture: DemoPicture) -> String {
        let rejected = summary.rejections.map { "  \($0.value) rejected as \($0.key.name): \($0.key.explanation)\n" }
        return """

            Every reading is accounted for:
              received \(summary.received) = accepted \(summary.accepted) + duplicate \(summary.duplicate) \
            + conflict \(summary.conflict) + rejected \(summary.rejected)
            \(rejected.sorted().joined())
            The first window of a heart rate, one Observation with its series:
            \(picture.firstSeries)
            Next:
              kymo simulate --duration 10m --speed max --stdout | kymo run --stdin    the same in a pipe
              kymo mappings --export reading ./my-device                              a mapping to start from
              kymo run --help                                                         sources, sinks and windows

            """
    }
}
