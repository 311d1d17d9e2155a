import COpenSSL
public import KymographCore
import Synchronization

extension Digest256 {
    /// SHA-256 by OpenSSL, the distribution's patched crypto library. Each one that is asked for has working memory of
    /// its own, which its copies share in turns.
    public static var openSSL: Digest256 {
        let working = SHA256Working()
        // The first one of a process reads configuration and tables, which belongs to the start.
        var digest = Bytes(repeating: 0)
        working.digest(ByteView(""), into: &digest)
        return Digest256 { message, digest in working.digest(message, into: &digest) }
    }
}

/// OpenSSL's working memory of one digest, kept: it is zeroed and freed otherwise.
private final class SHA256Working: Sendable {
    private let context = Mutex(SHA256Context())

    func digest(_ message: ByteView, into digest: inout Digest256.Bytes) {
        context.withLock { $0.digest(message, into: &digest) }
    }
}

/// The memory itself; used by one thread at a time.
///
/// By the functions for SHA-256 alone, which OpenSSL 3 would rather see replaced by `EVP_Digest`: that takes and clears
/// memory and locks for each message, which costs as much as the digest of an identity. Identities are no secrets.
@safe
private struct SHA256Context: ~Copyable {
    private var context = SHA256_CTX()

    mutating func digest(_ message: ByteView, into digest: inout Digest256.Bytes) {
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
