/// What a store may use. Times are in nanoseconds, sizes in bytes.
public struct StoreSettings: Sendable {
    /// The directory; nil for the usual one.
    public var directory: String?
    /// Whether nothing is kept on disk. Settings made in code keep nothing unless they say so.
    public var isEphemeral = true
    /// Whether ``isEphemeral`` was stated, and is no default.
    public var isStated = false
    /// Most bytes of the database, old windows and bundles that wait for sinks together.
    public var maxBytes = 16 << 30
    /// Age, by the time of their readings, after which closed windows are dropped; 0 means never.
    public var archiveAge: Int64 = 30 * 86_400 * 1_000_000_000
    /// Least time between two commits.
    public var commitInterval: Int64 = 20_000_000

    /// The defaults.
    public init() {}
}
