package import KymographCore

/// Bytes that were taken and not yet written. A failed or short write leaves the rest in place for the next attempt.
package struct PendingBytes: ~Copyable, Sendable {
    /// What is not written, from `sent` on.
    var writer = ByteWriter(capacity: PendingBytes.limit + 4096)
    private var sent = 0

    /// Nothing waits.
    package init() {}

    /// Bytes after which a sink writes.
    package static let limit = 65_536

    /// Bytes that wait.
    package var count: Int { writer.count - sent }

    /// Takes `bytes` and ends them with a newline.
    package mutating func appendLine(_ bytes: ByteView) {
        appendLine(bytes, from: 0)
    }

    /// Takes `bytes` as a line of which as much as `descriptor` takes at once is written without a copy; nothing may
    /// wait before it. Returns how many bytes were written. What the system refuses waits, and the next
    /// ``drain(to:name:)`` tells why.
    mutating func passLine(_ bytes: ByteView, to descriptor: Int32) -> Int {
        precondition(count == 0)
        var written = 0
        while written < bytes.count {
            let size = FileSystem.write(descriptor, bytes[written..<bytes.count])
            if size <= 0 { break }
            written += size
        }
        appendLine(bytes, from: written)
        return written
    }

    private mutating func appendLine(_ bytes: ByteView, from start: Int) {
        writer.append(bytes[start..<bytes.count])
        if bytes.count == 0 || bytes[bytes.count - 1] != 0x0A { writer.append(UInt8(0x0A)) }
    }

    /// Writes everything to `descriptor`; `name` is for the message.
    ///
    /// - Throws: ``SinkError`` that names the sink; what was not written stays.
    package mutating func drain(to descriptor: Int32, name: String) throws(SinkError) {
        while count > 0 {
            let size = FileSystem.write(descriptor, writer.view(sent..<writer.count))
            guard size >= 0 else { throw .system(Int32(-size), "write to", name) }
            sent += size
        }
        writer.removeAll()
        sent = 0
    }
}
