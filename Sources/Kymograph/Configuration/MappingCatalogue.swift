/// The mappings that are compiled into the binary: every folder of the repository's `mappings/`.
package enum MappingCatalogue {
    /// Names of the mappings, in byte order.
    package static let names: [String] = EmbeddedMapping.all.map { $0.name.description }

    /// The mapping called `name`, or nil; names are case-sensitive. Examples are most of it, and few need them.
    package static func files(of name: String, withExamples: Bool = true) -> MappingFiles? {
        guard let place = names.firstIndex(of: name) else { return nil }
        var files: [(path: String, bytes: [UInt8])] = []
        for file in EmbeddedMapping.all[place].files {
            let path = file.path.description
            if withExamples || !path.hasPrefix("examples/") { files.append((path, file.bytes)) }
        }
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
        throw .unknownName(nameOrPath, nearest: NearestName.of(nameOrPath, among: names))
    }
}
