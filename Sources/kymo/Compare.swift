import ArgumentParser
import FoundationEssentials
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo compare`: what differs between the Observations of two systems.
struct Compare: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare the Observations of two FHIR servers, or of files, by identity.",
        discussion: """
            FIRST and SECOND are each the base URL of a server that wants no credentials, a configuration file of \
            'kymo run' (.yaml, .yml) whose server is asked with its credentials, a file of NDJSON or JSON (Bundles or \
            resources), or a folder of such files.

            Two Observations are the same when their identifiers are; with --by content when code, subject, device and \
            effective time are, for systems whose identifiers hold logical ids of their server. Patients and Devices \
            are compared by their identifiers, which files must have, too, as bulk exports do: Patient/17 of one side \
            is not known to be that of the other. Numbers are compared by their value and times as instants. id, meta, \
            issued, text and identifiers that are only the whole text of another are left out.

            Prints how many are in one only, differ (and in which part), or come twice, and the first of them: their \
            identities name patients and devices. Exits with status 0 when both have the same, else 65; 69 when a \
            server does not answer, 77 when it refuses.

            Example: kymo compare observations.ndjson other-observations.ndjson --by content
            """)

    @Argument(help: "A server, a configuration, a file or a folder.", completion: .file())
    var first: String

    @Argument(help: "What it is compared with.", completion: .file())
    var second: String

    @Option(help: ArgumentHelp("By what two are the same.", valueName: "identifier|content"))
    var by = ComparedObservation.Key.identifier

    @Option(
        help: ArgumentHelp(
            "What must be equal, where not all: \(ComparedArgument.parts). "
                + "Repeatable.", valueName: "part"))
    var part: [ComparedObservation.Part] = []

    @Option(help: ArgumentHelp("Only those that begin at this time or later.", valueName: "time"))
    var from: TimeArgument?

    @Option(help: ArgumentHelp("Only those that begin before this time.", valueName: "time"))
    var to: TimeArgument?

    @Option(help: ArgumentHelp("Most that are shown of what differs.", valueName: "n"))
    var examples = 20

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func validate() throws {
        guard (0...100_000).contains(examples) else { throw ValidationError("--examples takes 0 to 100000") }
    }

    func run() throws {
        var selection = ComparedSelection()
        (selection.key, selection.examples) = (by, examples)
        (selection.from, selection.to) = (from?.instant, to?.instant)
        if !part.isEmpty { selection.parts = part }
        let sides = (try ComparedArgument.side(first), try ComparedArgument.side(second))
        let report: ObservationComparison.Report
        do {
            report = try selection.compare(sides.0, sides.1)
        } catch let error as PipelineError {
            throw StandardError.exit(error.message, code: error.exitCode)
        }
        switch format {
        case .json: try StandardOutput.write(try PrettyText.pretty(report))
        case .text: try StandardOutput.write(Array(Self.text(report).utf8))
        }
        if !report.isSame { throw ExitCode(ExitStatus.dataError) }
    }

    private static func text(_ report: ObservationComparison.Report) -> String {
        let parts = report.parts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        var lines = [
            "first \(report.first), second \(report.second): same \(report.same), only in the first "
                + "\(report.onlyInFirst), only in the second \(report.onlyInSecond), different \(report.different)"
                + (parts.isEmpty ? "" : " (\(parts))") + ", repeated \(report.repeated)"
        ]
        for example in report.examples {
            lines.append("\(example.kind): \(JSONText.quoted(example.identity))")
            for (name, both) in (example.parts ?? [:]).sorted(by: { $0.key < $1.key }) {
                lines.append("    \(name):")
                lines += both.map { "        \(JSONText.quoted($0))" }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ComparedObservation.Key: ExpressibleByArgument {}

extension ComparedObservation.Part: ExpressibleByArgument {}

/// An argument that names one side of a comparison.
private enum ComparedArgument {
    static let parts = ComparedObservation.Part.allCases.map(\.rawValue).joined(separator: ", ")
    private static let advice = "name a server's URL, a configuration (.yaml), a file, or a folder of .ndjson and .json"

    static func side(_ text: String) throws -> ComparedSide {
        if text.contains("://") {
            return .server(try settings([("server.url", "URL", text), ("server.identity", "URL", "create")], nil))
        }
        if text.hasSuffix(".yaml") || text.hasSuffix(".yml") { return .server(try settings([], text)) }
        var isFolder = false
        guard FileManager.default.fileExists(atPath: text, isDirectory: &isFolder), isFolder else {
            return .files([file(text)], name: text)
        }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: text)) ?? []).sorted().filter { name in
            [".ndjson", ".json", ".ndjson.open"].contains { name.hasSuffix($0) }
        }
        guard !names.isEmpty else {
            throw StandardError.exit("\(text) has no such files; \(advice)", code: ExitStatus.noInput)
        }
        return .files(names.map { file("\(text)/\($0)") }, name: text)
    }

    private static func file(_ path: String) -> ComparedSide.File {
        ComparedSide.File(name: path) { try InputFile.read(path, advice) }
    }

    private static func settings(
        _ flags: [(key: String, flag: String, value: String)], _ path: String?
    ) throws -> ServerSettings {
        var input = ConfigurationInput(
            // What the environment says of a server would be of both.
            flags: flags, environment: [:],
            file: try path.map { ($0, try InputFile.read($0, advice)) })
        input.variables = ProcessInfo.processInfo.environment
        let (settings, diagnostics) = ConfigurationLoader.load(input)
        let errors = diagnostics.filter { $0.severity == .error }
        Diagnostics.write(errors)
        guard errors.isEmpty else { throw ExitCode(ExitStatus.config) }
        guard settings.server.url != nil else {
            throw StandardError.exit(
                "\(path ?? "") names no FHIR server; set server.url in it", code: ExitStatus.config)
        }
        return settings.server
    }
}
