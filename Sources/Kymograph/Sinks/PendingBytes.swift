package import KymographCore

/// Bytes that were taken and not yet written. A failed or short write leaves the rest in place for the next attempt.
package struct PendingBytes: ~Copyable, Sendable {
    /// What is not written, from `sent` on; where chunks are sealed, what is not sealed yet.
    var writer = ByteWriter(capacity: PendingBytes.limit + 4096)
    private var sent = 0
    /// Seals what is written; nil where it is written as it is.
    private var sealer: ChunkSealer?
    /// What is sealed and not written, from `sent` on.
    private var sealed: [UInt8] = []
    /// Bytes that the system has taken, ever.
    private(set) var total = 0

    /// Nothing waits.
    package init() {}

    /// Bytes after which a sink writes.
    package static let limit = 65_536

    /// Bytes that wait.
    package var count: Int { writer.count + sealed.count - sent }

    /// Whether chunks are sealed.
    var isSealed: Bool { sealer != nil }

    /// Seals what is taken from here on; nothing may wait.
    mutating func seal(by sealer: consuming ChunkSealer) {
        precondition(count == 0)
        self.sealer = consume sealer
    }

    /// Takes `bytes` and ends them with a newline.
    package mutating func appendLine(_ bytes: ByteView) {
        appendLine(bytes, from: 0)
    }

    /// Takes `bytes` as a line of which as much as `descriptor` takes at once is written without a copy; nothing may
    /// wait before it, and nothing be sealed. What the system refuses waits, and the next ``drain(to:name:)`` tells
    /// why.
    mutating func passLine(_ bytes: ByteView, to descriptor: Int32) {
        precondition(count == 0 && sealer == nil)
        var written = 0
        while written < bytes.count {
            let size = FileSystem.write(descriptor, bytes[written..<bytes.count])
            if size <= 0 { break }
            written += size
        }
        total += written
        appendLine(bytes, from: written)
    }

    private mutating func appendLine(_ bytes: ByteView, from start: Int) {
        writer.append(bytes[start..<bytes.count])
        if bytes.count == 0 || bytes[bytes.count - 1] != 0x0A { writer.append(UInt8(0x0A)) }
    }

    /// Writes everything to `descriptor`; `name` is for the message.
    ///
    /// - Throws: ``SinkError`` that names the sink; what was not written stays.
    package mutating func drain(to descriptor: Int32, name: String) throws(SinkError) {
        if sealer != nil { return try drainSealed(to: descriptor, name: name) }
        while count > 0 {
            let size = FileSystem.write(descriptor, writer.view(sent..<writer.count))
            guard size >= 0 else { throw .system(Int32(-size), "write to", name) }
            sent += size
            total += size
        }
        writer.removeAll()
        sent = 0
    }

    // MARK: Sealed

    private mutating func drainSealed(to descriptor: Int32, name: String) throws(SinkError) {
        try writeSealed(to: descriptor, name: name)
        guard writer.count > 0 else { return }
        try sealWaiting(name)
        try writeSealed(to: descriptor, name: name)
    }

    /// Seals what waits as the last chunk; nothing is taken afterwards. Nothing when nothing is sealed.
    ///
    /// - Throws: ``SinkError`` when no more can be sealed for now; may be called again.
    mutating func end(_ name: String) throws(SinkError) {
        guard sealer != nil else { return }
        try sealWaiting(name, isLast: true)
    }

    private mutating func sealWaiting(_ name: String, isLast: Bool = false) throws(SinkError) {
        guard let chunk = sealer?.chunk(writer.view, isLast: isLast) else {
            throw SinkError(
                kind: .diskFull,
                message: "cannot encrypt what goes to \(name): kymo.keys in the data directory could not be written; "
                    + "make room")
        }
        sealed += chunk
        writer.removeAll()
    }

    private mutating func writeSealed(to descriptor: Int32, name: String) throws(SinkError) {
        while sent < sealed.count {
            let size = sealed.withByteView { FileSystem.write(descriptor, $0[sent..<$0.count]) }
            guard size >= 0 else { throw .system(Int32(-size), "write to", name) }
            sent += size
            total += size
        }
        sealed.removeAll(keepingCapacity: true)
        sent = 0
    }
}
