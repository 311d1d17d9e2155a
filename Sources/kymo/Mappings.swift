import ArgumentParser
import Kymograph

/// `kymo mappings`: what the catalogue holds.
struct Mappings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mappings",
        abstract: "List the mappings that are built in, write one to a folder to start from, or show one.",
        discussion: """
            --merged shows a mapping as it is loaded: with what it extends. Each member that is not the other \
            mapping's has a comment with the file, line and column that it comes from, and where the other one is. \
            With --format json, they are listed by JSON Pointers. It exits with 78 when something is wrong with the \
            mapping.

            Example: kymo mappings --export wristband ./my-device
            """)

    @Option(help: ArgumentHelp("Write this mapping's files to the folder given as argument.", valueName: "name"))
    var export: String?

    @Option(
        help: ArgumentHelp(
            "Show this mapping with what it extends, and which member comes from where.", valueName: "name|dir"),
        completion: .directory)
    var merged: String?

    @Argument(help: "Folder for --export; it must not exist yet.", completion: .directory)
    var folder: String?

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func validate() throws {
        if (export == nil) != (folder == nil) { throw ValidationError("--export needs a name and a folder") }
        if merged != nil, export != nil { throw ValidationError("--merged and --export exclude each other") }
    }

    func run() throws {
        if let merged { return try show(merged) }
        guard let export, let folder else {
            switch format {
            case .text: try StandardOutput.write(Array(MappingCatalogue.names.map { $0 + "\n" }.joined().utf8))
            case .json: try StandardOutput.write(try PrettyText.pretty(["mappings": MappingCatalogue.names]))
            }
            return
        }
        do {
            try MappingExport.write(try MappingCatalogue.resolve(export), to: folder)
        } catch let error as MappingFilesError {
            throw StandardError.exit(error.description, code: ExitStatus.config)
        } catch let error as MappingExportError {
            throw StandardError.exit(error.message, code: ExitStatus.cannotCreate)
        }
    }

    private func show(_ name: String) throws {
        let mapping: MergedMapping
        do throws(MappingFilesError) {
            mapping = try MergedMapping(named: name)
        } catch {
            throw StandardError.exit(error.description, code: ExitStatus.config)
        }
        Diagnostics.write(mapping.diagnostics)
        guard mapping.isGood else { throw ExitCode(ExitStatus.config) }
        switch format {
        case .text: try StandardOutput.write(Array(mapping.text.utf8))
        case .json: try StandardOutput.write(mapping.json)
        }
    }
}
