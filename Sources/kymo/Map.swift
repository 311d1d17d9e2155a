import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo map`: payloads to measurements and Observations.
struct Map: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map",
        abstract: "Map payloads and show the measurements and Observations that come out.",
        discussion: """
            One payload becomes a document: {"measurements": […], "observations": […], "rejected": […]}. Of several \
            messages (several files, a folder, or one message a line) each becomes a line of NDJSON with "file" and \
            "line" before these members, and standard error tells their numbers. A file that is one JSON document \
            is one message; the files of a folder are read in order of their names, and of the folders in it none.

            With --format events, each reading becomes a line by itself: the normalised event of iomt-fhir, for \
            whoever makes FHIR of it.

            With --explain, standard error says which templates matched, what each expression gave, and which rule \
            rejected the reading; with --format json, too, the document says so in its member "explain", with the \
            bytes of the payload that each expression matched. Exits with status 65 when something was rejected.

            With --patients, readings get the patient and encounter that the map says for their device and time; with \
            --rules, those that a rule drops or rejects are shown as rejected by it, as of a source called stdin.

            Example: kymo map --mapping wristband --explain message.json
            Example: kymo map --mapping wristband --explain --format json message.json
            Example: kymo map --mapping ./my-device/ message.json > mapped.json
            """)

    /// How results are written.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case json, ndjson, events
    }

    @Argument(
        help: "Files or folders of messages; standard input by default, or for -.", completion: .file())
    var files: [String] = []

    @OptionGroup var mapping: MappingOptions

    @Option(help: ArgumentHelp("Device of payloads that name none.", valueName: "id"))
    var defaultDevice: String?

    @Option(help: ArgumentHelp("Patient of payloads that name none.", valueName: "id"))
    var defaultPatient: String?

    @Option(help: ArgumentHelp("Time zone of times without an offset. Default: UTC.", valueName: "zone"))
    var timezone: String?

    @OptionGroup var patients: PatientOptions

    @Option(
        help: ArgumentHelp(
            "json: each file is one payload, and becomes a document. ndjson: each message becomes a line. events: each "
                + "reading becomes a line, as a normalised event. Default: json for one message and with --explain, "
                + "else ndjson.", valueName: "json|ndjson|events"))
    var format: Format?

    @Flag(help: "Say what each template made of the payload: on standard error, or with --format json in the document.")
    var explain = false

    func run() throws {
        let (set, mappings) = try mapping.load()
        let context = SourceContext(
            defaultDevice: try MapDefault.bytes(defaultDevice, "--default-device"),
            defaultPatient: try MapDefault.bytes(defaultPatient, "--default-patient"),
            timezone: try timezone.map { try MapDefault.timezone($0) })
        var options = ObservationOptions()
        options.version = try mapping.fhirVersion
        let (rulesOfPatients, rules, resources) = try patients.load(set.types)
        let explanation = explain ? Explanation(set, mappings, context, isJSON: format == .json) : nil
        var mapper = MessageMapping(
            set: set, templates: set.templates(of: mappings.map(\.name)), context: context, options: options,
            patients: rulesOfPatients, rules: rules, resources: resources, explanation: explanation,
            writesEvents: format == .events)
        do throws(MessageInputError) {
            try mapAll(&mapper)
        } catch {
            throw StandardError.exit(error.message, code: error.exitCode)
        }
        try mapper.finish()
    }

    private func mapAll(_ mapper: inout MessageMapping) throws(MessageInputError) {
        guard files.count <= 1 else { return try mapLines(try expanded(), &mapper) }
        let file = files.first ?? "-"
        let inputs = try MessageFiles.list(file)
        let isLines = format == nil && !explain && MessageReader.isCalledLines(file)
        if format == .ndjson || format == .events || inputs != [file] || isLines {
            return try mapLines(inputs, &mapper)
        }
        guard format == nil, !explain, !MessageFiles.isHex(file) else { return try mapWhole(file, &mapper) }
        try mapOneOrSeveral(file, &mapper)
    }

    private func expanded() throws(MessageInputError) -> [String] {
        var all: [String] = []
        for file in files { all += try MessageFiles.list(file) }
        return all
    }

    /// Each message a line of output, or with `--format json` each file a document.
    private func mapLines(_ inputs: [String], _ mapper: inout MessageMapping) throws(MessageInputError) {
        for input in inputs {
            guard format != .json else {
                try mapWhole(input, &mapper)
                continue
            }
            var reader = try MessageReader(input, form: MessageFiles.isHex(input) ? .whole : .lines)
            while let message = try reader.next() { mapper.writeLine(message) }
        }
        if format != .json { mapper.hasLines = true }
    }

    private func mapWhole(_ input: String, _ mapper: inout MessageMapping) throws(MessageInputError) {
        var reader = try MessageReader(input, form: .whole)
        let none = InputMessage(file: input, line: 1, bytes: [])
        mapper.writeDocument(try reader.next() ?? none)
    }

    /// A document of one message, lines of several.
    private func mapOneOrSeveral(_ input: String, _ mapper: inout MessageMapping) throws(MessageInputError) {
        var reader = try MessageReader(input, form: .lines)
        let first = try reader.next() ?? InputMessage(file: input, line: 1, bytes: [])
        guard let second = try reader.next() else { return mapper.writeDocument(first) }
        mapper.hasLines = true
        mapper.writeLine(first)
        mapper.writeLine(second)
        while let message = try reader.next() { mapper.writeLine(message) }
    }
}

/// The device and the patient that the command line states for payloads that name none.
enum MapDefault {
    /// The identifier that `option` gives; exits with status 78 when it can be none.
    static func bytes(_ text: String?, _ option: String) throws -> [UInt8] {
        guard let text else { return [] }
        if let problem = IdentifierSetting.problem(text) {
            throw StandardError.exit("\(option): \(problem); \(IdentifierSetting.advice)", code: ExitStatus.config)
        }
        return Array(text.utf8)
    }

    /// The time zone that `--timezone` names; exits with status 78 when there is none.
    static func timezone(_ text: String) throws -> LocalTimeZone {
        guard let zone = TimeZoneText.zone(text) else {
            throw StandardError.exit(
                "--timezone: there is no time zone '\(text)'; \(TimeZoneText.advice)", code: ExitStatus.config)
        }
        return zone
    }
}
