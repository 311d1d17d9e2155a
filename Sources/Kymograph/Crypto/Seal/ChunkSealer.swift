import CSeal
import KymographCore

/// Seals one file piece by piece, as it grows: outputs, dead letters and receipts of an encrypted store.
///
/// A file begins with a head of 48 bytes: `KYMOFILE`, the version 1 and the kind in four bytes each, the number of the
/// store and a random number of the file in 16 each. Chunks follow: four bytes with the count of bytes, four with flags
/// (1: the last chunk), 32 with nonce, tag and number of the data key, and the bytes, encrypted. Numbers are
/// little-endian. Authenticated with them are the head of the file, the number of the chunk, its count and its flags,
/// so that chunks cannot be left out, moved or repeated. A file of kind 1 is whole when it has a last chunk; one of
/// kind 2 grows for ever.
@safe
package struct ChunkSealer: ~Copyable, Sendable {
    /// What files begin with.
    struct Head: Hashable, Sendable {
        /// Whether a last chunk ends the file.
        enum Kind: UInt8 {
            case ends = 1
            case grows = 2
        }

        static let count = 48
        static let magic = Array("KYMOFILE".utf8)
        private static let version: UInt8 = 1

        let bytes: [UInt8]

        /// The head of a new file.
        init(_ kind: Kind, store: [UInt8]) {
            var file = [UInt8](repeating: 0, count: 16)
            // Safe: the array is lent for the call.
            let isRandom = unsafe kymo_random(&file, file.count) == 1
            precondition(isRandom, "OpenSSL has no random bytes")
            bytes = Head.magic + [Head.version, 0, 0, 0, kind.rawValue, 0, 0, 0] + store + file
        }

        /// The head that `bytes` are; nil when they are none that this version knows.
        init?(_ bytes: [UInt8]) {
            guard bytes.count == Head.count, bytes.starts(with: Head.magic), bytes[8] == Head.version,
                Kind(rawValue: bytes[12]) != nil
            else { return nil }
            self.bytes = bytes
        }

        var kind: Kind { bytes[12] == Kind.ends.rawValue ? .ends : .grows }
        var store: [UInt8] { Array(bytes[16..<32]) }
    }

    static let chunkHead = 8 + Int(KYMO_TRAILER_BYTES)
    /// Most bytes of a chunk; a longer one was never written.
    static let mostBytes = 1 << 30

    // Safe: made in init, owned by this struct alone, and used by one thread at a time.
    nonisolated(unsafe) private let sealer: OpaquePointer
    private let head: Head
    private var number: UInt64
    private var isBegun: Bool

    /// Seals a new file of `kind`, or goes on with one that has `head` and `chunks`.
    ///
    /// - Throws: ``SealError`` without memory.
    init(_ seal: StoreSeal, _ kind: Head.Kind) throws(SealError) {
        try self.init(seal, Head(kind, store: seal.store), chunks: 0, isBegun: false)
    }

    init(_ seal: StoreSeal, continuing head: Head, chunks: UInt64) throws(SealError) {
        try self.init(seal, head, chunks: chunks, isBegun: true)
    }

    private init(_ seal: StoreSeal, _ head: Head, chunks: UInt64, isBegun: Bool) throws(SealError) {
        // Safe: the ring lives as long as the process.
        guard let sealer = unsafe kymo_sealer_new(seal.ring) else { throw StoreSeal.noMemory }
        unsafe self.sealer = sealer
        (self.head, number, self.isBegun) = (head, chunks, isBegun)
    }

    deinit { unsafe kymo_sealer_free(sealer) }

    /// `bytes` as the next chunk, after the file's head if it is the first; nil when no more may be sealed for now.
    mutating func chunk(_ bytes: ByteView, isLast: Bool = false) -> [UInt8]? {
        precondition(bytes.count < ChunkSealer.mostBytes)
        var chunk = ChunkSealer.littleEndian(UInt64(bytes.count), 4) + [isLast ? 1 : 0, 0, 0, 0]
        let extra = ChunkSealer.extra(head, number, chunk)
        var trailer = [UInt8](repeating: 0, count: Int(KYMO_TRAILER_BYTES))
        var sealed = [UInt8](repeating: 0, count: bytes.count)
        // Safe: each buffer has the size that it is given with, and is lent for the call.
        let isDone = unsafe kymo_seal(
            sealer, extra, extra.count, bytes.unsafeBuffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
            bytes.count, &sealed, &trailer)
        guard isDone == 1 else { return nil }
        chunk += trailer + sealed
        number += 1
        defer { isBegun = true }
        return isBegun ? chunk : head.bytes + chunk
    }

    /// What is authenticated with a chunk whose count and flags are `start`.
    static func extra(_ head: Head, _ number: UInt64, _ start: [UInt8]) -> [UInt8] {
        head.bytes + littleEndian(number, 8) + start
    }

    private static func littleEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
