import CZlib
import KymographCore

/// Data compressed by deflate (RFC 1951), as zlib decompresses it.
@safe
final class Inflater {
    /// What is around the data.
    enum Format {
        /// The header and trailer of gzip, which are checked.
        case gzip
        /// Nothing.
        case raw
    }

    private let stream: UnsafeMutablePointer<z_stream>

    /// Expects data. Ends the process when there is no memory.
    init(_ format: Format) {
        // Safe: owned by this object alone, and freed in deinit; zlib keeps a pointer to it, so it must not move.
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe format == .gzip ? kymo_gunzip_begin(stream) : kymo_inflate_begin(stream)
        precondition(code == Z_OK, "no memory for zlib")
    }

    deinit {
        // Safe: made in init, and nothing outlives the object.
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Expects other data from its beginning.
    func reset() {
        // Safe: made in init.
        unsafe inflateReset(stream)
    }

    /// Decompresses `input` from `position` on, appends at most `room` bytes to `output`, and moves `position` behind
    /// what was taken; whether the data has ended.
    ///
    /// - Throws: ``CompressionDamage`` when it is damaged.
    func inflate(
        _ input: ByteView, from position: inout Int, to output: inout ByteWriter, room: Int
    ) throws(CompressionDamage) -> Bool {
        let rest = input[position..<input.count]
        var code = Z_OK
        // Safe: the view outlives the call, and zlib writes no input; the block has `room` bytes.
        unsafe output.appendFilled(upTo: room) { block in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(
                mutating: rest.unsafeBuffer.assumingMemoryBound(to: UInt8.self).baseAddress)
            unsafe stream.pointee.avail_in = UInt32(rest.count)
            unsafe stream.pointee.next_out = block.assumingMemoryBound(to: UInt8.self).baseAddress
            unsafe stream.pointee.avail_out = UInt32(block.count)
            code = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
            return unsafe block.count - Int(stream.pointee.avail_out)
        }
        position = unsafe input.count - Int(stream.pointee.avail_in)
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw CompressionDamage() }
        return code == Z_STREAM_END
    }
}

/// The checksum of gzip and ZIP (RFC 1952, section 8).
struct CyclicRedundancyCheck {
    private(set) var value: UInt32 = 0

    /// Adds the bytes of `view`.
    mutating func add(_ view: ByteView) {
        // Safe: zlib only reads, and the view outlives the call.
        let bytes = unsafe view.unsafeBuffer.assumingMemoryBound(to: UInt8.self).baseAddress
        value = unsafe UInt32(truncatingIfNeeded: crc32(UInt(value), bytes, UInt32(view.count)))
    }
}
