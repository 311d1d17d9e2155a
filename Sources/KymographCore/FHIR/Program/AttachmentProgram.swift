/// The DocumentReference that the samples of a series go to when they are many (`output.attachOver`).
package struct AttachmentProgram: BitwiseCopyable {
    /// The name in its identity, among the constants: that of the type, of a second series with its number.
    package var name: TableRange
    /// Its members from behind `status` up to the Reference to whom it is about.
    package var head: TableRange

    package init(name: TableRange, head: TableRange) { (self.name, self.head) = (name, head) }
}

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
