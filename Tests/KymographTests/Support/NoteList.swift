import Kymograph
import Synchronization

/// Messages, from any thread.
final class NoteList: Sendable {
    private let notes = Mutex<[String]>([])

    func add(_ text: String) { notes.withLock { $0.append(text) } }

    @Sendable func take(_ entry: LogEntry) { add(entry.text) }

    var all: [String] { notes.withLock { $0 } }
}
