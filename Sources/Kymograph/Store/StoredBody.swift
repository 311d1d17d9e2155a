import CKymographLinux
import CZstd
import FoundationEssentials
import KymographCore

/// How a stored body is written. The raw values are in every store: never change or reuse one.
enum BodyCodec: Int, Sendable {
    /// As it is.
    case plain = 0
    /// One zstd frame (RFC 8878).
    case zstd = 1
}

/// Bytes as a store keeps them: coded, named by the key that encrypts them (0: none), and with a checksum (CRC-32C of
/// what is stored) that shows when the disk has changed them.
struct StoredBody: Sendable {
    /// Key id of what is not encrypted.
    static let noKey = 0

    var codec: BodyCodec
    var key = StoredBody.noKey
    var checksum: UInt32
    var bytes: Data

    /// A body read from a store; nil when it is damaged or of a codec or key that this version does not know.
    static func content(codec: Int, key: Int, checksum: Int64, bytes: Data) -> [UInt8]? {
        guard key == noKey, let codec = BodyCodec(rawValue: codec) else { return nil }
        guard Int64(BodyCompressor.checksum(bytes)) == checksum else { return nil }
        switch codec {
        case .plain: return [UInt8](bytes)
        case .zstd: return BodyCompressor.expanded(bytes)
        }
    }

    /// Appends the content of a body read from a store to `writer`; false, and nothing is done, where
    /// ``content(codec:key:checksum:bytes:)`` is nil.
    static func append(codec: Int, key: Int, checksum: Int64, bytes: ByteView, to writer: inout ByteWriter) -> Bool {
        guard codec == BodyCodec.plain.rawValue, key == noKey else {
            let content = content(codec: codec, key: key, checksum: checksum, bytes: Data(bytes.array))
            content.map { writer.append($0) }
            return content != nil
        }
        guard Int64(BodyCompressor.checksum(bytes)) == checksum else { return false }
        writer.append(bytes)
        return true
    }
}

/// Makes stored bodies; the context is kept because making one costs more than most bodies.
@safe
struct BodyCompressor: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer
    private var scratch: [UInt8] = []

    /// Bodies below this size are kept as they are: a frame's head would eat what is gained.
    private static let fewestBytes = 256
    /// Bodies above this size are damaged: nothing that is stored comes near.
    private static let mostBytes = 1 << 30

    init() {
        // Safe: the context is owned by this struct alone, and freed in deinit.
        guard let context = unsafe ZSTD_createCCtx() else { fatalError("no memory for a zstd compressor") }
        unsafe self.context = context
    }

    deinit {
        // Safe: made in init, and nothing outlives the struct.
        unsafe ZSTD_freeCCtx(context)
    }

    /// The body for `bytes`, compressed by zstd's `level` if they are long enough.
    mutating func body(_ bytes: [UInt8], level: Int32 = 1) -> StoredBody {
        guard bytes.count >= BodyCompressor.fewestBytes else { return BodyCompressor.plain(bytes) }
        let bound = ZSTD_compressBound(bytes.count)
        if scratch.count < bound { scratch = Array(repeating: 0, count: bound) }
        // Safe: both arrays outlive the call, and the library writes within the capacity that it is given.
        let size = unsafe scratch.withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { source in
                unsafe ZSTD_compressCCtx(
                    context, target.baseAddress, target.count, source.baseAddress, source.count, level)
            }
        }
        guard ZSTD_isError(size) == 0, size < bytes.count else { return BodyCompressor.plain(bytes) }
        let data = Data(scratch[..<size])
        return StoredBody(codec: .zstd, checksum: BodyCompressor.checksum(data), bytes: data)
    }

    static func plain(_ bytes: [UInt8]) -> StoredBody {
        let data = Data(bytes)
        return StoredBody(codec: .plain, checksum: checksum(data), bytes: data)
    }

    /// CRC-32C of `bytes`.
    static func checksum(_ bytes: ByteView) -> UInt32 {
        let buffer = unsafe bytes.unsafeBuffer
        // Safe: a view describes readable memory.
        return unsafe kymo_crc32c(0, buffer.assumingMemoryBound(to: UInt8.self).baseAddress, buffer.count)
    }

    /// CRC-32C of `bytes`.
    static func checksum(_ bytes: Data) -> UInt32 {
        // Safe: the data outlive the call.
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe kymo_crc32c(0, buffer.assumingMemoryBound(to: UInt8.self).baseAddress, buffer.count)
        }
    }

    /// What a zstd frame holds; nil when it is none.
    fileprivate static func expanded(_ bytes: Data) -> [UInt8]? {
        // Safe: the data outlive the call, and the library writes within the capacity that it is given.
        unsafe bytes.withUnsafeBytes { source in
            let size = unsafe ZSTD_getFrameContentSize(source.baseAddress, source.count)
            guard size <= UInt64(mostBytes) else { return nil }
            return unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { target, count in
                let result = unsafe ZSTD_decompress(
                    target.baseAddress, target.count, source.baseAddress, source.count)
                count = ZSTD_isError(result) == 0 ? result : 0
            }
        }
    }
}
