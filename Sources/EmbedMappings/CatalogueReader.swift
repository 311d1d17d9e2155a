import FoundationEssentials

/// One mapping of the catalogue: its name, and its files by path inside the folder, in byte order of the paths.
struct CatalogueFolder {
    var name: String
    var files: [(path: String, text: String)]
}

/// Why the catalogue cannot be embedded; worded for whoever reads the build log.
struct CatalogueError: Error, CustomStringConvertible {
    var description: String
}

/// Reads the `mappings` folder: `<name>/device.json`, `<name>/fhir.json` and `<name>/examples/*`.
struct CatalogueReader {
    /// Path of the `mappings` folder.
    let root: String

    /// Holds the JSON Schemas of both files, so it is no mapping.
    private static let schemaFolder = "schema"

    /// All mappings in byte order of their names, so that equal catalogues give equal binaries.
    func folders() throws -> [CatalogueFolder] {
        try subfolders(of: root).filter { $0 != Self.schemaFolder }.map(folder)
    }

    private func folder(_ name: String) throws -> CatalogueFolder {
        let path = "\(root)/\(name)"
        var files = try ["device.json", "fhir.json"].map { try file($0, in: path) }
        let examples = "\(path)/examples"
        if FileManager.default.fileExists(atPath: examples) {
            let names = try FileManager.default.contentsOfDirectory(atPath: examples).filter(isVisible)
            files += try names.sorted(by: precedes).map { try example($0, in: path) }
        }
        return CatalogueFolder(name: name, files: files)
    }

    private func example(_ name: String, in folder: String) throws -> (path: String, text: String) {
        guard [".in.json", ".in.hex", ".in.hl7", ".out.json"].contains(where: name.hasSuffix) else {
            throw CatalogueError(
                description: "\(folder)/examples/\(name): examples end in .in.json, .in.hex, .in.hl7 and .out.json")
        }
        return try file("examples/\(name)", in: folder)
    }

    private func file(_ name: String, in folder: String) throws -> (path: String, text: String) {
        let path = "\(folder)/\(name)"
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CatalogueError(
                description: "\(path) is missing: a mapping is a folder with device.json and fhir.json")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CatalogueError(description: "\(path) is not UTF-8: write a binary payload as <name>.in.hex")
        }
        return (name, text)
    }

    private func subfolders(of path: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter(isVisible)
        let folders = names.filter { name in
            var isFolder = false
            return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder) && isFolder
        }
        return folders.sorted(by: precedes)
    }

    /// Editors leave `.swp` and the like.
    private func isVisible(_ name: String) -> Bool { !name.hasPrefix(".") && !name.hasSuffix("~") }

    private func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
