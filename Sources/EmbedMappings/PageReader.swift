import FoundationEssentials

/// Reads the `console` folder: its files, and those of its folders.
struct PageReader {
    /// Path of the `console` folder.
    let root: String

    /// Kinds of files that the server has a content type for.
    private static let endings = [".html", ".css", ".js", ".svg"]

    /// All files by path inside the folder, in byte order of the paths.
    func folder() throws -> CatalogueFolder {
        let files = try paths(in: "").sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { path in
            guard let data = FileManager.default.contents(atPath: "\(root)/\(path)"),
                let text = String(validating: data, as: UTF8.self)
            else { throw CatalogueError(description: "\(root)/\(path) cannot be read, or is not UTF-8") }
            return (path: path, text: text)
        }
        return CatalogueFolder(name: "console", files: files)
    }

    private func paths(in folder: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")
        return try names.filter { !$0.hasPrefix(".") && !$0.hasSuffix("~") }.flatMap { name in
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            var isFolder = false
            _ = FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder)
            if isFolder { return try paths(in: path) }
            guard Self.endings.contains(where: name.hasSuffix) else {
                throw CatalogueError(
                    description: "\(root)/\(path): files of the console end in \(Self.endings.joined(separator: ", "))")
            }
            return [path]
        }
    }
}
