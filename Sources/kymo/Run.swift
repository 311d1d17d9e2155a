import ArgumentParser
import Glibc
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo run`: the pipeline.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Receive readings, group them into windows and write FHIR bundles.",
        discussion: """
            Without a source it listens on UDP 127.0.0.1:5757 and the Unix socket ./kymo.sock. The first SIGINT or \
            SIGTERM stops receiving and delivers what is there; a second one ends at once. SIGHUP, and a change of a \
            mapping's files, loads the mappings again; with an error the former ones stay in use.

            A run that reads only its standard input keeps nothing without --data, so that it gives the same output a \
            second time, and exits with status 65 when it accepts nothing.

            Settings come from flags, then environment variables KYMO_…, then the file given by --config, then \
            defaults; docs/configuration.md lists them all.

            Example: kymo run --udp 0.0.0.0:5757 --mapping wristband --window 1m --out ./observations
            """)

    @OptionGroup var settings: SettingOptions

    func run() throws {
        // Before any thread starts, so that all of them leave the signals to this one.
        let signals = try Self.watchSignals()
        let (settings, set, watch) = try self.settings.load()
        let pipeline: Pipeline
        let firstRejection = settings.readsOnlyWhatEnds ? FirstRejection() : nil
        do {
            pipeline = try Pipeline(
                settings, set: set, watch: watch, firstRejection: firstRejection,
                notes: { StandardError.write("kymo: \($0)\n") }, findings: Diagnostics.write)
        } catch {
            throw Self.cannotStart(error, settings)
        }
        for line in pipeline.sourceDescriptions { StandardError.write("kymo: listening on \(line)\n") }
        let directory = settings.store.keeping == .everything ? settings.store.directory : nil
        if let directory { StandardError.write("kymo: keeping data in \(directory)\n") }
        var live = LiveLine()
        let outcome = pipeline.run(signals: signals) { live.show($0.liveLine) }
        live.finish()
        for line in outcome.summary.lines { StandardError.write("kymo: \(line)\n") }
        if !outcome.message.isEmpty { StandardError.write("kymo: \(outcome.message)\n") }
        // Threads that were left behind, by force or by a second signal, must not run on while the process is taken
        // down.
        if outcome.exitCode != ExitStatus.success { _exit(outcome.exitCode) }
        try Self.explain(outcome.summary, firstRejection, directory)
    }

    /// Says what `error` and everything else is that keeps it from starting; the exit status to throw.
    private static func cannotStart(_ error: PipelineError, _ settings: PipelineSettings) -> ExitCode {
        StandardError.write("kymo: \(error.message)\n")
        let check = EnvironmentCheck(settings)
        let others = check.findings.map(\.diagnostic).filter { finding in
            finding.severity == .error && !finding.message.contains(error.message)
        }
        Diagnostics.write(others)
        return ExitCode(check.exitCode ?? error.exitCode)
    }

    /// Says why nothing came out of a run that ended well.
    ///
    /// - Throws: the exit status when everything was rejected.
    private static func explain(
        _ summary: PipelineSummary, _ firstRejection: FirstRejection?, _ directory: String?
    ) throws {
        guard summary.received > 0 else { return }
        // One that takes the place of another is rejected and changes an Observation.
        if summary.rejectedTotal == summary.received, summary.observations == 0, let text = firstRejection?.text {
            throw StandardError.exit("nothing was accepted; \(text)", code: ExitStatus.dataError)
        }
        guard summary.duplicate == summary.received, let directory else { return }
        StandardError.write(
            "kymo: \(directory) had all of it already: for the same output again, add --ephemeral, or name another "
                + "directory with --data\n")
    }

    private static func watchSignals() throws -> SignalWatcher {
        do {
            return try SignalWatcher()
        } catch {
            throw StandardError.exit(error.message, code: ExitStatus.osError)
        }
    }
}

/// One line that is written again and again on a terminal; silent elsewhere.
struct LiveLine {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let clock = ContinuousClock()
    private var shown: ContinuousClock.Instant?

    /// Shows `text`, at most once a second.
    mutating func show(_ text: @autoclosure () -> String) {
        guard isTerminal else { return }
        let now = clock.now
        if let shown, shown.duration(to: now) < .seconds(1) { return }
        shown = now
        StandardError.write("\r\(text())\u{1B}[K")
    }

    /// Clears the line.
    func finish() {
        if shown != nil { StandardError.write("\r\u{1B}[K") }
    }
}
