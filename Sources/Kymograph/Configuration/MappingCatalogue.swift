import Glibc
import KymographCore
import KymographTemplates

/// The mappings that are compiled into the binary: every folder of the repository's `mappings/`.
package enum MappingCatalogue {
    /// Names of the mappings, in byte order.
    package static let names: [String] = EmbeddedFolder.mappings.map { $0.name.description }

    /// The mapping called `name`, or nil; names are case-sensitive. Examples are most of it, and few need them.
    package static func files(of name: String, withExamples: Bool = true) -> MappingFiles? {
        guard let place = names.firstIndex(of: name) else { return nil }
        let files = EmbeddedFolder.mappings[place].unpacked.filter { withExamples || !$0.path.hasPrefix("examples/") }
        // The build refuses a catalogue that does not assemble.
        return try? MappingFiles(name: name, files: files)
    }

    /// Whether a user who wrote `nameOrPath` means a folder: it contains a `/` or is `.` or `..`.
    static func isFolder(_ nameOrPath: String) -> Bool {
        nameOrPath.contains("/") || nameOrPath == "." || nameOrPath == ".."
    }

    /// The mapping that a user named: a folder when `nameOrPath` contains a `/` or is `.` or `..`, else a name of the
    /// catalogue. The examples of a folder are always read, and what is wrong with them told.
    ///
    /// - Throws: ``MappingFilesError``, with the nearest catalogue name when the name is unknown.
    package static func resolve(
        _ nameOrPath: String, withExamples: Bool = true
    ) throws(MappingFilesError) -> MappingFiles {
        if isFolder(nameOrPath) { return try MappingFiles.load(directory: nameOrPath) }
        if let files = files(of: nameOrPath, withExamples: withExamples) { return files }
        switch FileSystem.target(nameOrPath).map({ $0.st_mode & S_IFMT == S_IFDIR }) {
        case true?: throw .folderWithoutSlash(nameOrPath)
        case false?: throw .fileWithoutSlash(nameOrPath)
        case nil: throw .unknownName(nameOrPath, nearest: NearestName.of(nameOrPath, among: names))
        }
    }
}
