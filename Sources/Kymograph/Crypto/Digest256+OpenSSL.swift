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

/// OpenSSL's working memory of one digest, kept: making and freeing it costs more than the digest of an identity.
private final class SHA256Working: Sendable {
    private let context = Mutex(SHA256Context())

    func digest(_ message: ByteView, into digest: inout Digest256.Bytes) {
        context.withLock { $0.digest(message, into: &digest) }
    }
}

/// The memory itself; used by one thread at a time.
@safe
private struct SHA256Context: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer

    /// Fetched once: `SHA256()` looks the algorithm up by name, under locks, for every message.
    private static nonisolated(unsafe) let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    init() {
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("no memory for SHA-256") }
        unsafe self.context = context
    }

    deinit {
        // Safe: made in init and owned by this struct alone.
        unsafe EVP_MD_CTX_free(context)
    }

    mutating func digest(_ message: ByteView, into digest: inout Digest256.Bytes) {
        var output = digest
        var span = output.mutableSpan
        // Safe: OpenSSL reads `count` bytes of the message and writes 32 bytes, which the digest has; the algorithm is
        // never changed after it was fetched.
        unsafe span.withUnsafeMutableBufferPointer { bytes in
            let source = unsafe message.unsafeBuffer.baseAddress
            let isDone =
                unsafe EVP_DigestInit_ex2(context, SHA256Context.sha256, nil) == 1
                && EVP_DigestUpdate(context, source, message.count) == 1
                && EVP_DigestFinal_ex(context, bytes.baseAddress, nil) == 1
            precondition(isDone, "OpenSSL has no SHA-256")
        }
        digest = output
    }
}
