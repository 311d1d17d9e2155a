import COpenSSL
public import KymographCore

extension Digest256 {
    /// SHA-256 by OpenSSL, the distribution's patched crypto library.
    public static let openSSL = Digest256 { message, digest in
        var output = digest
        var span = output.mutableSpan
        // Safe: OpenSSL reads `count` bytes of the message and writes 32 bytes, which the digest has.
        unsafe span.withUnsafeMutableBufferPointer { bytes in
            let source = unsafe message.unsafeBuffer.assumingMemoryBound(to: UInt8.self).baseAddress
            _ = unsafe SHA256(source, message.count, bytes.baseAddress)
        }
        digest = output
    }
}
