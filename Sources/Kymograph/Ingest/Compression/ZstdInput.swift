import CZstd
import KymographCore

/// zstd frames (RFC 8878), one or several behind each other.
@safe
final class ZstdInput: CompressedInput {
    private let context: OpaquePointer
    /// Whether no frame has begun, or the last one has ended.
    private(set) var isComplete = true
    /// Bytes that the decompressor wants next, for a whole header or block.
    private var wanted = ZstdInput.start

    /// Bytes by which a frame is known.
    private static let start = 5
    /// Bytes of a block's header (RFC 8878, section 3.1.1.2).
    private static let blockHeader = 3

    /// Expects the first frame. Ends the process when there is no memory.
    init() {
        // Safe: owned by this object alone, and freed in deinit. Frames may ask for windows of at most 128 MiB, which
        // is the library's own limit (ZSTD_WINDOWLOG_LIMIT_DEFAULT).
        guard let context = unsafe ZSTD_createDCtx() else { fatalError("no memory for a zstd decompressor") }
        unsafe self.context = context
    }

    deinit {
        // Safe: made in init, and nothing outlives the object.
        unsafe ZSTD_freeDCtx(context)
    }

    /// Bytes for the next call, of those that the library has asked for: with a block it asks for the header of the
    /// next one, which may be damaged.
    private static func next(_ asked: Int) -> Int {
        asked == 0 ? start : asked > blockHeader ? asked - blockHeader : asked
    }

    func decompress(
        _ input: ByteView, from position: inout Int, to output: inout ByteWriter, room: Int
    ) throws(CompressionDamage) {
        // Without input, the library would take the next frame for begun.
        guard !isComplete || position < input.count else { return }
        // Safe: the view outlives the call, and the block has `room` bytes; the library moves only `pos`.
        var source = unsafe ZSTD_inBuffer(src: input.unsafeBuffer.baseAddress, size: input.count, pos: position)
        var left = 0
        unsafe output.appendFilled(upTo: room) { block in
            var target = unsafe ZSTD_outBuffer(dst: block.baseAddress, size: block.count, pos: 0)
            repeat {
                // A block at a time: of a call that fails the library keeps what it has read before the damage.
                unsafe source.size = min(input.count, source.pos + wanted)
                left = unsafe ZSTD_decompressStream(context, &target, &source)
                guard ZSTD_isError(left) == 0 else { break }
                wanted = ZstdInput.next(left)
            } while unsafe left > 0 && source.pos < input.count && target.pos < block.count
            return unsafe target.pos
        }
        position = unsafe source.pos
        guard ZSTD_isError(left) == 0 else { throw CompressionDamage() }
        isComplete = left == 0
    }
}
