import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo check`: configuration and mappings, without running anything.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check configuration, mappings and the machine that they are to run on; touch nothing.",
        discussion: """
            Takes the options of run. Prints every error and warning of every file as file:line:column, and exits with \
            status 78 when there is an error. docs/mapping-language.md lists what can be found.

            It also looks for what run needs of the machine: token, key and certificate files and their permissions, \
            addresses that can be bound, directories that can be written to, the data directory. An error there exits \
            with the status that run would have (71, 73, 77; 78 for files of secrets). What a running instance with \
            the same data directory uses is no error. --no-environment leaves this out. --connect asks servers, too: \
            it gets a token and GET /metadata; 69 when one does not answer, 77 when it refuses the credentials. Event \
            hubs get a batch without events, databases are asked for their tables, and brokers of Kafka for the \
            topic. To brokers of MQTT it connects for a moment; they are waited for when they do not answer.

            --reload asks the instance that uses the data directory whether SIGHUP would have it take over its \
            configuration as it is written now: 78 when a change needs a restart, 69 when no instance answers.

            --merged prints what each mapping in use that extends another comes to, as 'kymo mappings --merged' does: \
            on standard output, and only when there is no error.

            --format json prints {"findings": […], "errors": n, "warnings": n} on standard output instead; --format \
            text is the default. (bundle and ndjson set the output's format, as in run.) With --merged, "merged" has \
            an object for each such mapping: "mapping" and "files".

            With --events, the events of a file (one a line, or one JSON document) are mapped too. It exits with \
            status 65 when one is rejected and there is no error.

            Example: kymo check --config kymo.yaml --mapping ./my-device/ --events samples.ndjson
            """)

    @OptionGroup var settings: SettingOptions

    @Flag(help: "End with 78 when there is a warning, too.")
    var strict = false

    @Flag(inversion: .prefixedNo, help: "Check what the machine has, too; not when only mappings are named.")
    var environment = true

    @Flag(help: "Ask FHIR servers, event hubs, databases and topics, too, with the credentials of the configuration.")
    var connect = false

    @Flag(help: "Ask the running instance whether it takes over its configuration without a restart.")
    var reload = false

    @Flag(help: "Print what each mapping in use that extends another comes to, when there is no error.")
    var merged = false

    @Option(
        help: ArgumentHelp("Map the sample events of this file, and say which fail.", valueName: "file"),
        completion: .file())
    var events: String?

    @Argument(help: ArgumentHelp("Further mappings: catalogue names or folders.", valueName: "name|dir"))
    var names: [String] = []

    func validate() throws {
        guard !environment else { return }
        if connect { throw ValidationError("--connect and --no-environment exclude each other") }
        if reload { throw ValidationError("--reload and --no-environment exclude each other") }
    }

    func run() throws {
        var options = settings
        options.mapping.names += names
        let isJSON = options.output.format == "json"
        // The other formats are settings of the output, which are checked with the rest.
        if isJSON || options.output.format == "text" { options.output.format = nil }
        let (settings, set, diagnostics) = try options.check()
        let machine =
            checksMachine
            ? settings.map { EnvironmentCheck($0, connecting: connect, reloading: reload) } : nil
        let found = diagnostics + Self.strays(settings, set) + (machine?.findings.map(\.diagnostic) ?? [])
        for note in machine?.notes ?? [] { StandardError.write("kymo: \(note)\n") }
        var rejected: [Diagnostic] = []
        if let settings, let set, let events { rejected = try check(events, settings, set) }
        try write(found + rejected, merged ? Self.merged(settings, set, found + rejected) : nil, asJSON: isJSON)
        summarise(found + rejected, settings, set)
        if set == nil || (strict && !(found + rejected).isEmpty) { throw ExitCode(ExitStatus.config) }
        if let code = machine?.exitCode { throw ExitCode(code) }
        if rejected.contains(where: { $0.severity == .error }) { throw ExitCode(ExitStatus.dataError) }
    }

    /// Patterns that mean nothing that there is, as the start tells them.
    private static func strays(_ settings: PipelineSettings?, _ set: MappingSet?) -> [Diagnostic] {
        guard let settings, let set else { return [] }
        let file = settings.configurationFiles.first ?? "command line"
        return settings.strayPatterns(set).map { Diagnostic(.warning, file: file, position: .start, message: $0) }
    }

    /// Not when only mappings are named: nobody who edits one asks whether a port is free.
    private var checksMachine: Bool {
        let namesMappings = !names.isEmpty || !settings.mapping.flags.isEmpty
        let namesOnlyMappings =
            namesMappings && settings.config == nil && settings.sources.flags.isEmpty
            && settings.durability.flags.isEmpty
        return environment && (connect || reload || !namesOnlyMappings)
    }

    /// Rehearses sample events as the first source would take them, with the mappings of all sources.
    private func check(_ path: String, _ settings: PipelineSettings, _ set: MappingSet) throws -> [Diagnostic] {
        let bytes = try InputFile.read(path, "name a file of sample events")
        let context = settings.sources.first.map { settings.laneInput($0, set: set).context }
        let check = EventCheck(
            set: set, templates: set.templates(of: set.mappings), context: context ?? SourceContext(),
            received: WallClock.now(), patients: settings.patientRules)
        return EventCheck.summary(of: check.outcomes(of: MappingFile(name: path, bytes: bytes)))
    }

    /// The mappings in use that extend others, as they are loaded; nil when there is an error among `findings`.
    private static func merged(
        _ settings: PipelineSettings?, _ set: MappingSet?, _ findings: [Diagnostic]
    ) throws -> [MergedMapping]? {
        guard let settings, set != nil, !findings.contains(where: { $0.severity == .error }) else { return nil }
        do throws(MappingFilesError) {
            return try MergedMapping.extending(in: settings)
        } catch {
            throw StandardError.exit(error.description, code: ExitStatus.config)
        }
    }

    private func write(_ findings: [Diagnostic], _ merged: [MergedMapping]?, asJSON: Bool) throws {
        guard !asJSON else {
            return try StandardOutput.write(FindingReport.json(findings, merged: merged?.map(\.named)))
        }
        Diagnostics.write(findings)
        guard let merged else { return }
        if merged.isEmpty { StandardError.write("kymo: no mapping in use extends another\n") }
        try StandardOutput.write(Array(merged.map(\.text).joined(separator: "\n").utf8))
    }

    private func summarise(_ findings: [Diagnostic], _ settings: PipelineSettings?, _ set: MappingSet?) {
        let errors = findings.filter { $0.severity == .error }.count
        let warnings = findings.count - errors
        guard errors == 0, let settings, let set else {
            return StandardError.write("kymo: \(CountText.of(errors, "error")), \(CountText.of(warnings, "warning"))\n")
        }
        let sources = settings.sources.map(\.configuration.address.name).joined(separator: ", ")
        let mappings = set.mappings.joined(separator: ", ")
        let types = "\(CountText.of(set.types.count, "type")); \(CountText.of(warnings, "warning"))"
        StandardError.write("kymo: configuration OK: sources \(sources); mappings \(mappings); \(types)\n")
    }
}
