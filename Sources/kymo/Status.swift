import ArgumentParser
import Kymograph
import KymographCore

/// `kymo status`: how it goes.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Health of a running instance, or the contents of a data directory when none runs.",
        discussion: """
            A running instance answers on the socket control.sock in its data directory, which only the directory's \
            owner can use.

            Example: kymo status --data /var/lib/kymo --format json
            """)

    @OptionGroup var store: StoreOptions

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, prometheus
    }

    @Option(
        help: ArgumentHelp(
            "For people, for programs, or all counters as Prometheus reads them.", valueName: "text|json|prometheus"))
    var format = Format.text

    func run() throws {
        let settings = try store.settings()
        let directory = try store.directory(of: settings)
        let status: InstanceStatus
        if let answer = ControlClient.ask(ControlRequest(.status), directory)?.status {
            status = answer
        } else {
            let reader = try StoreReader.opened(directory)
            status = try StandardError.translating { () throws(PipelineError) in
                try reader.status(limitBytes: settings.store.maxBytes)
            }
        }
        switch format {
        case .text: try StandardOutput.write(Array(Self.text(status).utf8))
        case .json: try StandardOutput.write(try PrettyText.pretty(status))
        case .prometheus: try StandardOutput.write(data: Array(status.metrics.utf8))
        }
    }

    private static func text(_ status: InstanceStatus) -> String {
        let user = status.process.map { "used by process \($0), kymo \(status.version)" } ?? "no instance runs"
        var lines = ["\(status.directory): \(user)"]
        let (before, after) = status.lines(age: TimeText.of)
        lines += before
        for sink in status.sinks { lines += sink.lines(age: TimeText.of) }
        lines += after
        return lines.joined(separator: "\n") + "\n"
    }
}
