import CSeal
import Glibc
import KymographCore

/// A file that ``ChunkSealer`` has written, read from its beginning.
@safe
package struct SealedFile: ~Copyable {
    // Safe: made in init, and owned by this struct alone.
    private let sealer: OpaquePointer
    private let file: Descriptor
    private let path: String
    let head: ChunkSealer.Head
    /// Whole chunks that were read, and where the last of them ends.
    private(set) var chunks: UInt64 = 0
    private(set) var end = ChunkSealer.Head.count
    /// Whether the last of them ends the file.
    private(set) var hasEnded = false

    /// What comes next.
    enum Next {
        case chunk([UInt8])
        /// There is nothing more.
        case end
        /// What is there is no whole chunk: it was cut off, or changed.
        case torn
    }

    /// Begins with `file`, which is open, called `path` and sealed by the keys of `seal`.
    ///
    /// - Throws: ``SealError`` when it is no such file, or of another store.
    init(_ file: Descriptor, _ path: String, _ seal: StoreSeal) throws(SealError) {
        var bytes: [UInt8] = []
        while bytes.count < ChunkSealer.Head.count,
            let count = FileSystem.read(file.raw, ChunkSealer.Head.count - bytes.count, into: &bytes), count > 0
        {}
        guard let head = ChunkSealer.Head(bytes) else {
            throw SealError(message: "\(path) is not encrypted, or by a newer kymo")
        }
        guard head.store == seal.store else {
            throw SealError(
                message: "\(path) was encrypted with the keys of another store: name its data directory with --data")
        }
        // Safe: the ring lives as long as the process.
        guard let sealer = unsafe kymo_sealer_new(seal.ring) else { throw StoreSeal.noMemory }
        unsafe self.sealer = sealer
        (self.file, self.path, self.head) = (file, path, head)
    }

    deinit { unsafe kymo_sealer_free(sealer) }

    /// The next chunk.
    ///
    /// - Throws: ``SealError`` when the file cannot be read.
    mutating func next() throws(SealError) -> Next {
        let start = try read(ChunkSealer.chunkHead)
        guard !start.isEmpty else { return .end }
        guard start.count == ChunkSealer.chunkHead, !hasEnded || head.kind == .grows else { return .torn }
        let count = (0..<4).reduce(0) { $0 | Int(start[$1]) << (8 * $1) }
        guard count < ChunkSealer.mostBytes else { return .torn }
        let sealed = try read(count)
        guard sealed.count == count else { return .torn }
        let extra = ChunkSealer.extra(head, chunks, Array(start.prefix(8)))
        let trailer = Array(start.dropFirst(8))
        var plain = [UInt8](repeating: 0, count: count)
        // Safe: each buffer has the size that it is given with, and is lent for the call.
        let isWhole = unsafe kymo_unseal(sealer, extra, extra.count, sealed, count, &plain, trailer)
        guard isWhole == 1 else { return .torn }
        chunks += 1
        end += ChunkSealer.chunkHead + count
        hasEnded = start[4] & 1 == 1
        return .chunk(plain)
    }

    private func read(_ count: Int) throws(SealError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let size = FileSystem.read(file.raw, min(count - bytes.count, 1 << 20), into: &bytes) else {
                throw SealError(message: "\(path) cannot be read: \(ErrorText.of(errno))")
            }
            if size == 0 { break }
        }
        return bytes
    }

    /// What goes on with `file`, which is called `path`, after what a crash has torn was cut off.
    ///
    /// - Throws: ``SealError`` when it is no such file, or cannot be read or cut.
    static func continued(_ file: Descriptor, _ path: String, _ seal: StoreSeal) throws(SealError) -> ChunkSealer {
        if try cutTornHead(file, path, seal) { return try ChunkSealer(seal, .grows) }
        var known = try SealedFile(file, path, seal)
        try known.cutToWholeChunks()
        return try ChunkSealer(seal, continuing: known.head, chunks: known.chunks)
    }

    /// Empties a file that ends within the head that it would have begun with; true when it did.
    private static func cutTornHead(
        _ file: Descriptor, _ path: String, _ seal: StoreSeal
    ) throws(SealError) -> Bool {
        let size = FileSystem.status(file.raw).map { Int($0.st_size) } ?? 0
        guard size < ChunkSealer.Head.count else { return false }
        // All of a head but the number of the file.
        let known = ChunkSealer.Head(.grows, store: seal.store).bytes.prefix(ChunkSealer.Head.count - 16).prefix(size)
        guard known.indices.allSatisfy({ FileSystem.byte(file.raw, at: $0) == known[$0] }) else { return false }
        guard ftruncate(file.raw, 0) == 0 else {
            throw SealError(
                message: "cannot cut the unfinished head of \(path): \(ErrorText.of(errno))", isOfDisk: true)
        }
        return true
    }

    /// Ends `file`, which a crash has left, after its last whole chunk; gives the bytes of these, and nil when there
    /// are none.
    ///
    /// - Throws: ``SealError`` when it is of another store, or cannot be read or written.
    static func end(_ file: Descriptor, _ path: String, _ seal: StoreSeal) throws(SealError) -> Int? {
        let size = FileSystem.status(file.raw).map { Int($0.st_size) } ?? 0
        guard size > ChunkSealer.Head.count + ChunkSealer.chunkHead else { return nil }
        var known = try SealedFile(file, path, seal)
        try known.cutToWholeChunks()
        guard known.chunks > 0 else { return nil }
        guard !known.hasEnded else { return known.end }
        var sealer = try ChunkSealer(seal, continuing: known.head, chunks: known.chunks)
        guard let last = sealer.chunk(ByteView(""), isLast: true),
            last.withByteView({ FileSystem.writeAll(file.raw, $0) }) == last.count
        else { throw SealError(message: "cannot write the end of \(path): make room", isOfDisk: true) }
        return known.end
    }

    /// Reads over all whole chunks; the file is as long as they are from here on. What a crash has torn is cut off.
    ///
    /// - Throws: ``SealError`` also when more comes after what cannot be read, as no crash leaves it.
    private mutating func cutToWholeChunks() throws(SealError) {
        while case .chunk = try next() {}
        guard try isTail() else {
            throw SealError(
                message: "\(path) was changed or is damaged after \(chunks) whole chunks, at byte \(end), and more "
                    + "comes after that: nothing of it was touched; look at it with 'kymo decrypt', and move it away")
        }
        guard ftruncate(file.raw, end) == 0, lseek(file.raw, end, SEEK_SET) == end else {
            throw SealError(
                message: "cannot cut the unfinished end of \(path): \(ErrorText.of(errno))", isOfDisk: true)
        }
    }

    /// Whether nothing comes after the chunk that begins at ``end``: it runs past the end of the file, ends there, or
    /// all from there on is zeros, which file systems show for what was not written.
    private func isTail() throws(SealError) -> Bool {
        let size = FileSystem.status(file.raw).map { Int($0.st_size) } ?? 0
        guard lseek(file.raw, end, SEEK_SET) == end else {
            throw SealError(message: "\(path) cannot be read: \(ErrorText.of(errno))")
        }
        let start = try read(ChunkSealer.chunkHead)
        guard start.count == ChunkSealer.chunkHead else { return true }
        let count = (0..<4).reduce(0) { $0 | Int(start[$1]) << (8 * $1) }
        if end + ChunkSealer.chunkHead + count >= size { return true }
        var piece = start
        while piece.allSatisfy({ $0 == 0 }) {
            piece = try read(1 << 16)
            if piece.isEmpty { return true }
        }
        return false
    }

    /// Gives what the file `path` holds to `write`, piece by piece.
    ///
    /// - Throws: ``SealError`` when it cannot be read, is no such file, or is not whole: after what comes before that
    ///   was given; or what `write` throws.
    package static func decrypt(
        _ path: String, _ seal: StoreSeal, _ write: ([UInt8]) throws -> Void
    ) throws {
        let raw = FileSystem.open(path, O_RDONLY)
        guard raw >= 0 else { throw SealError(message: "cannot read \(path): \(ErrorText.of(-raw))") }
        var file = try SealedFile(Descriptor(raw), path, seal)
        while true {
            switch try file.next() {
            case .chunk(let bytes): try write(bytes)
            case .torn:
                throw SealError(
                    message: "\(path) is cut off or was changed after \(file.chunks) whole chunks, which were written")
            case .end:
                guard file.hasEnded || file.head.kind == .grows else {
                    throw SealError(message: "\(path) has no end: it is still written, or was cut off")
                }
                return
            }
        }
    }
}
