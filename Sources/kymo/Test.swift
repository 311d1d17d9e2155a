import ArgumentParser
import Kymograph
import KymographCore
import KymographTestKit

/// `kymo test`: runs mappings' examples.
struct Test: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the examples of mappings and show what differs from what they expect.",
        discussion: """
            Each examples/<name>.in.json (.in.hex, .in.hl7) is mapped and compared with examples/<name>.out.json. Ends \
            with 65 when an example fails. --update writes what comes out now as what is expected: read it before \
            you keep it.

            Example: kymo test ./my-device/
            """)

    @Argument(
        help: ArgumentHelp("Mappings: catalogue names or folders; default: the catalogue.", valueName: "name|dir"))
    var names: [String] = []

    @OptionGroup var files: MappingFileOptions

    @Option(help: CompatibilityOption.help)
    var compatibility: String?

    @Option(help: FHIRVersionOption.help)
    var fhirVersion: String?

    @Flag(help: "Write the expected outputs of folders instead of comparing.")
    var update = false

    func validate() throws {
        let isNamed = !names.isEmpty || !files.flags.isEmpty
        if update, !isNamed || names.contains(where: { !$0.contains("/") }) {
            throw ValidationError("--update needs folders (names with a /), because the catalogue is built in")
        }
    }

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func run() throws {
        let version = try FHIRVersionOption.parse(fhirVersion)
        let compatibility = try CompatibilityOption.parse(compatibility)
        var report = TestReport()
        let named = names.map { MappingReference.named($0) } + [try self.files.reference()].compactMap { $0 }
        for reference in named.isEmpty ? MappingCatalogue.names.map({ .named($0) }) : named {
            let loaded = MappingSelection.load([reference], compatibility: compatibility, fhirVersion: version)
            Diagnostics.write(loaded.diagnostics)
            guard let set = loaded.set, let files = loaded.files.first else { throw ExitCode(ExitStatus.config) }
            for example in files.examples {
                let differences = try run(example, of: files, set, version)
                report.examples.append(.init(mapping: files.name, name: example.name, differences: differences))
                if format == .text { write(report.examples[report.examples.count - 1]) }
            }
        }
        switch format {
        case .text:
            StandardError.write("\(CountText.of(report.passed, "example")) passed, \(report.failed) failed\n")
        case .json: try StandardOutput.write(try PrettyText.pretty(report))
        }
        if report.failed > 0 { throw ExitCode(ExitStatus.dataError) }
    }

    /// Runs one example; what differs, nothing when it is as expected or was updated.
    private func run(
        _ example: MappingExample, of files: MappingFiles, _ set: MappingSet, _ version: FHIRVersion
    ) throws -> [String] {
        let trial = ExampleTrial(set: set, mapping: files.name, version: version)
        guard update else { return trial.differences(example) }
        do {
            let result = try trial.result(example)
            try MappingExport.write(expected: result, of: example.name, in: files.folder ?? files.name)
            return []
        } catch let error as MappingFilesError {
            return [error.description]
        } catch let error as MappingExportError {
            throw StandardError.exit(error.message, code: ExitStatus.cannotCreate)
        }
    }

    private func write(_ example: TestReport.Example) {
        guard !example.isPassed else { return }
        StandardError.write("\(example.mapping): \(example.name): failed (what came out ≠ what is expected)\n")
        for line in example.differences { StandardError.write("  \(line)\n") }
    }
}

/// What `kymo test` found, for programs.
struct TestReport: Encodable {
    /// An example of a mapping, and what differs from what it expects.
    struct Example: Encodable {
        var mapping: String
        var name: String
        var differences: [String]

        var isPassed: Bool { differences.isEmpty }
    }

    private enum Key: CodingKey {
        case examples, passed, failed
    }

    var examples: [Example] = []

    var passed: Int { examples.count { $0.isPassed } }
    var failed: Int { examples.count - passed }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(examples, forKey: .examples)
        try members.encode(passed, forKey: .passed)
        try members.encode(failed, forKey: .failed)
    }
}
