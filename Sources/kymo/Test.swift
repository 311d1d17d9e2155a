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
            Each examples/<name>.in.json (or .in.hex) is mapped and compared with examples/<name>.out.json. Ends with \
            65 when an example fails. --update writes what comes out now as what is expected: read it before \
            you keep it.

            Example: kymo test ./my-device/
            """)

    @Argument(
        help: ArgumentHelp("Mappings: catalogue names or folders; default: the catalogue.", valueName: "name|dir"))
    var names: [String] = []

    @OptionGroup var files: MappingFileOptions

    @Option(help: CompatibilityOption.help, transform: CompatibilityOption.parse)
    var compatibility = Compatibility.none

    @Option(help: FHIRVersionOption.help, transform: FHIRVersionOption.parse)
    var fhirVersion = FHIRVersion.r4

    @Flag(help: "Write the expected outputs of folders instead of comparing.")
    var update = false

    func validate() throws {
        let isNamed = !names.isEmpty || !files.flags.isEmpty
        if update, !isNamed || names.contains(where: { !$0.contains("/") }) {
            throw ValidationError("--update needs folders (names with a /), because the catalogue is built in")
        }
    }

    func run() throws {
        var counts = (passed: 0, failed: 0)
        let named = names.map { MappingReference.named($0) } + [try self.files.reference()].compactMap { $0 }
        for reference in named.isEmpty ? MappingCatalogue.names.map({ .named($0) }) : named {
            let loaded = MappingSelection.load([reference], compatibility: compatibility, fhirVersion: fhirVersion)
            Diagnostics.write(loaded.diagnostics)
            guard let set = loaded.set, let files = loaded.files.first else { throw ExitCode(ExitStatus.config) }
            for example in files.examples {
                if try run(example, of: files, set) { counts.passed += 1 } else { counts.failed += 1 }
            }
        }
        StandardError.write("\(counts.passed) examples passed, \(counts.failed) failed\n")
        if counts.failed > 0 { throw ExitCode(ExitStatus.dataError) }
    }

    /// Runs one example; true when it is as expected, or was updated.
    private func run(_ example: MappingExample, of files: MappingFiles, _ set: MappingSet) throws -> Bool {
        let title = "\(files.name): \(example.name)"
        do {
            var options = ObservationOptions()
            options.version = fhirVersion
            // Far enough ahead that no example's time is in the future.
            let preview = PayloadPreview(
                payload: try example.payload(), set: set, templates: set.templates(of: [files.name]),
                context: SourceContext(), received: Instant(seconds: 4_102_444_800), options: options)
            let result = PrettyJSON.format(preview.json)
            if update {
                try MappingExport.write(expected: result, of: example.name, in: files.folder ?? files.name)
                return true
            }
            return report(title, try differences(result, example.output))
        } catch let error as MappingFilesError {
            return report(title, [error.description])
        } catch let error as MappingExportError {
            throw StandardError.exit(error.message, code: ExitStatus.cannotCreate)
        } catch let error as JSONTreeError {
            return report(title, ["the expected output is no JSON: \(error.message) at byte \(error.offset)"])
        }
    }

    private func differences(_ result: [UInt8], _ expected: [UInt8]?) throws(JSONTreeError) -> [String] {
        guard let expected else { return ["no expected output; make one with kymo test --update, and read it"] }
        return try JSONTree(parsing: result).differences(from: try JSONTree(parsing: expected))
    }

    private func report(_ title: String, _ differences: [String]) -> Bool {
        guard !differences.isEmpty else { return true }
        StandardError.write("\(title): failed (what came out ≠ what is expected)\n")
        for line in differences { StandardError.write("  \(line)\n") }
        return false
    }
}
