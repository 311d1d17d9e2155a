import ArgumentParser
import Kymograph
import KymographCore

/// `kymo flush`: a running instance closes its open windows now.
struct Flush: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Have a running instance close its open windows now, and wait until sinks have them.",
        discussion: """
            What the windows hold by then leaves as final Observations, or amended ones. Readings of the same windows \
            that come later make them amended. What senders wait to be taken is not there yet, and is not in it.

            Exits with status 65 when a sink does not have all of it after --wait: it goes on to be delivered. So when \
            a server never gets some of it, which is a dead letter, or has kept an earlier version. With status \
            66 when no instance runs: then all windows are closed.

            Example: kymo flush --data /var/lib/kymo --type heartRate
            """)

    @OptionGroup var store: StoreOptions

    @Option(
        help: ArgumentHelp(
            "Only of this type, with * for any characters. Repeatable: of any of them.", valueName: "name"))
    var type: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only of this device, with * for any characters. Repeatable: of any of them.", valueName: "id"))
    var device: [String] = []

    @Option(help: ArgumentHelp("How long to wait for sinks; 0s: not at all.", valueName: "length"))
    var wait = LengthArgument(seconds: 10, text: "10s")

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func run() throws {
        let directory = try store.directory()
        let answer = try StandardError.translating { () throws(PipelineError) in
            try WindowFlush.make(
                FlushRequest(types: type, devices: device.map { IdentifierText($0) }), directory,
                patience: .nanoseconds(wait.nanoseconds))
        }
        switch format {
        case .text: try StandardOutput.write(Array(Flush.text(answer).utf8))
        case .json: try StandardOutput.write(try PrettyText.pretty(answer))
        }
        if wait.nanoseconds > 0, !answer.isDelivered { throw ExitCode(ExitStatus.dataError) }
    }

    private static func text(_ answer: FlushAnswer) -> String {
        guard let closed = answer.closed else { return "asked for it; not all shards have answered yet\n" }
        let windows = "closed \(CountText.of(closed, "window"))"
        if closed == 0, answer.isDelivered { return "\(windows): none was open\n" }
        if answer.isDelivered { return "\(windows); every sink has what they show\n" }
        guard answer.isDurable else { return "\(windows); what they show is not on disk yet\n" }
        if answer.isSettled { return "\(windows); \(lacks(answer))\n" }
        let waiting = answer.waiting.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        let sinks = waiting.map { "\(CountText.of($0.value, "bundle")) for \($0.key)" }.joined(separator: ", ")
        let lacks = answer.refused.isEmpty && answer.lacking.isEmpty ? "" : "; \(lacks(answer))"
        return "\(windows), which are on disk; there wait \(sinks)\(lacks)\n"
    }

    /// What sinks will not have.
    private static func lacks(_ answer: FlushAnswer) -> String {
        let refused = answer.refused.sorted { $0.key < $1.key }.map { sink, count in
            "\(sink) will not have \(CountText.of(count, "resource")): see 'kymo dead list'"
        }
        let lacking = answer.lacking.sorted { $0.key < $1.key }.map { sink, count in
            "\(sink) has kept an earlier version of \(CountText.of(count, "resource")): see 'kymo ledger'"
        }
        return (refused + lacking).joined(separator: "; ")
    }
}
