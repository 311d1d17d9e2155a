import KymographCore

/// Bytes that were taken and not yet written. A failed or short write leaves the rest in place for the next attempt.
struct PendingBytes: ~Copyable, Sendable {
    /// What is not written, from `sent` on.
    var writer = ByteWriter(capacity: PendingBytes.limit + 4096)
    private var sent = 0

    /// Bytes after which a sink writes.
    static let limit = 65_536

    /// Bytes that wait.
    var count: Int { writer.count - sent }

    /// Takes `bytes` and ends them with a newline.
    mutating func appendLine(_ bytes: ByteView) {
        writer.append(bytes)
        if bytes.count == 0 || bytes[bytes.count - 1] != 0x0A { writer.append(UInt8(0x0A)) }
    }

    /// Writes everything to `descriptor`; `name` is for the message.
    mutating func drain(to descriptor: Int32, name: String) throws(SinkError) {
        while count > 0 {
            let size = FileSystem.write(descriptor, writer.view(sent..<writer.count))
            guard size >= 0 else { throw .system(Int32(-size), "write to", name) }
            sent += size
        }
        writer.removeAll()
        sent = 0
    }
}
