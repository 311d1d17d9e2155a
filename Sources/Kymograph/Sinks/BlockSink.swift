package import KymographCore

/// Where blocks of entries go that are brought to it. Called once per block, from any thread, one call at a time per
/// sink.
///
/// ``write(_:)`` either takes the block or throws. What it took is written by a later call even if one fails in
/// between, without loss or duplicate while the process runs; what it did not take may be given again.
package protocol BlockSink: AnyObject, Sendable {
    /// Takes the entries of one block, as ``EntryWriter`` makes it, in whatever form the sink has: an ``EntryIndex``
    /// finds them. Gives how many bytes they are in that form; nil when it is no block of entries that this version
    /// knows.
    func write(_ block: ByteView) throws(SinkError) -> Int?

    /// Gives everything taken so far to the system.
    func flush() throws(SinkError)

    /// Gives everything taken so far to the system, and makes it durable where that is possible: what was taken before
    /// does not come again after a crash.
    func synchronise() throws(SinkError)

    /// Does what is due at `now`, on a clock that is never set (``MonotonicClock``): writes what waits, or begins
    /// another file. To be called about once a second.
    func tick(_ now: Instant) throws(SinkError)

    /// Writes everything, makes it durable where that is possible, and takes no more. May be called again after an
    /// error.
    func close() throws(SinkError)

    /// Ends files by `limits` from here on. From any thread. Default: there are no files.
    func follow(_ limits: RotationLimits)
}

extension BlockSink {
    /// There are no files.
    package func follow(_ limits: RotationLimits) {}
}
