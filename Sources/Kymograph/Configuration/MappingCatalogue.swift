/// The mappings that are compiled into the binary: every folder of the repository's `mappings/`.
public enum MappingCatalogue {
    /// Names of the mappings, in byte order.
    public static let names: [String] = EmbeddedMapping.all.map { $0.name.description }

    /// The mapping called `name`, or nil; names are case-sensitive.
    public static func files(of name: String) -> MappingFiles? {
        guard let place = names.firstIndex(of: name) else { return nil }
        let files = EmbeddedMapping.all[place].files.map { (path: $0.path.description, bytes: $0.bytes) }
        // The build refuses a catalogue that does not assemble.
        return try? MappingFiles(name: name, files: files)
    }

    /// Whether a user who wrote `nameOrPath` means a folder: it contains a `/` or is `.` or `..`.
    static func isFolder(_ nameOrPath: String) -> Bool {
        nameOrPath.contains("/") || nameOrPath == "." || nameOrPath == ".."
    }

    /// The mapping that a user named: a folder when `nameOrPath` contains a `/` or is `.` or `..`, else a name of the
    /// catalogue.
    ///
    /// - Throws: ``MappingFilesError``, with the nearest catalogue name when the name is unknown.
    public static func resolve(_ nameOrPath: String) throws(MappingFilesError) -> MappingFiles {
        if isFolder(nameOrPath) { return try MappingFiles.load(directory: nameOrPath) }
        if let files = files(of: nameOrPath) { return files }
        throw .unknownName(nameOrPath, nearest: NearestName.of(nameOrPath, among: names))
    }
}
