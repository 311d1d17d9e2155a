/// Notices changes of files by looking at their stamps again and again.
///
/// Looking needs no descriptor on the file, so that it works for editors that put a new file in the place of the old
/// one, for folders behind links that are exchanged, and on network file systems; notifications (inotify) fail for
/// each of these.
struct FileWatch: Sendable {
    private(set) var files: [String]
    /// Of what was read last.
    private var read: [FileStamp?]
    /// At the last look.
    private var seen: [FileStamp?]

    /// Watches `files`. Make it before they are read, so that no change goes unnoticed.
    init(_ files: [String]) {
        self.files = files
        read = files.map(FileStamp.init)
        seen = read
    }

    /// Looks at the files; gives one that is not as it was when it was read, once it has stayed the same for two looks:
    /// until then somebody may be writing it.
    mutating func settledChange() -> String? {
        let now = files.map(FileStamp.init)
        defer { seen = now }
        guard now == seen else { return nil }
        return files.indices.first { now[$0] != read[$0] }.map { files[$0] }
    }

    /// Notes that the files are going to be read as they are now.
    mutating func noteReading() { self = FileWatch(files) }
}
