import CZstd
import KymographCore

/// Compresses a file's content as one zstd frame (RFC 8878) with a checksum.
@safe
struct ZstdStream: ~Copyable, @unchecked Sendable {
    /// What to do after taking the input.
    enum Directive {
        /// Keep what compresses better with what follows.
        case go
        /// Give out everything, so that a reader can decode it.
        case flush
        /// End the frame; the next input begins another.
        case end

        fileprivate var value: ZSTD_EndDirective {
            switch self {
            case .go: ZSTD_e_continue
            case .flush: ZSTD_e_flush
            case .end: ZSTD_e_end
            }
        }
    }

    private let context: OpaquePointer
    private let scratch: UnsafeMutablePointer<UInt8>
    private let scratchBytes = ZSTD_CStreamOutSize()

    /// The level of ``OutputCompression/zstd(level:)`` when none is named.
    static let usualLevel: Int32 = 3

    /// From here on, levels search at least as zstd's lazy2 does.
    private static let thoroughLevel: Int32 = 8

    /// Makes a compressor of `level` (1…19), with a dictionary or without. Ends the process when there is no memory for
    /// one.
    init(level: Int32, dictionary: ZstdDictionary? = nil) {
        // Safe: the context and the scratch block are owned by this struct alone, and freed in deinit.
        guard let context = unsafe ZSTD_createCCtx() else { fatalError("no memory for a zstd compressor") }
        unsafe self.context = context
        unsafe scratch = .allocate(capacity: scratchBytes)
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        guard let dictionary else { return }
        // Safe: the library copies the bytes.
        let code = unsafe ZSTD_CCtx_loadDictionary(context, dictionary.bytes, dictionary.bytes.count)
        precondition(ZSTD_isError(code) == 0, "no memory for a zstd dictionary")
        // A small document is a few long matches with one of the dictionary, and what is between. Short matches with
        // others cost more than the bytes that they stand for, which the fast searches do not see. On single
        // Observations at the usual level this saves 6 %.
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, 6)
        if level < ZstdStream.thoroughLevel {
            unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, Int32(ZSTD_lazy2.rawValue))
        }
    }

    deinit {
        // Safe: made in init, and nothing outlives the struct.
        unsafe ZSTD_freeCCtx(context)
        unsafe scratch.deallocate()
    }

    /// Compresses `bytes` and appends what comes out to `writer`.
    mutating func compress(_ bytes: ByteView, _ directive: Directive, to writer: inout ByteWriter) {
        // Safe: the view outlives the call; the library moves only `pos`.
        var input = unsafe ZSTD_inBuffer(src: bytes.unsafeBuffer.baseAddress, size: bytes.count, pos: 0)
        while true {
            var output = unsafe ZSTD_outBuffer(dst: scratch, size: scratchBytes, pos: 0)
            // Safe: both buffers describe memory that lives through the call.
            let left = unsafe ZSTD_compressStream2(context, &output, &input, directive.value)
            // With valid parameters the only failure is memory (zstd.h), and there is nothing to save then.
            precondition(ZSTD_isError(left) == 0, "zstd failed")
            // Safe: the library wrote `pos` bytes.
            unsafe writer.append(ByteView(base: UnsafePointer(scratch), count: output.pos))
            let isDone = if case .go = directive { unsafe input.pos == input.size } else { left == 0 }
            if isDone { return }
        }
    }
}
