import FoundationEssentials
import Glibc

/// Writes the mapping catalogue as one Swift file: `EmbedMappings CATALOGUE OUTPUT LAST-RUN`.
@main
enum EmbedMappings {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            fail("usage: EmbedMappings CATALOGUE OUTPUT LAST-RUN")
        }
        do {
            let folders = try CatalogueReader(root: withoutSlash(arguments[1])).folders()
            try writeIfChanged(Data(GeneratedSource(folders: folders).text.utf8), to: arguments[2])
            // The file is this command's own input: touched now, it makes the next build run the command again.
            try Data().write(to: URL(filePath: arguments[3]))
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
