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

/// Notices changes of the mappings' files and of the configuration file by looking at their stamps again and again.
///
/// Looking needs no descriptor on the file, so that it works for editors that put a new file in the place of the old
/// one, for folders behind links that are exchanged, and on network file systems; notifications (inotify) fail for
/// each of these.
package struct MappingWatch: Sendable {
    private let references: [MappingReference]
    /// What these are read from; in a folder other files may take their place.
    private var files: [String]
    /// The files of the configuration, as they were at the start.
    private let configuration: [(path: String, stamp: FileStamp?)]
    /// Of what was read last.
    private var read: [FileStamp?]
    /// At the last look.
    private var seen: [FileStamp?]

    /// Watches the folders and files that `settings` name as mappings; those of the catalogue never change. Make it
    /// before they are read, so that no change goes unnoticed. `configuration` is the path of the configuration file;
    /// nil where it is none, and only the files that it includes are watched.
    package init(_ settings: PipelineSettings, configuration: String?) {
        references = settings.listeningSources.flatMap { settings.references(of: $0) }
        files = MappingWatch.files(of: references)
        let paths = settings.configurationFiles.dropFirst(configuration == nil ? 1 : 0)
        self.configuration = paths.map { ($0, FileStamp($0)) }
        read = files.map(FileStamp.init)
        seen = read
    }

    /// The files of `references`, each once.
    private static func files(of references: [MappingReference]) -> [String] {
        var files: [String] = []
        for file in references.flatMap(\.watchedFiles) where !files.contains(file) { files.append(file) }
        return files
    }

    /// Whether there is nothing that could change.
    var isEmpty: Bool { files.isEmpty }

    /// Looks at the files; gives one that is not as it was when it was read, once it has stayed the same for two looks:
    /// until then somebody may be writing it.
    mutating func settledChange() -> String? {
        let now = files.map(FileStamp.init)
        defer { seen = now }
        guard now == seen else { return nil }
        return files.indices.first { now[$0] != read[$0] }.map { files[$0] }
    }

    /// Notes that the files are going to be read as they are now.
    mutating func noteReading() {
        files = MappingWatch.files(of: references)
        read = files.map(FileStamp.init)
        seen = read
    }

    /// A file of the configuration that is not as it was at the start.
    var changedConfiguration: String? {
        configuration.first { FileStamp($0.path) != $0.stamp }?.path
    }
}
