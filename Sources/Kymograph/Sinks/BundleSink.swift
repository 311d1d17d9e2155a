package import KymographCore
import Synchronization

/// Where bundles go as text, each in a line. Called as ``BlockSink`` is, and with the same duties.
package protocol BundleSink: AnyObject, Sendable {
    /// Takes one bundle, or a block of NDJSON. A newline is added when it does not end with one.
    func write(_ bytes: ByteView) throws(SinkError)

    /// Gives everything taken so far to the system.
    func flush() throws(SinkError)

    /// Gives everything taken so far to the system, and makes it durable where it is a file.
    func synchronise() throws(SinkError)

    /// Does what is due at `now`, on a clock that is never set (``MonotonicClock``): writes what waits, or begins
    /// another file. To be called about once a second.
    func tick(_ now: Instant) throws(SinkError)

    /// Writes everything, makes it durable where it is a file, and takes no more. May be called again after an error.
    func close() throws(SinkError)

    /// Ends files by `limits` from here on. From any thread. Default: there are no files.
    func follow(_ limits: RotationLimits)
}

extension BundleSink {
    /// There are no files.
    package func follow(_ limits: RotationLimits) {}
}

/// Makes a bundle, or lines of NDJSON, of each block of entries for a ``BundleSink``.
package final class BundleWriter: BlockSink {
    private let sink: any BundleSink
    private let assembler = Mutex(BundleAssembler())

    /// Writes to `sink`.
    package init(_ sink: any BundleSink) { self.sink = sink }

    /// Takes the entries of one block.
    ///
    /// - Throws: ``SinkError`` when the sink below cannot.
    package func write(_ block: ByteView) throws(SinkError) -> Int? {
        try assembler.withLock { (assembler) throws(SinkError) in
            guard let bundle = assembler.text(of: block) else { return nil }
            try sink.write(bundle)
            return bundle.count
        }
    }

    /// Gives everything taken so far to the system.
    ///
    /// - Throws: ``SinkError`` when the sink below cannot.
    package func flush() throws(SinkError) { try sink.flush() }

    /// Gives everything taken so far to the system, and makes it durable where it is a file.
    ///
    /// - Throws: ``SinkError`` when the sink below cannot.
    package func synchronise() throws(SinkError) { try sink.synchronise() }

    /// Does what is due at `now`.
    ///
    /// - Throws: ``SinkError`` when the sink below cannot.
    package func tick(_ now: Instant) throws(SinkError) { try sink.tick(now) }

    /// Writes everything and takes no more.
    ///
    /// - Throws: ``SinkError`` when the sink below cannot.
    package func close() throws(SinkError) { try sink.close() }

    /// Ends files by `limits` from here on.
    package func follow(_ limits: RotationLimits) { sink.follow(limits) }
}
