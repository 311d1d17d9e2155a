/// Where closed windows go, so that late readings find the full content again.
///
/// A reading that is older than everything the archive remembers must not open an empty window: its partial content
/// would replace the full Observation. An archive that drops windows therefore remembers per series how far it did.
public protocol WindowArchive: ~Copyable {
    /// Tells the archive what a series number stands for, before its first window; numbers do not outlive the process.
    mutating func introduce(series: Int, identity: SeriesIdentity)

    /// Keeps `block` as the content of a window, in place of what it kept before.
    mutating func store(series: Int, windowStart: Instant, block: ByteView)

    /// Appends a window's block to `writer`; false when the archive does not have it.
    mutating func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> Bool

    /// The latest start of the windows of `series` that the archive has dropped, or nil when it dropped none.
    func evictedThrough(series: Int) -> Instant?

    /// Bytes kept.
    var storedBytes: Int { get }

    /// Windows dropped so far.
    var evictedWindows: Int { get }
}
