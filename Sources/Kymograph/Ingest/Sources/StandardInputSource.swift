import Glibc

/// An open file descriptor: 0 is standard input. The lane reads a copy, and leaves the process's own open.
package struct StandardInputSource: SourceAddress {
    /// The descriptor.
    package var descriptor: Int32

    /// Makes a source.
    package init(descriptor: Int32 = 0) { self.descriptor = descriptor }

    /// What all such sources have in common.
    package static let descriptor = SourceDescriptor(
        key: "stdin", form: "`true`", about: "Standard input",
        flag: .toggle(help: "Read standard input, and end with it."), capabilities: [.framing, .ends]
    ) { (text) throws(SettingProblem) in
        guard text == "true" else {
            throw SettingProblem(message: "'\(text)' is not true", advice: "write true, or remove the source")
        }
        return StandardInputSource()
    }

    /// `stdin`, or `descriptor 5`.
    package var name: String { descriptor == 0 ? "stdin" : "descriptor \(descriptor)" }

    /// Copies the descriptor.
    ///
    /// - Throws: ``SourceError`` when there is no such descriptor, or none is left for the copy.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .system(errno, "read", name) }
        return OpenedSource(self, Descriptor(copy), .stream)
    }
}

extension SourceAddress where Self == StandardInputSource {
    /// An open file descriptor: 0 is standard input.
    package static func standardInput(descriptor: Int32) -> StandardInputSource {
        StandardInputSource(descriptor: descriptor)
    }
}
