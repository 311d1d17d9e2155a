import Glibc
import Kymograph

/// A named pipe that programs write to: `fifo: /run/kymo/readings`.
struct FIFOSource: SourceAddress {
    var path: String

    static let descriptor = SourceDescriptor(
        key: "fifo", form: "path", about: "Named pipe", capabilities: [.framing]
    ) { (text) throws(SettingProblem) in
        guard !text.isEmpty else {
            throw SettingProblem(message: "the value is empty", advice: "write a path, such as ./kymo.fifo")
        }
        return FIFOSource(path: text)
    }

    /// In messages, summaries and dead letters.
    var name: String { "fifo \(path)" }

    func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        OpenedSource(
            self, try openPipe(), .returningStream { [self] () throws(SourceError) in try openPipe() })
    }

    private func openPipe() throws(SourceError) -> Descriptor {
        // Safe: Swift lends the path as a C string for the calls.
        guard unsafe mkfifo(path, 0o660) == 0 || errno == EEXIST else { throw .system(errno, "make", name) }
        // For writing, too: the pipe then has no end when a writer closes it, and the next one goes on.
        let raw = unsafe Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard raw >= 0 else { throw .system(errno, "open", name) }
        return Descriptor(raw)
    }
}
