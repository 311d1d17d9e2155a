/// SHA-1 (FIPS 180-4), which FHIR has in `Attachment.hash`; handed in as ``Digest256`` is. It protects nothing.
package struct Digest160: Sendable {
    /// The 20 bytes of a digest.
    package typealias Bytes = InlineArray<20, UInt8>

    private let sha1: @Sendable (ByteView, inout Bytes) -> Void

    /// Wraps `sha1`, which must fill its second argument with the SHA-1 of its first.
    package init(_ sha1: @escaping @Sendable (ByteView, inout Bytes) -> Void) { self.sha1 = sha1 }

    /// The digest of `message`.
    package func of(_ message: ByteView) -> Bytes {
        var bytes = Bytes(repeating: 0)
        sha1(message, &bytes)
        return bytes
    }
}
