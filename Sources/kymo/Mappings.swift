import ArgumentParser
import Kymograph

/// `kymo mappings`: what the catalogue holds.
struct Mappings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mappings",
        abstract: "List the mappings that are built in, or write one to a folder to start from.",
        discussion: "Example: kymo mappings --export wristband ./my-device")

    @Option(help: ArgumentHelp("Write this mapping's files to the folder given as argument.", valueName: "name"))
    var export: String?

    @Argument(help: "Folder for --export; it must not exist yet.", completion: .directory)
    var folder: String?

    @Option(help: ArgumentHelp("One name a line, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func validate() throws {
        if (export == nil) != (folder == nil) { throw ValidationError("--export needs a name and a folder") }
    }

    func run() throws {
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
}
