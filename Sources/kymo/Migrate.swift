import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo migrate`: what a mapping of the MedTech service does here.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Report what a mapping of the MedTech service will do here, by our rules and by its own.",
        discussion: """
            Names the files found, their templates, every finding, how many messages are rejected for which reasons, \
            and where the two modes of compatibility give other results: docs/compatibility.md has the rows that it \
            refers to. Without messages the mapping's own \
            examples are taken. Nothing is changed; --write makes a new folder with the mapping as it should run here.

            Exits with 0 when everything runs, 65 when messages are rejected, and 78 when the mapping has errors.

            Example: kymo migrate ./my-device/ message.json
            """)

    /// How the report is written.
    @Argument(help: "Folder of the mapping.", completion: .directory)
    var folder: String

    @Argument(help: "Files or folders of messages.", completion: .file())
    var messages: [String] = []

    @Option(help: ArgumentHelp("Write device.json and fhir.json into this new folder.", valueName: "dir"))
    var write: String?

    @Option(help: ArgumentHelp("For people, or for programs. Default: text.", valueName: "text|json"))
    var format = TextFormat.text

    func run() throws {
        var report = MigrationReport(try loaded())
        do throws(MessageInputError) {
            try addMessages(to: &report)
        } catch {
            throw StandardError.exit(error.message, code: error.exitCode)
        }
        if let write, report.loads { try export(report, to: write) }
        switch format {
        case .text: try StandardOutput.write(Array(MigrationText.text(report, folder, write).utf8))
        case .json: try StandardOutput.write(MigrationText.json(report))
        }
        guard report.loads else { throw ExitCode(ExitStatus.config) }
        if report.rejectedMessages > 0 { throw ExitCode(ExitStatus.dataError) }
    }

    private func loaded() throws -> MappingFiles {
        do throws(MappingFilesError) {
            return try MappingReference.named(MappingFolderName.path(folder)).files()
        } catch {
            throw StandardError.exit(error.description, code: ExitStatus.config)
        }
    }

    private func addMessages(to report: inout MigrationReport) throws(MessageInputError) {
        for path in messages {
            for file in try MessageFiles.list(path) {
                var reader = try MessageReader(file, form: MessageFiles.isHex(file) ? .whole : .lines)
                while let message = try reader.next() {
                    try report.add(message)
                }
            }
        }
        guard messages.isEmpty else { return }
        for example in report.files.examples {
            guard let payload = try? example.payload() else { continue }
            report.add(payload, place: "example \(example.name)")
        }
    }

    private func export(_ report: MigrationReport, to target: String) throws {
        var files = report.files
        files.examples = []
        if !report.loadsByDefault, let start = files.device.firstIndex(of: UInt8(ascii: "{")) {
            files.device.insert(contentsOf: Array("\"compatibility\": \"iomt-fhir\", ".utf8), at: start + 1)
        }
        do throws(MappingExportError) {
            try MappingExport.write(files, to: target)
        } catch {
            throw StandardError.exit(error.message, code: ExitStatus.cannotCreate)
        }
    }
}

/// A folder as an argument that is nothing else.
enum MappingFolderName {
    /// `path` so that it cannot be taken for a name of the catalogue.
    static func path(_ path: String) -> String { path.contains("/") ? path : "./\(path)" }
}
