import CZstd

/// Compression by the system's libzstd.
enum ZstdFrame {
    /// The best of the levels that need no more memory to decompress than others do.
    private static let level: Int32 = 19

    /// `bytes` as one frame (RFC 8878).
    static func of(_ bytes: [UInt8]) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        // Safe: both blocks outlive the call, and the library writes no more than the bound.
        let count = unsafe frame.withUnsafeMutableBytes { output in
            unsafe bytes.withUnsafeBytes { input in
                unsafe ZSTD_compress(output.baseAddress, output.count, input.baseAddress, input.count, level)
            }
        }
        precondition(ZSTD_isError(count) == 0, "no memory for zstd")
        return Array(frame.prefix(count))
    }
}
