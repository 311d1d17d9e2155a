import ArgumentParser
import Kymograph
import KymographCore

/// What to pause or resume.
struct PauseOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions

    @Argument(help: ArgumentHelp("Names of types or sources, in full.", valueName: "type-or-source"))
    var names: [String]

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case type, source
    }

    @Option(name: .customLong("as"), help: ArgumentHelp("What the names are of.", valueName: "type|source"))
    var kind: Kind?

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    /// Carries it out, and prints what became of it.
    func run(isPausing: Bool) throws {
        let directory = try store.directory()
        let outcomes = try StandardError.translating { () throws(PipelineError) in
            try PauseChange.make(
                PauseRequest(names, kind: kind?.rawValue), isPausing: isPausing, directory
            ) { StandardError.write("kymo: \($0.text)\n") }
        }
        switch format {
        case .text:
            let lines = outcomes.map { (isPausing ? PauseText.paused($0) : PauseText.resumed($0)) + "\n" }
            try StandardOutput.write(Array(lines.joined().utf8))
        case .json: try StandardOutput.write(try PrettyText.pretty(["pauses": outcomes]))
        }
    }
}

/// `kymo pause`.
struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Take nothing of a type or source until 'kymo resume', also after restarts.",
        discussion: """
            A source whose senders can wait (tcp, http, mllp, unix, seqpacket, stdin, and mqtt with a session) is not \
            read: they wait, or keep what they have. What others bring, and readings of a type, is counted as \
            sourcePaused or typePaused and put aside as dead letters, which 'kymo dead replay' takes afterwards: of \
            unix, unixgram, seqpacket, udp and tcp sources of lines that have no name of their own, while the instance \
            runs; of others once it is stopped.

            What would lose readings is refused: a type while topics of a source name the device or patient, a source \
            of a broker that has granted no session, and putting aside with output.write: conditional-create.

            Without a running instance it is noted for the next start.

            Example: kymo pause heartRate --data /var/lib/kymo
            """)

    @OptionGroup var options: PauseOptions

    func run() throws { try options.run(isPausing: true) }
}

/// `kymo resume`.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Take readings of a paused type or source again.",
        discussion: """
            Says how long it was paused, and how many dead letters wait for 'kymo dead replay', which says of each it \
            does not take why, such as that the instance has to be stopped for its source.

            Example: kymo resume heartRate --data /var/lib/kymo
            """)

    @OptionGroup var options: PauseOptions

    func run() throws { try options.run(isPausing: false) }
}

/// Pauses for people.
private enum PauseText {
    static func paused(_ outcome: PauseOutcome) -> String {
        let what = "\(outcome.kind) \(outcome.name)"
        if outcome.wasPaused { return "\(what) is paused already, for \(TimeText.of(outcome.seconds ?? 0))" }
        let fate =
            switch outcome.waits {
            case true?: "it is not read, and its senders wait"
            case false?,
                nil where outcome.kind == "type":
                "what comes of it is put aside as dead letters"
            default: "when an instance runs, it takes nothing of it"
            }
        return "\(what) is paused: \(fate)" + later(outcome)
    }

    static func resumed(_ outcome: PauseOutcome) -> String {
        let what = "\(outcome.kind) \(outcome.name)"
        guard outcome.wasPaused else { return "\(what) was not paused" }
        let letters =
            outcome.letters == 0
            ? "nothing was put aside"
            : "\(CountText.of(outcome.letters, "dead letter")) put aside: see 'kymo dead replay --help'"
        return "\(what) was paused for \(TimeText.of(outcome.seconds ?? 0)); \(letters)" + later(outcome)
    }

    private static func later(_ outcome: PauseOutcome) -> String {
        outcome.isInEffect ? "" : " (as soon as a busy lane looks up)"
    }
}
