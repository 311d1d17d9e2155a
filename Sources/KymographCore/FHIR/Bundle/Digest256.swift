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
        for group in 0..<8 { append(word: ByteWriter.hex(digest, group)) }
    }

    /// Writes a UUID of version 8 (RFC 9562 section 5.8) made of the first 16 bytes of `digest`.
    mutating func appendUUID(_ digest: Digest256.Bytes) {
        var bytes = digest
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        append(word: ByteWriter.hex(bytes, 0))
        append(UInt8(ascii: "-"))
        let second = ByteWriter.hex(bytes, 1)
        append(word: second, bytes: 4)
        append(UInt8(ascii: "-"))
        append(word: second >> 32, bytes: 4)
        append(UInt8(ascii: "-"))
        let third = ByteWriter.hex(bytes, 2)
        append(word: third, bytes: 4)
        append(UInt8(ascii: "-"))
        append(word: third >> 32, bytes: 4)
        append(word: ByteWriter.hex(bytes, 3))
    }

    /// The eight digits of bytes 4 × `group` …, the first in the lowest byte. All at once, because every Observation
    /// has some two hundred of them.
    @inline(__always)
    private static func hex(_ digest: Digest256.Bytes, _ group: Int) -> UInt64 {
        var spread: UInt64 = 0
        for index in 0..<4 { spread |= UInt64(digest[group * 4 + index]) << UInt64(index * 16) }
        let nibbles = (spread >> 4) & 0x000F_000F_000F_000F | (spread & 0x000F_000F_000F_000F) << 8
        let isLetter = ((nibbles + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return nibbles + 0x3030_3030_3030_3030 + isLetter * 39
    }
}
