import ArgumentParser
import Glibc
import Kymograph
import KymographCore

/// `kymo top`: a running instance, second by second.
struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Rates, rings, sinks and store of a running instance, every second.",
        discussion: """
            It asks the instance by the socket control.sock in its data directory, as 'kymo status' does, and exits \
            with status 66 when none runs. When the instance ends, it waits for the next one. q or Ctrl-C ends it. \
            Where standard output is no terminal, each second is a block of lines; with --format json, one line. \
            --once looks twice, a second apart, so that there are rates.

            Example: kymo top --data /var/lib/kymo
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    @Flag(help: "Show one second, and end.")
    var once = false

    func run() throws {
        let directory = try store.directory()
        let signals = try Run.watchSignals()
        var looks = InstanceLooks(directory)
        if case .missing = looks.next() { throw Self.noInstance(directory) }
        if once {
            guard !StandardDescriptors.waitForEnd(signals, keys: false, milliseconds: 1_000) else { return }
            return try showOnce(looks.next(), directory)
        }
        let isTerminal = format == .text && isatty(STDOUT_FILENO) == 1
        let terminal = isTerminal ? TerminalScreen() : nil
        defer { terminal?.restore() }
        while !StandardDescriptors.waitForEnd(signals, keys: isTerminal, milliseconds: 1_000) {
            try show(looks.next(), directory, terminal)
        }
    }

    static func noInstance(_ directory: String) -> ExitCode {
        StandardError.exit(
            "no instance runs in \(directory); start one with 'kymo run --data \(directory)', or name its directory",
            code: ExitStatus.noInput)
    }

    private func showOnce(_ state: InstanceLooks.State, _ directory: String) throws {
        guard case .report(let report) = state else { throw Self.noInstance(directory) }
        switch format {
        case .json: try StandardOutput.write(try PrettyText.pretty(report))
        case .text: try write(TopScreen(columns: 80, lines: 24).text(report))
        }
    }

    private func show(_ state: InstanceLooks.State, _ directory: String, _ terminal: TerminalScreen?) throws {
        let size = terminal?.size ?? (columns: 80, lines: 24)
        let screen = TopScreen(columns: size.columns, lines: size.lines)
        var lines: [String] = []
        switch state {
        case .starting: return
        case .report(let report):
            if format == .json { return try StandardOutput.write(try PrettyText.line(report)) }
            lines = screen.text(report)
        case .missing(let since):
            if format == .json { return try StandardOutput.write(try PrettyText.line(Missing(directory, since))) }
            lines = screen.text(missing: directory, since: since)
        }
        guard let terminal else { return try write(lines + [""]) }
        terminal.show(lines)
    }

    private func write(_ lines: [String]) throws {
        try StandardOutput.write(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    /// What programs read while there is no instance.
    private struct Missing: Encodable {
        let directory: String
        let missingSince: String

        init(_ directory: String, _ since: Instant) {
            self.directory = directory
            missingSince = since.text
        }
    }
}

/// Looks at the instance of a data directory again and again.
struct InstanceLooks {
    /// What a look has found.
    enum State {
        /// An instance, of which this is the first look.
        case starting
        /// What has happened since the last look.
        case report(TopReport)
        /// There is none, since then.
        case missing(since: Instant)
    }

    private let directory: String
    private var last: TopReport.Look?
    private var missingSince: Instant?

    /// Milliseconds that an instance may take for its answer: it counts what is in its store, which takes longer the
    /// more there is.
    private static let patience: Int32 = 30_000

    init(_ directory: String) { self.directory = directory }

    /// Looks.
    mutating func next() -> State {
        let answer = ControlClient.ask(ControlRequest(.status), directory, milliseconds: Self.patience)
        guard let status = answer?.status else {
            last = nil
            let since = missingSince ?? WallClock.now()
            missingSince = since
            return .missing(since: since)
        }
        missingSince = nil
        let look = TopReport.Look(status, at: .now)
        // Counters of another process have begun again.
        let former = last?.status.process == status.process ? last : nil
        last = look
        return former.map { .report(TopReport(from: $0, to: look, time: WallClock.now())) } ?? .starting
    }
}

/// A terminal that shows one screen after the other, and has its old content back in the end.
struct TerminalScreen {
    private let former: StandardDescriptors.TerminalMode?

    /// Takes the terminal. Signals must be read, so that it is given back.
    init() {
        former = StandardDescriptors.takeKeys()
        StandardDescriptors.write(Array("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J".utf8), to: STDOUT_FILENO)
    }

    var size: (columns: Int, lines: Int) { StandardDescriptors.terminalSize() ?? (80, 24) }

    /// Shows `lines` from the top; the last one has no line feed, which would scroll.
    func show(_ lines: [String]) {
        let text = "\u{1B}[H" + lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
        StandardDescriptors.write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Gives the terminal back.
    func restore() {
        StandardDescriptors.write(Array("\u{1B}[?25h\u{1B}[?1049l".utf8), to: STDOUT_FILENO)
        if let former { StandardDescriptors.restore(former) }
    }
}
