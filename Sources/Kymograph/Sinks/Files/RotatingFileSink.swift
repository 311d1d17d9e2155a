package import KymographCore
import Synchronization

/// Whether output files are compressed.
package enum OutputCompression: Hashable, Sendable {
    /// Plain text.
    case none
    /// One zstd frame per file (`.zst`) of this level, 1…19.
    case zstd(level: Int32 = 3)
}

/// How a ``RotatingFileSink`` writes.
package struct RotationOptions: Hashable, Sendable {
    /// Bytes after which the next bundle begins another file; a larger bundle has a file of its own.
    package var maxBytes = 64 << 20
    /// Nanoseconds after which a file is finished.
    package var maxAge: Int64 = 3_600_000_000_000
    /// Nanoseconds without a bundle after which a file is finished; 0 for never.
    package var maxIdle: Int64 = 10_000_000_000
    /// Whether files are compressed.
    package var compression = OutputCompression.none
    /// What compressed files need to be read again; nil when they stand alone.
    package var dictionary: ZstdDictionary?
    /// Whether the group may read the files: modes 0640 and 0750, in place of 0600 and 0700, whatever the umask is.
    package var isGroupReadable = false
    /// The keys that files are encrypted with; nil for plain ones.
    package var seal: StoreSeal?
    /// The extension before `.zst`.
    package var fileExtension = "ndjson"

    /// 64 MiB, one hour, ten seconds without a bundle, plain.
    package init() {}

    /// What may change while files are written.
    var limits: RotationLimits {
        get { RotationLimits(maxBytes: maxBytes, maxAge: maxAge, maxIdle: maxIdle) }
        set { (maxBytes, maxAge, maxIdle) = (newValue.maxBytes, newValue.maxAge, newValue.maxIdle) }
    }
}

/// Writes bundles to files in a directory, which have their names only when they are whole and durable.
///
/// A file is called `kymo-<UTC start>-<sequence>.ndjson[.zst]`, with `.open` behind it while it grows, and nothing that
/// exists is replaced or removed. One sink owns a directory at a time.
package final class RotatingFileSink: BundleSink {
    private let state: Mutex<FileRotation>
    private let (clock, steady): (@Sendable () -> Instant, @Sendable () -> Instant)
    /// What was done at the start with files that a crash had left unfinished.
    package let recovered: [RecoveredFile]

    /// Creates `directory` (not its parents) if need be, locks it, and finishes what a crash left in it.
    ///
    /// - Parameters:
    ///   - clock: gives the times in the names of files.
    ///   - steady: gives the ages of files: a clock that is never set.
    /// - Throws: ``SinkError`` when the directory cannot be used, or another sink uses it.
    package init(
        directory: String, options: RotationOptions = RotationOptions(),
        clock: @escaping @Sendable () -> Instant = WallClock.now,
        steady: @escaping @Sendable () -> Instant = { MonotonicClock.instant }
    ) throws(SinkError) {
        let opened = try OutputDirectory(
            directory, isGroupReadable: options.isGroupReadable, seal: options.seal)
        recovered = try opened.recover()
        state = Mutex(FileRotation(directory: opened, options: options))
        (self.clock, self.steady) = (clock, steady)
    }

    /// Ends files by `limits` from here on, the present one, too.
    package func follow(_ limits: RotationLimits) { state.withLock { $0.follow(limits) } }

    /// How many files this sink has finished.
    package var finishedFiles: Int { state.withLock { $0.finished } }

    /// Takes a bundle; finishes the present file before it when that is due.
    ///
    /// - Throws: ``SinkError`` when the bundle was not taken: the sink is closed, or a file cannot be written.
    package func write(_ bytes: ByteView) throws(SinkError) {
        let now = steady()
        try state.withLock { (state) throws(SinkError) in try state.write(bytes, steady: now, civil: clock) }
    }

    /// Gives what was taken to the system, under the name with `.open`. Costs compression when called often.
    ///
    /// - Throws: ``SinkError`` when not everything could be written; may be called again.
    package func flush() throws(SinkError) {
        try state.withLock { (state) throws(SinkError) in try state.flush() }
    }

    /// Gives what was taken to the disk, under the name with `.open`.
    ///
    /// - Throws: ``SinkError`` when not everything is on the disk.
    package func synchronise() throws(SinkError) {
        try state.withLock { (state) throws(SinkError) in try state.synchronise() }
    }

    /// Finishes the present file when it is old, or has been idle, at `now` by the clock that is never set.
    ///
    /// - Throws: ``SinkError`` when the file cannot be finished; may be called again.
    package func tick(_ now: Instant) throws(SinkError) {
        try state.withLock { (state) throws(SinkError) in try state.tick(now) }
    }

    /// Finishes the present file and unlocks the directory.
    ///
    /// - Throws: ``SinkError`` when the file cannot be finished; may be called again.
    package func close() throws(SinkError) {
        try state.withLock { (state) throws(SinkError) in try state.close() }
    }
}
