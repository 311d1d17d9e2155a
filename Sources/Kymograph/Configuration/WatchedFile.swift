import KymographCore
import Synchronization

/// What a file says, which is read again when the file has changed. For any thread.
final class WatchedFile<Value: Sendable>: Sendable {
    /// Reads the file.
    ///
    /// - Throws: ``SettingProblem`` that names its place.
    typealias Load = @Sendable () throws(SettingProblem) -> Value

    /// Where it is.
    let path: String
    private let load: Load
    private let value: Mutex<Value>
    private let watch: Mutex<FileWatch>
    private let changes = Atomic(0)

    /// Reads the file at `path` by `load`.
    ///
    /// - Throws: ``SettingProblem`` as `load` does.
    init(_ path: String, _ load: @escaping Load) throws(SettingProblem) {
        self.path = path
        self.load = load
        watch = Mutex(FileWatch([path]))
        value = Mutex(try load())
    }

    /// What is in use, and the ``generation`` that it has.
    var current: (value: Value, generation: Int) { value.withLock { ($0, changes.load(ordering: .acquiring)) } }

    /// Another number than before when something else is in use.
    var generation: Int { changes.load(ordering: .acquiring) }

    /// Whether the file has changed, and stayed as it is for two looks.
    var hasSettled: Bool { watch.withLock { $0.settledChange() != nil } }

    /// Reads the file, which changes nothing yet.
    ///
    /// - Throws: ``SettingProblem``, also when the file changes meanwhile: it may be half written.
    func read() throws(SettingProblem) -> Value {
        watch.withLock { $0.noteReading() }
        let before = FileStamp(path)
        let read = try load()
        guard FileStamp(path) == before else {
            throw SettingProblem(
                message: "\(path) has changed while it was read", advice: "it is read again once it stays as it is")
        }
        return read
    }

    /// Uses `new` from here on.
    func replace(with new: Value) {
        value.withLock { value in
            value = new
            changes.add(1, ordering: .releasing)
        }
    }
}
