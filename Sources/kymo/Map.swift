import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo map`: one payload to measurements and Observations.
struct Map: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map",
        abstract: "Map one payload and show the measurements and Observations that come out.",
        discussion: """
            Prints {"measurements": […], "observations": […], "rejected": […]}. With --explain, standard error says \
            which templates matched, what each expression gave, and which rule rejected the reading. Exits with \
            status 65 when something was rejected.

            Example: kymo map --mapping wristband --explain message.json
            """)

    @Argument(help: "File with one payload; standard input by default.", completion: .file())
    var file: String?

    @OptionGroup var mapping: MappingOptions

    @Option(help: ArgumentHelp("Device of payloads that name none.", valueName: "id"))
    var defaultDevice: String?

    @Option(help: ArgumentHelp("Patient of payloads that name none.", valueName: "id"))
    var defaultPatient: String?

    @Option(help: ArgumentHelp("Time zone of times without an offset. Default: UTC.", valueName: "zone"))
    var timezone: String?

    @Flag(help: "Say on standard error what each template made of the payload.")
    var explain = false

    func run() throws {
        let (set, _) = try mapping.load()
        let payload = try InputFile.read(file, "name a file with one payload")
        let context = SourceContext(
            defaultDevice: try MapDefault.bytes(defaultDevice, "--default-device"),
            defaultPatient: try MapDefault.bytes(defaultPatient, "--default-patient"),
            timezone: try timezone.map { try MapDefault.timezone($0) })
        let templates = set.templates(of: mapping.effective)
        if explain { Explanation.write(set, templates, payload, context) }
        var options = ObservationOptions()
        options.version = mapping.fhirVersion
        let preview = PayloadPreview(
            payload: payload, set: set, templates: templates, context: context, received: WallClock.now(),
            options: options)
        try StandardOutput.write(PrettyJSON.format(preview.json))
        guard preview.rejected.isEmpty, !preview.measurements.isEmpty else {
            throw ExitCode(ExitStatus.dataError)
        }
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

/// Prints what each template made of a payload.
enum Explanation {
    static func write(_ set: MappingSet, _ templates: [Int], _ payload: [UInt8], _ context: SourceContext) {
        var explainer = MappingExplainer(set, templates: templates)
        let storage = PaddedBytes(copying: payload)
        do throws(ScanFailure) {
            var object: String?
            var offset: Int?
            try explainer.explain(storage.view, context: context, received: WallClock.now()) { template in
                if let last = offset, last != template.offset {
                    StandardError.write("value at byte \(template.offset):\n")
                }
                offset = template.offset
                if let decoded = template.object, decoded != object { StandardError.write("decoded: \(decoded)\n") }
                object = template.object
                write(template)
            }
        } catch {
            StandardError.write("the payload is refused: \(error.reason.name) at byte \(error.offset)\n")
        }
    }

    private static func write(_ template: TemplateExplanation) {
        StandardError.write("\(template.mapping), type \(template.typeName) (device.json line \(template.line))\n")
        if let failure = template.failure {
            StandardError.write("  \(template.matchExpression): \(failure)\n")
        } else if template.matches.isEmpty {
            StandardError.write("  no match for \(template.matchExpression)\n")
            if let meant = template.meant { StandardError.write("    did you mean '\(meant)'?\n") }
            for field in template.missing { StandardError.write("    \(field.name): \(field.result)\n") }
        }
        for (index, match) in template.matches.enumerated() {
            StandardError.write("  match \(index + 1) of \(template.matchExpression): \(match.outcome)\n")
            for field in match.fields {
                StandardError.write("    \(field.name) \(field.expression): \(field.result)\n")
            }
        }
    }
}
