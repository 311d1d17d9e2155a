package import KymographCore

/// Where bundles go. Called once per bundle, from any thread, one call at a time per sink.
///
/// ``write(_:)`` either takes the bundle or throws. What it took is written by a later call even if one fails in
/// between, without loss or duplicate while the process runs; what it did not take may be given again.
package protocol BundleSink: AnyObject, Sendable {
    /// Takes one bundle, or a block of NDJSON. A newline is added when it does not end with one.
    func write(_ bytes: ByteView) throws(SinkError)

    /// Gives everything taken so far to the system.
    func flush() throws(SinkError)

    /// Gives everything taken so far to the system, and makes it durable where it is a file.
    func synchronise() throws(SinkError)

    /// Does what is due at `now`: writes what waits, or begins another file. To be called about once a second.
    func tick(_ now: Instant) throws(SinkError)

    /// Writes everything, makes it durable where it is a file, and takes no more. May be called again after an error.
    func close() throws(SinkError)
}
