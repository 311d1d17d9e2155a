import CKymographLinux
import Glibc
import Synchronization

/// Answers commands on the Unix socket of a data directory, one after the other, on a thread of its own. Only the
/// directory's owner can connect.
final class ControlServer: Sendable {
    private let descriptor: Descriptor
    private let file: SocketFile
    private let stopEvent: Descriptor
    private let answer: @Sendable ([UInt8], Asker) -> Reply
    /// Streams under way.
    private let streams = Atomic(0)
    private let isRemoved = Atomic(false)

    /// Who has asked.
    struct Asker: Sendable {
        /// The connection.
        var client: Descriptor
        /// Readable from ``stop()`` on.
        var stopEvent: Descriptor
        /// Which process, for the log.
        var name: String { PeerCredentials(client.raw)?.text ?? "a process that is not known" }
    }

    /// What becomes of a request.
    enum Reply {
        /// A line is the answer.
        case line([UInt8])
        /// Behind a line more follows, on a thread of its own: the closure has the connection.
        case stream([UInt8], @Sendable () -> Void)
    }

    /// Listens in `directory`; `answer` says what becomes of a line.
    init(
        directory: String, answer: @escaping @Sendable ([UInt8], Asker) -> Reply
    ) throws(SourceError) {
        (descriptor, file) = try SocketFile.bind(
            ControlSocket.path(in: directory), type: Int32(SOCK_STREAM.rawValue), mode: 0o600)
        let raw = kymo_event_create()
        guard raw >= 0 else { throw .system(-raw, "create", "an event for stopping") }
        stopEvent = Descriptor(raw)
        self.answer = answer
    }

    /// One that never ran leaves no socket, at which others would wait for an answer.
    deinit { remove() }

    /// Takes the socket away, once: by the second time it may be that of the next process.
    private func remove() {
        if !isRemoved.exchange(true, ordering: .relaxed) { file.remove() }
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
            serve(Descriptor(raw))
        }
    }

    private func serve(_ client: Descriptor) {
        guard let line = ControlSocket.readLine(client) else { return }
        switch answer(line, Asker(client: client, stopEvent: stopEvent)) {
        case .line(let line): ControlSocket.write(line, to: client)
        case .stream(let line, let body):
            ControlSocket.write(line, to: client)
            streams.add(1, ordering: .relaxed)
            WorkerThread.start("kymo-tap") { [self] in
                body()
                streams.subtract(1, ordering: .relaxed)
            }
        }
    }

    /// Takes the socket away and ends ``run()``. What streams send last has half a second.
    func stop() {
        remove()
        _ = kymo_event_raise(stopEvent.raw)
        for _ in 0..<500 where streams.load(ordering: .relaxed) > 0 { Wait.milliseconds(1) }
    }
}
