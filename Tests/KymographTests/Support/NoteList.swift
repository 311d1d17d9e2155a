import Synchronization

/// Messages, from any thread.
final class NoteList: Sendable {
    private let notes = Mutex<[String]>([])

    func add(_ text: String) { notes.withLock { $0.append(text) } }

    var all: [String] { notes.withLock { $0 } }
}
