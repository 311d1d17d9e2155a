import COpenSSL

/// Bytes that OpenSSL reads PEM blocks from, one after another.
@safe
struct PEMInput: ~Copyable {
    /// OpenSSL's view of the bytes, as long as this value lives.
    let source: OpaquePointer

    private let bytes: UnsafeMutableBufferPointer<UInt8>

    /// Copies `pem`; nil when it is empty or too long for OpenSSL.
    init?(_ pem: [UInt8]) {
        guard !pem.isEmpty, let count = Int32(exactly: pem.count) else { return nil }
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: pem.count)
        _ = unsafe bytes.initialize(from: pem)
        // Safe: the copy outlives the source, which only reads it.
        guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, count) else {
            unsafe bytes.deallocate()
            return nil
        }
        unsafe self.source = source
        unsafe self.bytes = bytes
    }

    deinit {
        // Safe: both were made in init. The copy may be of a key, so nothing of it stays in memory.
        unsafe BIO_free(source)
        unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        unsafe bytes.deallocate()
    }

    /// How many certificates are left to read.
    borrowing func certificateCount() -> Int {
        defer { ERR_clear_error() }
        var count = 0
        // Safe: each certificate is ours until it is freed.
        while let certificate = unsafe PEM_read_bio_X509(source, nil, nil, nil) {
            unsafe X509_free(certificate)
            count += 1
        }
        return count
    }
}
