import COpenSSL
package import KymographCore

extension Digest160 {
    /// SHA-1 by OpenSSL. FHIR names it for `Attachment.hash`; what must not be forged has a SHA-256 beside it.
    package static var openSSL: Digest160 {
        Digest160 { message, digest in
            var output = digest
            var span = output.mutableSpan
            // Safe: OpenSSL reads `count` bytes of the message and writes 20 bytes, which the digest has.
            unsafe span.withUnsafeMutableBufferPointer { bytes in
                let hasDigest = unsafe SHA1(message.unsafeBuffer.baseAddress, message.count, bytes.baseAddress) != nil
                precondition(hasDigest, "OpenSSL has no SHA-1")
            }
            digest = output
        }
    }
}

extension ObservationOptions {
    /// The defaults, with hashes of attachments.
    static var withHashes: ObservationOptions {
        var options = ObservationOptions()
        options.sha1 = .openSSL
        return options
    }
}
