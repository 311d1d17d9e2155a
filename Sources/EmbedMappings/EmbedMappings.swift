import FoundationEssentials
import Glibc

/// Writes the mapping catalogue and the pages of the console as one Swift file each:
/// `EmbedMappings CATALOGUE OUTPUT CONSOLE OUTPUT LAST-RUN`.
@main
enum EmbedMappings {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 6 else {
            fail("usage: EmbedMappings CATALOGUE OUTPUT CONSOLE OUTPUT LAST-RUN")
        }
        do {
            let folders = try CatalogueReader(root: withoutSlash(arguments[1])).folders()
            try writeIfChanged(Data(GeneratedSource(folders: folders).text.utf8), to: arguments[2])
            let console = try PageReader(root: withoutSlash(arguments[3])).folder()
            try writeIfChanged(Data(GeneratedSource(folders: [console]).console.utf8), to: arguments[4])
            // The file is this command's own input: touched now, it makes the next build run the command again.
            try Data().write(to: URL(filePath: arguments[5]))
        } catch {
            fail("\(error)")
        }
    }

    private static func withoutSlash(_ path: String) -> String {
        path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Leaves an equal file alone, so that nothing is compiled again.
    private static func writeIfChanged(_ source: Data, to path: String) throws {
        if FileManager.default.contents(atPath: path) == source { return }
        try source.write(to: URL(filePath: path))
    }

    /// Prints in the form that build systems recognise, and ends.
    private static func fail(_ message: String) -> Never {
        print("error: \(message)")
        exit(1)
    }
}
