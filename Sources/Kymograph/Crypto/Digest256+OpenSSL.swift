import COpenSSL
package import KymographCore

extension Digest256 {
    /// SHA-256 by OpenSSL, the distribution's patched crypto library.
    ///
    /// By its functions for SHA-256 alone, which OpenSSL 3 would rather see replaced by `EVP_Digest`: that takes and
    /// clears memory and locks for each message, which costs as much as the digest of an identity. Identities are no
    /// secrets.
    package static var openSSL: Digest256 {
        Digest256 { message, digest in
            var context = SHA256_CTX()
            var output = digest
            var span = output.mutableSpan
            // Safe: OpenSSL reads `count` bytes of the message and writes 32 bytes, which the digest has.
            unsafe span.withUnsafeMutableBufferPointer { bytes in
                let isDone =
                    unsafe SHA256_Init(&context) == 1
                    && SHA256_Update(&context, message.unsafeBuffer.baseAddress, message.count) == 1
                    && SHA256_Final(bytes.baseAddress, &context) == 1
                precondition(isDone, "OpenSSL has no SHA-256")
            }
            digest = output
        }
    }

    /// The SHA-256 of `bytes` in hexadecimal.
    static func hex(of bytes: [UInt8]) -> String {
        var writer = ByteWriter(capacity: 64)
        writer.appendHex(bytes.withByteView { openSSL.of($0) })
        return writer.view.string
    }
}
