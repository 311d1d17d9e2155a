import Glibc
import KymographCore

/// What one can tell of a file without reading it, to see whether it is another one or has other content.
struct FileStamp: Equatable {
    private var device: UInt64
    private var number: UInt64
    private var size: Int
    private var modified: [Int]
    private var changed: [Int]

    /// The stamp of what `path` leads to; nil when nothing is there.
    init?(_ path: String) {
        guard let status = FileSystem.target(path) else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        size = Int(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}

/// Notices changes of the mappings' files (``FileWatch``).
package struct MappingWatch: Sendable {
    private let references: [MappingReference]
    /// What these are read from; in a folder other files may take their place.
    private var watch: FileWatch

    /// Watches the folders and files that `settings` name as mappings; those of the catalogue never change. Make it
    /// before they are read, so that no change goes unnoticed.
    package init(_ settings: PipelineSettings) {
        references = settings.listeningSources.flatMap { settings.references(of: $0) }
        watch = FileWatch(MappingWatch.files(of: references))
    }

    /// The files of `references`, each once.
    private static func files(of references: [MappingReference]) -> [String] {
        var files: [String] = []
        for file in references.flatMap(\.watchedFiles) where !files.contains(file) { files.append(file) }
        return files
    }

    /// Whether there is nothing that could change.
    var isEmpty: Bool { watch.files.isEmpty }

    /// Looks at the files; gives one that is not as it was when it was read, once it has stayed the same for two looks.
    mutating func settledChange() -> String? { watch.settledChange() }

    /// Notes that the files are going to be read as they are now.
    mutating func noteReading() { watch = FileWatch(MappingWatch.files(of: references)) }
}
