import CKymographLinux
import Glibc
package import KymographCore
import Synchronization

/// Writes bundles to an open descriptor, one per line. Waits while the reader is slow. On a terminal control characters
/// are escaped as in ``PrintableText``: nothing that a device has sent commands it.
package final class StandardOutputSink: BundleSink {
    private struct State: ~Copyable, Sendable {
        var pending = PendingBytes()
        var isClosed = false
    }

    private let state = Mutex(State())
    private let descriptor: Int32
    private let name: String
    private let isTerminal: Bool

    /// Writes to `descriptor` (1: standard output), which stays open. Makes the process ignore SIGPIPE, so that a
    /// reader that has gone is a ``SinkError`` of kind ``SinkError/Kind/brokenPipe``.
    package init(descriptor: Int32 = 1) {
        kymo_ignore_broken_pipe()
        self.descriptor = descriptor
        name = descriptor == 1 ? "standard output" : "descriptor \(descriptor)"
        isTerminal = isatty(descriptor) == 1
    }

    /// Takes a bundle; writes when 64 KiB have come together.
    ///
    /// - Throws: ``SinkError`` when the bundle was not taken: the sink is closed, or the reader has gone.
    package func write(_ bytes: ByteView) throws(SinkError) {
        try state.withLock { (state) throws(SinkError) in
            guard !state.isClosed else { throw .closed(name) }
            if state.pending.count >= PendingBytes.limit { try state.pending.drain(to: descriptor, name: name) }
            guard isTerminal else { return state.pending.appendLine(bytes) }
            PrintableText.lines(bytes.array).withByteView { state.pending.appendLine($0) }
        }
    }

    /// Writes what waits.
    ///
    /// - Throws: ``SinkError`` when the reader has gone.
    package func flush() throws(SinkError) {
        try state.withLock { (state) throws(SinkError) in
            try state.pending.drain(to: descriptor, name: name)
        }
    }

    /// Writes what waits; more cannot be known of a pipe.
    ///
    /// - Throws: ``SinkError`` when the reader has gone.
    package func synchronise() throws(SinkError) { try flush() }

    /// Writes what waits.
    ///
    /// - Throws: ``SinkError`` when the reader has gone.
    package func tick(_ now: Instant) throws(SinkError) {
        try flush()
    }

    /// Writes what waits and takes no more.
    ///
    /// - Throws: ``SinkError`` when the reader has gone.
    package func close() throws(SinkError) {
        try flush()
        state.withLock { $0.isClosed = true }
    }
}
