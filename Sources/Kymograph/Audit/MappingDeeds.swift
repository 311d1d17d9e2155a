import KymographCore

/// What the audit says of mappings: which content readings are mapped by, and since when.
enum MappingDeeds {
    /// Sentences that name `files` with the SHA-256 of each: an instance begins with them.
    static func begin(_ files: [MappingFile]) -> [String] {
        AuditDeed.parts(
            "files", first: "readings are mapped by the files",
            files.map { "\($0.name) sha256 \(Digest256.hex(of: $0.bytes))" })
    }

    /// Sentences about what is other in `files` than it was in `former`; empty where nothing is.
    static func changes(from former: [MappingFile], to files: [MappingFile]) -> [String] {
        let changed = files.compactMap { file -> String? in
            let digest = Digest256.hex(of: file.bytes)
            guard let old = former.first(where: { $0.isSame(as: file) }) else {
                return "\(file.name) sha256 \(digest) is used now"
            }
            return old.bytes == file.bytes
                ? nil : "\(file.name) sha256 \(Digest256.hex(of: old.bytes)) is now \(digest)"
        }
        let left = former.filter { old in !files.contains { $0.isSame(as: old) } }
            .map { "\($0.name) sha256 \(Digest256.hex(of: $0.bytes)) is not used any more" }
        let all = changed + left
        return all.isEmpty ? [] : AuditDeed.parts("mapping files", all)
    }
}

extension MappingFile {
    /// Whether it is the file of the same name.
    fileprivate func isSame(as other: MappingFile) -> Bool { name.utf8.elementsEqual(other.name.utf8) }
}
