import CZlib

/// Compresses bodies of requests and replies by zlib.
enum GzipBody {
    /// Smaller bodies gain less than a packet, in bytes.
    static let smallest = 1_024

    /// `bytes` in gzip form (RFC 1952); nil when they are 4 GiB or more, or there is no memory for it.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        guard let size = UInt32(exactly: bytes.count), unsafe kymo_gzip_begin(&stream, Z_DEFAULT_COMPRESSION) == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        guard let room = unsafe UInt32(exactly: deflateBound(&stream, UInt(size))) else { return nil }
        var input = bytes
        // Safe: both blocks live through the call with their true sizes; with room for the bound, one call does all.
        return unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe [UInt8](unsafeUninitializedCapacity: Int(room)) { output, written in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = size
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = room
                let code = unsafe deflate(&stream, Z_FINISH)
                precondition(code == Z_STREAM_END, "zlib failed")
                unsafe written = Int(room - stream.avail_out)
            }
        }
    }
}
