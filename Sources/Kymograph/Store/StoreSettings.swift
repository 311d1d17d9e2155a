/// What a store may use. Times are in nanoseconds, sizes in bytes.
package struct StoreSettings: Sendable {
    /// The directory; nil for the usual one.
    package var directory: String?
    /// What is kept on disk.
    package enum Keeping: Hashable, Sendable {
        /// What the sources and sinks suggest, see ``PipelineSettings/settleStore(environment:)``.
        case auto
        /// Nothing: what is in memory is lost when the process dies.
        case nothing
        /// Everything that must outlive the process.
        case everything
    }

    /// What is kept. With ``Keeping/auto`` a pipeline made in code keeps nothing.
    package var keeping = Keeping.auto
    /// Most bytes of the database, old windows and bundles that wait for sinks together.
    package var maxBytes = 16 << 30
    /// Age, since their last change, after which closed windows are dropped; 0 means never.
    package var archiveAge: Int64 = 30 * 86_400 * 1_000_000_000
    /// Age at which payloads are dropped that gave readings; 0 means that none is kept.
    package var keepRaw: Int64 = 0
    /// The key that encrypts what is on the disk, or none.
    package var encryption = EncryptionSettings()
    /// Least time between two commits.
    package var commitInterval: Int64 = 20_000_000

    /// The defaults.
    package init() {}

    /// Takes over what may change while the store is open.
    mutating func takeLimits(of other: StoreSettings) {
        (maxBytes, archiveAge, commitInterval) = (other.maxBytes, other.archiveAge, other.commitInterval)
        keepRaw = other.keepRaw
    }
}
