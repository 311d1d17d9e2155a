import ArgumentParser
import FoundationEssentials
import Glibc
import Kymograph
import KymographCore
import KymographTemplates
import Synchronization

/// `kymo run`: the pipeline.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Receive readings, group them into windows and write FHIR bundles.",
        discussion: """
            Without a source it listens on UDP 127.0.0.1:5757 and the Unix socket ./kymo.sock. The first SIGINT or \
            SIGTERM stops receiving and delivers what is there; a second one ends at once. SIGHUP, and a change of a \
            mapping's files, loads the mappings again; with an error the former ones stay in use. SIGHUP also reads \
            the configuration file again: what can change while it runs is taken over; with a change of anything else \
            nothing is changed, and a message names it. With --watch-config a change of that file does it, too.

            A run that reads only its standard input keeps nothing without --data, so that it gives the same output a \
            second time, and exits with status 65 when it accepts nothing. What it rejects it writes to \
            ./kymo-rejected-TIME-PID.ndjson, unless --dead-letter names another file.

            Settings come from flags, then environment variables KYMO_…, then the file given by --config, then \
            defaults; docs/configuration.md lists them all.

            Messages are on standard error: 'kymo: message', with time and level before it in a run that does not end \
            by itself, or as --log-format says. The summary at the end is among them; with --summary json it is the \
            last line instead, {"summary": {…}}.

            Example: kymo run --udp 0.0.0.0:5757 --mapping wristband --window 1m --out ./observations
            """)

    @OptionGroup var settings: SettingOptions

    @Option(help: Run.summaryHelp)
    var summary = TextFormat.text

    static let summaryHelp = ArgumentHelp(
        "The summary at the end for people, or for programs: an object in a line of standard error.",
        valueName: "text|json")

    func run() throws {
        ProcessPrivacy.keepFilesPrivate()
        // Before any thread starts, so that all of them leave the signals to this one.
        let signals = try Self.watchSignals()
        let logCounts = LogCounts()
        var log = Run.log(PipelineSettings(), logCounts)
        var (settings, set, watch) = try self.settings.load { settings, findings in
            log = Run.log(settings, logCounts)
            log.write(findings)
        }
        let readsInput = settings.listeningSources.contains { $0.configuration.address.kind.key == "stdin" }
        if readsInput, !StandardDescriptors.isInputReadable {
            throw log.exit(
                "standard input cannot be read: it is closed; redirect a file or a pipe to it", code: ExitStatus.noInput
            )
        }
        if settings.allowsCoreDumps { ProcessPrivacy.allowCoreDumps() }
        settings.rejectedFile = settings.fileOfRejected(at: WallClock.now(), process: getpid())
        let sandbox = try Self.confine(settings, log)
        let rereading = try self.settings.rereading(sandbox)
        let firstRejection =
            settings.readsOnlyWhatEnds ? FirstRejection(namesColumns: settings.readsNamesOfColumns) : nil
        let pipeline: Pipeline
        let told = Mutex<[Diagnostic]>([])
        do {
            pipeline = try Pipeline(
                settings, set: set, watch: watch, rereading: rereading, firstRejection: firstRejection,
                logCounts: logCounts, notes: log.write,
                findings: { [log] findings in
                    told.withLock { $0 += findings }
                    log.write(findings)
                })
        } catch {
            throw Self.cannotStart(error, settings, told.withLock { $0 }, log)
        }
        for line in pipeline.sourceDescriptions { log.write(.info("listening on \(line)")) }
        if let url = pipeline.adminURL {
            log.write(.info("metrics and health on \(url)"))
            if settings.console.isEnabled {
                log.write(.info("console on \(url)/console/; 'kymo console login' gives a code"))
            }
        }
        let directory = settings.store.keeping == .everything ? settings.store.directory : nil
        if let directory { log.write(.info("keeping data in \(directory)")) }
        let service = ServiceNotices { [log] in log.write(.warning($0)) }
        let actions =
            settings.console.isEnabled
            ? ConsoleActions(directory: directory, settings, notes: log.write) : ConsoleActions()
        let outcome = pipeline.run(signals: signals, service: service, actions: actions) { [log] summary in
            log.follow(pipeline.logLevel)
            log.show(live: (settings.readsOnlyWhatEnds ? Self.progress : "") + summary.liveLine)
            log.tick()
        }
        if summary == .text { for line in outcome.summary.lines { log.write(.info(line)) } }
        Self.tell(pipeline.rejectedInFile, firstRejection, settings, log)
        if !outcome.message.isEmpty { log.write(.error(outcome.message)) }
        log.close()
        // Threads that were left behind, by force or by a second signal, must not run on while the process is taken
        // down.
        if outcome.exitCode != ExitStatus.success {
            _ = report(outcome.summary)
            _exit(outcome.exitCode)
        }
        let explained = Result { try Self.explain(outcome.summary, firstRejection, settings, log) }
        let unreported = report(outcome.summary)
        try explained.get()
        if let unreported { throw unreported }
    }

    /// Writes the summary for programs, if that is wanted; gives the exit status when it cannot be written: to those
    /// who read it the run would seem to have been killed.
    private func report(_ counts: PipelineSummary) -> ExitCode? {
        guard summary == .json else { return nil }
        do {
            let line = PrintableText.lines(String(decoding: try PrettyText.line(RunReport(counts)), as: UTF8.self))
            guard !StandardDescriptors.write(Array(line.utf8), to: STDERR_FILENO) else { return nil }
            let reason = StandardDescriptors.lastError
            return StandardError.exit("cannot write the summary: \(reason)", code: ExitStatus.ioError)
        } catch {
            return StandardError.exit("cannot write the summary: \(error)", code: ExitStatus.software)
        }
    }

    /// Gives up all that the settings do not need. Before any thread starts, which would have it all.
    private static func confine(_ settings: PipelineSettings, _ log: Log) throws -> Sandbox? {
        guard settings.isConfined else { return nil }
        if settings.store.keeping == .everything, let directory = settings.store.directory {
            ProcessPrivacy.keepTemporaryFiles(in: directory)
        }
        do throws(SystemError) {
            let sandbox = try Sandbox.enter(WrittenFiles(settings).places)
            let what = sandbox?.text ?? "files that its user may change, as the kernel has no Landlock"
            log.write(LogEntry(.debug, "the process may change \(what)"))
            if sandbox?.isOpen == true {
                log.write(
                    .warning(
                        "the sandbox lets the process change every file, because a socket, a file or a directory that "
                            + "is not there is in /; name one in a directory of its own"))
            }
            return sandbox
        } catch {
            throw log.exit(
                "\(error.message); with sandbox: false, files are as safe as their modes", code: ExitStatus.osError)
        }
    }

    /// How much of a file that standard input is has been read, for the line that shows a run's progress.
    private static var progress: String {
        StandardDescriptors.inputProgress().map { "\(Int($0 * 100)) % of the input; " } ?? ""
    }

    /// The log on standard error that `settings` ask for, which adds to `counts`.
    private static func log(_ settings: PipelineSettings, _ counts: LogCounts) -> Log {
        let isJournal = StandardDescriptors.isJournal(ProcessInfo.processInfo.environment["JOURNAL_STREAM"])
        let style = LogStyle(
            settings.log.format, isJournal: isJournal, endsByItself: settings.readsOnlyWhatEnds)
        return Log(level: settings.log.level, style: style, isTerminal: isatty(STDERR_FILENO) == 1, counts: counts) {
            StandardDescriptors.write($0, to: STDERR_FILENO)
        }
    }

    /// Says what `error` and everything else is that keeps it from starting; the exit status to throw.
    private static func cannotStart(
        _ error: PipelineError, _ settings: PipelineSettings, _ told: [Diagnostic], _ log: Log
    ) -> ExitCode {
        log.write(.error(error.message))
        let check = EnvironmentCheck(settings)
        let others = check.findings.map(\.diagnostic).filter { finding in
            finding.severity == .error && !finding.message.contains(error.message) && !told.contains(finding)
        }
        log.write(others)
        log.close()
        return ExitCode(check.exitCode ?? error.exitCode)
    }

    /// Says where what a pipe has rejected is.
    private static func tell(
        _ rejected: UInt64, _ firstRejection: FirstRejection?, _ settings: PipelineSettings, _ log: Log
    ) {
        guard rejected > 0, let file = settings.rejectedFile else { return }
        let reason = firstRejection?.reason.map { ", the first as \($0.name)" } ?? ""
        log.write(
            .warning("\(CountText.of(Int(rejected), "rejected reading"))\(reason): with reasons and bytes in \(file)"))
    }

    /// Says why nothing came out of a run that ended well.
    ///
    /// - Throws: the exit status when everything was rejected.
    private static func explain(
        _ summary: PipelineSummary, _ firstRejection: FirstRejection?, _ settings: PipelineSettings, _ log: Log
    ) throws {
        guard summary.received > 0 else {
            guard settings.readsNamesOfColumns, firstRejection != nil else { return }
            return log.write(
                .warning(
                    "standard input has no row behind the one that names the columns: begin it with a row of names, or "
                        + "say them, as in --framing 'csv,columns=device|time|value'"))
        }
        // One that takes the place of another is rejected and changes an Observation.
        if summary.rejectedTotal == summary.received, summary.observations == 0, let rejection = firstRejection?.text {
            // A log has no payload; who runs a command in a shell wants to see it.
            let text = log.style == .short ? rejection : String(rejection.prefix { $0 != "\n" })
            throw log.exit("nothing was accepted; \(text)", code: ExitStatus.dataError)
        }
        guard summary.duplicate == summary.received, settings.store.keeping == .everything,
            let directory = settings.store.directory
        else { return }
        log.write(
            .info(
                "\(directory) had all of it already: for the same output again, add --ephemeral, or name another "
                    + "directory with --data"))
    }

    /// Turns signals into something to read, or ends the command.
    static func watchSignals() throws -> SignalWatcher {
        do {
            return try SignalWatcher()
        } catch {
            throw StandardError.exit(error.message, code: ExitStatus.osError)
        }
    }
}

extension Log {
    /// Ends the command with an error and one of the codes of sysexits.h: throw the result.
    fileprivate func exit(_ message: String, code: Int32) -> ExitCode {
        write(.error(message))
        close()
        return ExitCode(code)
    }
}
