/// SHA-256, handed in by whoever owns a crypto library: this module has none of its own.
public struct Digest256: Sendable {
    /// The 32 bytes of a digest.
    public typealias Bytes = InlineArray<32, UInt8>

    private let sha256: @Sendable (ByteView, inout Bytes) -> Void

    /// Wraps `sha256`, which must fill its second argument with the SHA-256 (FIPS 180-4) of its first.
    public init(_ sha256: @escaping @Sendable (ByteView, inout Bytes) -> Void) {
        self.sha256 = sha256
    }

    /// The digest of `message`.
    func of(_ message: ByteView) -> Bytes {
        var bytes = Bytes(repeating: 0)
        sha256(message, &bytes)
        return bytes
    }
}

extension ByteWriter {
    /// Writes `digest` in lower-case hexadecimal, 64 characters: as many as a FHIR id may have.
    mutating func appendHex(_ digest: Digest256.Bytes) {
        for index in 0..<32 { appendHex(digest[index]) }
    }

    /// Writes a UUID of version 8 (RFC 9562 section 5.8) made of the first 16 bytes of `digest`.
    mutating func appendUUID(_ digest: Digest256.Bytes) {
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { append(UInt8(ascii: "-")) }
            switch index {
            case 6: appendHex(digest[index] & 0x0F | 0x80)
            case 8: appendHex(digest[index] & 0x3F | 0x80)
            default: appendHex(digest[index])
            }
        }
    }
}
