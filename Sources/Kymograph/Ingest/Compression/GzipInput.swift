import CZlib
import KymographCore

/// gzip files (RFC 1952), one or several behind each other, as `cat` makes of them.
@safe
final class GzipInput: CompressedInput {
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether no file has begun, or the last one has ended.
    private(set) var isComplete = true

    /// Expects the first file. Ends the process when there is no memory.
    init() {
        // Safe: owned by this object alone, and freed in deinit; zlib keeps a pointer to it, so it must not move.
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        precondition(unsafe kymo_gunzip_begin(stream) == Z_OK, "no memory for zlib")
    }

    deinit {
        // Safe: made in init, and nothing outlives the object.
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func decompress(
        _ input: ByteView, from position: inout Int, to output: inout ByteWriter, room: Int
    ) throws(CompressionDamage) {
        if isComplete {
            guard position < input.count else { return }
            unsafe inflateReset(stream)
            isComplete = false
        }
        let rest = input[position..<input.count]
        var code = Z_OK
        // Safe: the view outlives the call, and zlib writes no input; the block has `room` bytes.
        unsafe output.appendFilled(upTo: room) { block in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(
                mutating: rest.unsafeBuffer.assumingMemoryBound(to: UInt8.self).baseAddress)
            unsafe stream.pointee.avail_in = UInt32(rest.count)
            unsafe stream.pointee.next_out = block.assumingMemoryBound(to: UInt8.self).baseAddress
            unsafe stream.pointee.avail_out = UInt32(block.count)
            code = unsafe inflate(stream, Z_NO_FLUSH)
            return unsafe block.count - Int(stream.pointee.avail_out)
        }
        position = unsafe input.count - Int(stream.pointee.avail_in)
        isComplete = code == Z_STREAM_END
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw CompressionDamage() }
    }
}
