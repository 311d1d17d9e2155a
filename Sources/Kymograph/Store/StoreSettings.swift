/// What a store may use. Times are in nanoseconds, sizes in bytes.
public struct StoreSettings: Sendable {
    /// The directory; nil for the usual one.
    public var directory: String?
    /// What is kept on disk.
    public enum Keeping: Hashable, Sendable {
        /// What the sources and sinks suggest, see ``PipelineSettings/settleStore(environment:)``.
        case auto
        /// Nothing: what is in memory is lost when the process dies.
        case nothing
        /// Everything that must outlive the process.
        case everything
    }

    /// What is kept. With ``Keeping/auto`` a pipeline made in code keeps nothing.
    public var keeping = Keeping.auto
    /// Most bytes of the database, old windows and bundles that wait for sinks together.
    public var maxBytes = 16 << 30
    /// Age, since their last change, after which closed windows are dropped; 0 means never.
    public var archiveAge: Int64 = 30 * 86_400 * 1_000_000_000
    /// Least time between two commits.
    public var commitInterval: Int64 = 20_000_000

    /// The defaults.
    public init() {}
}
