import CKymographLinux
import Glibc

/// Answers commands on the Unix socket of a data directory, one after the other, on a thread of its own. Only the
/// directory's owner can connect.
final class ControlServer: Sendable {
    private let descriptor: Descriptor
    private let file: SocketFile
    private let stopEvent: Descriptor
    private let answer: @Sendable ([UInt8]) -> [UInt8]

    /// Listens in `directory`; `answer` makes a line of a line.
    init(directory: String, answer: @escaping @Sendable ([UInt8]) -> [UInt8]) throws(SourceError) {
        (descriptor, file) = try SocketFile.bind(
            ControlSocket.path(in: directory), type: Int32(SOCK_STREAM.rawValue), mode: 0o600)
        let raw = kymo_event_create()
        guard raw >= 0 else { throw .system(-raw, "create", "an event for stopping") }
        stopEvent = Descriptor(raw)
        self.answer = answer
    }

    /// Works until it is stopped.
    func run() {
        while true {
            let ready = kymo_wait_either(descriptor.raw, stopEvent.raw, -1)
            if ready & 2 != 0 { break }
            let raw = kymo_accept(descriptor.raw)
            guard raw >= 0 else {
                // Out of descriptors, perhaps: whoever waits is still there later.
                if -raw != EAGAIN { Wait.milliseconds(50) }
                continue
            }
            let client = Descriptor(raw)
            if let line = ControlSocket.readLine(client) { ControlSocket.write(answer(line), to: client) }
        }
    }

    /// Takes the socket away and ends ``run()``.
    func stop() {
        file.remove()
        _ = kymo_event_raise(stopEvent.raw)
    }
}
