import Glibc
import Kymograph
import KymographCore
import Synchronization

/// A file with a line of CSV for each resource, with its type, id and size: `index: /var/lib/study/index.csv`.
struct IndexFile: SinkAddress {
    var path = ""
    var separator = ","

    static let descriptor = SinkDescriptor(
        key: "index",
        place: .single(
            "index", "file", "File that gets a line of CSV for each resource",
            read: { (text, index) throws(SettingProblem) in
                guard !text.isEmpty else {
                    throw SettingProblem(message: "the value is empty", advice: "write a path, such as ./index.csv")
                }
                index.path = text
            },
            shown: { $0.path }),
        settings: [
            .choice(
                "separator", \.separator, [("comma", ","), ("tab", "\t")], "What separates the columns of an index")
        ],
        start: IndexFile())

    /// With the key, its name in messages, and the one under which progress is kept.
    var text: String { path }

    func open(_ opening: SinkOpening) throws(SinkError) -> OpenedSink {
        .writer(try IndexWriter(self, name: opening.name))
    }
}

/// Appends lines to the file.
private final class IndexWriter: BlockSink {
    private struct State: ~Copyable, Sendable {
        var index = EntryIndex()
        var pending = PendingBytes()
    }

    private let state = Mutex(State())
    private let file: Descriptor
    private let name: String
    private let separator: String

    init(_ index: IndexFile, name: String) throws(SinkError) {
        // Safe: Swift lends the path as a C string for the call.
        let raw = unsafe Glibc.open(index.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        guard raw >= 0 else { throw .system(errno, "open", name) }
        (file, self.name, separator) = (Descriptor(raw), name, index.separator)
    }

    func write(_ block: ByteView) throws(SinkError) -> Int? {
        try state.withLock { (state) throws(SinkError) in
            guard let entries = state.index.read(block) else { return nil }
            // What it does not take may be given again: so it fails before it takes anything.
            if state.pending.count >= PendingBytes.limit { try state.pending.drain(to: file.raw, name: name) }
            let before = state.pending.count
            for number in 0..<entries.count {
                let entry = entries[number]
                guard !entry.kind.isBare, !entry.isUnwritten else { continue }
                let columns = [entry.type.string, entry.id.string, "\(entry.body.count)"]
                Array(columns.joined(separator: separator).utf8).withByteView { state.pending.appendLine($0) }
            }
            return state.pending.count - before
        }
    }

    func flush() throws(SinkError) {
        try state.withLock { (state) throws(SinkError) in try state.pending.drain(to: file.raw, name: name) }
    }

    func synchronise() throws(SinkError) {
        try flush()
        guard fdatasync(file.raw) == 0 else {
            throw SinkError(kind: .syncFailed, message: "cannot make \(name) durable: end the process, check the disk")
        }
    }

    func tick(_ now: Instant) throws(SinkError) { try flush() }

    func close() throws(SinkError) { try synchronise() }
}
