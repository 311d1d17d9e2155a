import Foundation

/// A Swift file of the project.
struct SourceFile {
    /// Path from the package, such as `Sources/kymo/Kymo.swift`.
    var path: String
    var text: String

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
}

/// The package's files.
enum SourceTree {
    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// All Swift files below `Sources`, by path.
    static func sources() throws -> [SourceFile] {
        let root = package.appendingPathComponent("Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            let data = try Data(contentsOf: root.appendingPathComponent(path))
            return SourceFile(path: "Sources/\(path)", text: String(decoding: data, as: UTF8.self))
        }
    }

    /// README, the pages of `docs` and the tutorials. Decisions stay as they were written.
    static func pages() throws -> [SourceFile] {
        let paths =
            try ["README.md"]
            + ["docs", "docs/tutorials"].flatMap { folder in
                let path = package.appendingPathComponent(folder).path
                let names = try FileManager.default.contentsOfDirectory(atPath: path)
                return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
            }
        return try paths.map { path in
            let data = try Data(contentsOf: package.appendingPathComponent(path))
            return SourceFile(path: path, text: String(decoding: data, as: UTF8.self))
        }
    }

    /// Folders below `mappings` that are mappings: all but the schemas'.
    static func mappings() throws -> [URL] {
        let root = package.appendingPathComponent("mappings")
        let folders = try FileManager.default.contentsOfDirectory(
            at: root, includingPropertiesForKeys: [.isDirectoryKey])
        return folders.filter { $0.hasDirectoryPath && $0.lastPathComponent != "schema" }
    }
}
