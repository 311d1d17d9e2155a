import COpenSSL
public import KymographCore

extension Digest256 {
    /// SHA-256 by OpenSSL, the distribution's patched crypto library.
    public static let openSSL = Digest256 { message, digest in
        var output = digest
        var span = output.mutableSpan
        // Safe: OpenSSL reads `count` bytes of the message and writes 32 bytes, which the digest has; the algorithm is
        // never changed after it was fetched.
        unsafe span.withUnsafeMutableBufferPointer { bytes in
            let source = unsafe message.unsafeBuffer.baseAddress
            let isDone = unsafe EVP_Digest(source, message.count, bytes.baseAddress, nil, sha256, nil)
            precondition(isDone == 1, "OpenSSL has no SHA-256")
        }
        digest = output
    }

    /// Fetched once: `SHA256()` looks the algorithm up by name, under locks, for every message.
    private static nonisolated(unsafe) let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
}
