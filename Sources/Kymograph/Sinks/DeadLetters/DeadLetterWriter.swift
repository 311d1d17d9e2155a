import Glibc
package import KymographCore
import Synchronization

/// Appends what could not become a reading to a file, as NDJSON
/// `{"reason", "source", "receivedAt", "bytes" (base64), "detail"}`.
///
/// ``append(reason:source:receivedAt:bytes:detail:)`` may be called from every thread and never fails: a dead letter
/// that the file does not take waits in a bounded buffer, and is counted as lost when that is full.
package final class DeadLetterWriter: Sendable {
    /// How many dead letters there were.
    package struct Counts: Hashable, Sendable {
        /// Taken: written, or waiting to be.
        package var taken: UInt64 = 0
        /// Not taken, because the buffer was full of what the file did not take.
        package var lost: UInt64 = 0
    }

    private struct State: ~Copyable, Sendable {
        /// Nil until the file is opened.
        var descriptor: Descriptor?
        var pending = PendingBytes()
        var counts = Counts()
        var unreported: SinkError?
        var isFailing = false
    }

    /// Bytes that wait at most while the file takes none: 1 MiB.
    package static let maxPendingBytes = 1 << 20

    /// By raw value.
    private static let reasonNames = (0..<Rejection.placeCount).map { Rejection(rawValue: UInt8($0))?.name ?? "" }

    private let state = Mutex(State())
    private let name: String
    /// The file that is made with the first letter; nil when it is there from the beginning.
    private let fileToMake: String?

    /// Opens `path` for appending, or creates it with mode 0600. A last line that a crash cut off is ended first. With
    /// `seal` the file is encrypted, and what a crash has torn is cut off.
    ///
    /// - Throws: ``SinkError`` when it cannot be opened; with `seal`, when it holds something else.
    package init(path: String, seal: StoreSeal? = nil) throws(SinkError) {
        (name, fileToMake) = ("the dead-letter file \(path)", nil)
        let readable = FileSystem.open(path, O_RDWR | O_APPEND | O_CREAT, mode: 0o600)
        // A pipe or a device may be writable only.
        let raw = readable == -EACCES ? FileSystem.open(path, O_WRONLY | O_APPEND | O_CREAT, mode: 0o600) : readable
        guard raw >= 0 else { throw .system(-raw, "open", name) }
        let file = Descriptor(raw)
        if let seal {
            try begin(file, path, seal)
            return
        }
        let needsLineEnd = DeadLetterWriter.endsInsideLine(raw)
        state.withLock { state in
            state.descriptor = file
            if needsLineEnd { state.pending.writer.append("\n") }
        }
    }

    /// Goes on with the encrypted file, or begins it.
    private func begin(_ file: Descriptor, _ path: String, _ seal: StoreSeal) throws(SinkError) {
        let isEmpty = FileSystem.status(file.raw).map { $0.st_mode & S_IFMT != S_IFREG || $0.st_size == 0 } ?? true
        var sealer: ChunkSealer? = try SinkError.ofSeal { () throws(SealError) in
            if isEmpty { return try ChunkSealer(seal, .grows) }
            return try SealedFile.continued(file, path, seal)
        }
        state.withLock { state in
            state.descriptor = file
            if let sealer = sealer.take() { state.pending.seal(by: sealer) }
        }
    }

    /// Makes the new file `path`, with mode 0600, when there is a letter for it.
    package init(making path: String) { (name, fileToMake) = ("the file of rejected readings \(path)", path) }

    /// How many dead letters there were.
    package var counts: Counts { state.withLock { $0.counts } }

    /// The error of the present trouble with the file, once: nil until there is another.
    package func takeError() -> SinkError? {
        state.withLock { state in
            defer { state.unreported = nil }
            return state.unreported
        }
    }

    /// Takes one dead letter; writes when 64 KiB have come together. What comes less often is written by ``flush()``,
    /// which the owner calls now and then.
    package func append(reason: Rejection, source: String, receivedAt: Instant, bytes: ByteView, detail: String) {
        state.withLock { state in
            if state.pending.count >= PendingBytes.limit { write(&state) }
            guard state.pending.count < DeadLetterWriter.maxPendingBytes else {
                state.counts.lost += 1
                return
            }
            state.pending.writer.append(
                deadLetter: DeadLetterWriter.reasonNames[Int(reason.rawValue)], source: source,
                receivedAt: receivedAt, bytes: bytes, detail: detail)
            state.counts.taken += 1
        }
    }

    /// Writes what waits. An error is kept for ``takeError()``.
    package func flush() {
        state.withLock { write(&$0) }
    }

    /// Writes what waits and makes it durable.
    ///
    /// - Throws: ``SinkError`` when something could not be written; may be called again.
    package func close() throws(SinkError) {
        let descriptor = try state.withLock { (state) throws(SinkError) in
            try drain(&state)
            return state.descriptor
        }
        guard let descriptor else { return }
        // A pipe or a device cannot be synchronised, and need not be.
        guard fdatasync(descriptor.raw) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw SinkError(kind: .syncFailed, message: "cannot make \(name) durable: \(ErrorText.of(errno))")
        }
    }

    private func write(_ state: inout State) {
        do throws(SinkError) {
            try drain(&state)
            state.isFailing = false
        } catch {
            if !state.isFailing { state.unreported = error }
            state.isFailing = true
        }
    }

    private func drain(_ state: inout State) throws(SinkError) {
        guard state.pending.count > 0 else { return }
        if state.descriptor == nil, let path = fileToMake {
            let raw = FileSystem.open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, mode: 0o600)
            guard raw >= 0 else {
                let error = SinkError.system(-raw, "create", name)
                throw SinkError(kind: error.kind, message: "\(error.message); --dead-letter names another")
            }
            state.descriptor = Descriptor(raw)
        }
        guard let descriptor = state.descriptor else { return }
        try state.pending.drain(to: descriptor.raw, name: name)
    }

    private static func endsInsideLine(_ raw: Int32) -> Bool {
        guard let status = FileSystem.status(raw), status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return false
        }
        guard let last = FileSystem.byte(raw, at: Int(status.st_size) - 1) else { return false }
        return last != 0x0A
    }
}
