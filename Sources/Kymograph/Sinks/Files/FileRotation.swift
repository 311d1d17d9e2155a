import Glibc
import KymographCore

/// The file a ``RotatingFileSink`` writes, and how one follows another.
///
/// Finishing has steps that each can fail and be tried again: end the frame, write, synchronise, rename. Until all are
/// done the file stays the present one, and takes no more bundles.
struct FileRotation: ~Copyable, Sendable {
    private struct OpenFile {
        var name: OutputName
        var descriptor: Descriptor
        /// When it was begun, and when it got its last bundle, on the clock that is never set.
        var started: Instant
        var lastBundle: Instant
        /// Bytes that the system took.
        var written = 0
        /// Bytes from the beginning on for which room is set aside; `.max` when no more can be.
        var reserved = 0
        /// Whether there may be room behind the end.
        var hasReserved = false
        /// Whether its compressed frame is complete.
        var isCompressed = false
        /// Whether the file takes no more bundles.
        var isEnded = false
        /// Whether the directory has its name on the disk: what is durable in a file without one is lost.
        var isNamed = false
    }

    /// Bytes of a file after which room is set aside, and how many at a time: finding it page by page takes a quarter
    /// of the time of writing (ext4).
    private static let largeFile = 1 << 20
    private static let reservedStep = 4 << 20

    /// Files that are whole and durable.
    private(set) var finished = 0
    private let directory: OutputDirectory
    private var options: RotationOptions
    private var pending = PendingBytes()
    private var compressor: ZstdStream?
    private var file: OpenFile?
    private var sequence = 1
    /// The name that sorts last of those that were given.
    private var last: OutputName?
    private var isClosed = false
    /// A failure after which nothing can be trusted any more.
    private var fatal: SinkError?

    init(directory: OutputDirectory, options: RotationOptions) {
        self.directory = directory
        self.options = options
        last = directory.lastName
        if case .zstd(let level) = options.compression {
            compressor = ZstdStream(level: level, dictionary: options.dictionary)
        }
    }

    /// Goes by `limits` from here on.
    mutating func follow(_ limits: RotationLimits) { options.limits = limits }

    /// Takes a bundle, in another file when it is time for one: `steady` gives the ages of files, and a file that
    /// begins is called after `civil`.
    mutating func write(_ bytes: ByteView, steady: Instant, civil: () -> Instant) throws(SinkError) {
        try check()
        if isDue(steady, adding: bytes.count) { try finish() }
        if file == nil { try open(steady, civil: civil()) }
        file?.lastBundle = steady
        guard compressor == nil, !pending.isSealed, pending.count + bytes.count >= PendingBytes.limit else {
            return try append(bytes)
        }
        try drain()
        pass(bytes)
    }

    /// Writes a plain line that is worth a system call of its own; nothing waits before it.
    private mutating func pass(_ bytes: ByteView) {
        reserve(bytes.count)
        guard let file else { return }
        let before = pending.total
        pending.passLine(bytes, to: file.descriptor.raw)
        self.file?.written += pending.total - before
    }

    /// Gives everything to the system.
    mutating func flush() throws(SinkError) {
        try check()
        guard let file else { return }
        if !file.isEnded, !file.isCompressed { compressor?.compress(ByteView(""), .flush, to: &pending.writer) }
        try drain()
    }

    /// Gives everything to the disk.
    mutating func synchronise() throws(SinkError) {
        try flush()
        guard let file else { return }
        do throws(SinkError) {
            try directory.synchronise(file.descriptor.raw, directory.file(file.name.final))
            if !file.isNamed { try directory.synchroniseNames() }
            self.file?.isNamed = true
        } catch {
            if error.kind == .syncFailed { fatal = error }
            throw error
        }
    }

    /// Finishes the file when it is old, or has been idle, at `steady`.
    mutating func tick(_ steady: Instant) throws(SinkError) {
        try check()
        if isDue(steady, adding: 0) || isIdle(steady) { try finish() }
    }

    /// Finishes the file.
    mutating func close() throws(SinkError) {
        guard !isClosed else { return }
        try check()
        try finish()
        isClosed = true
        directory.close()
    }

    private func check() throws(SinkError) {
        if let fatal { throw fatal }
        if isClosed { throw .closed("the sink to \(directory.path)") }
    }

    private func isDue(_ steady: Instant, adding bytes: Int) -> Bool {
        guard let file else { return false }
        if file.isEnded || file.isCompressed || steady >= file.started.advanced(by: options.maxAge) { return true }
        // How small a bundle gets is known only after compressing it: such a file may exceed the size by one bundle.
        let size = file.written + pending.count
        return compressor == nil ? bytes > 0 && size + bytes > options.maxBytes : size >= options.maxBytes
    }

    private func isIdle(_ steady: Instant) -> Bool {
        guard let file, options.maxIdle > 0 else { return false }
        return steady >= file.lastBundle.advanced(by: options.maxIdle)
    }

    private mutating func open(_ steady: Instant, civil: Instant) throws(SinkError) {
        let suffix =
            ".\(options.fileExtension)\(compressor == nil ? "" : ".zst")"
            + (options.seal == nil ? "" : OutputName.sealedSuffix)
        var wanted = OutputName(start: civil, sequence: sequence, suffix: suffix)
        if let last { wanted.follow(last) }
        let (name, descriptor) = try directory.create(wanted)
        (sequence, last) = (name.sequence + 1, name)
        if let seal = options.seal {
            pending.seal(
                by: try SinkError.ofSeal { () throws(SealError) in
                    try ChunkSealer(seal, .ends)
                })
        }
        file = OpenFile(name: name, descriptor: descriptor, started: steady, lastBundle: steady)
    }

    private mutating func append(_ bytes: ByteView) throws(SinkError) {
        if pending.count >= PendingBytes.limit { try drain() }
        guard compressor != nil else { return pending.appendLine(bytes) }
        compressor?.compress(bytes, .go, to: &pending.writer)
        if bytes.count == 0 || bytes[bytes.count - 1] != 0x0A {
            compressor?.compress(ByteView("\n"), .go, to: &pending.writer)
        }
    }

    private mutating func drain() throws(SinkError) {
        reserve(pending.count)
        guard let file else { return }
        let before = pending.total
        defer { self.file?.written += pending.total - before }
        try pending.drain(to: file.descriptor.raw, name: directory.file(file.name.final))
    }

    /// Sets room aside where a large file has none for `count` bytes more.
    private mutating func reserve(_ count: Int) {
        guard let file, file.written >= FileRotation.largeFile, file.written + count > file.reserved else { return }
        let start = max(file.written, file.reserved)
        let size = max(FileRotation.reservedStep, count)
        let isReserved = FileSystem.reserve(file.descriptor.raw, at: start, count: size)
        self.file?.reserved = isReserved ? start + size : .max
        if isReserved { self.file?.hasReserved = true }
    }

    /// Gives back the room behind the end of the file.
    private func release() {
        guard let file, file.hasReserved else { return }
        FileSystem.releaseReserved(file.descriptor.raw, size: file.written)
    }

    private mutating func finish() throws(SinkError) {
        guard let file else { return }
        if !file.isEnded {
            if !file.isCompressed { compressor?.compress(ByteView(""), .end, to: &pending.writer) }
            self.file?.isCompressed = true
            try pending.end(directory.file(file.name.final))
            self.file?.isEnded = true
        }
        try drain()
        release()
        do throws(SinkError) {
            try directory.synchronise(file.descriptor.raw, directory.file(file.name.final))
            _ = try directory.publish(file.name.open, as: file.name)
        } catch {
            if error.kind == .syncFailed { fatal = error }
            throw error
        }
        finished += 1
        file.descriptor.close()
        self.file = nil
    }
}
