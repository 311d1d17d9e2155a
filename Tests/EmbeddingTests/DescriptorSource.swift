import Glibc
import Kymograph

/// What a descriptor of the program gives, such as the output of a process that it has started: `descriptor: 5`.
struct DescriptorSource: SourceAddress {
    var raw: Int32

    static let descriptor = SourceDescriptor(
        key: "descriptor", form: "number", about: "Open descriptor", capabilities: [.framing, .ends]
    ) { (text) throws(SettingProblem) in
        guard let raw = Int32(text), raw >= 0 else {
            throw SettingProblem(message: "'\(text)' is no descriptor", advice: "write its number")
        }
        return DescriptorSource(raw: raw)
    }

    /// In messages, summaries and dead letters.
    var name: String { "descriptor \(raw)" }

    func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let copy = fcntl(raw, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .system(errno, "read", name) }
        return OpenedSource(self, Descriptor(copy), .stream)
    }
}
