/// SHA-256, handed in by whoever owns a crypto library: this module has none of its own.
package struct Digest256: Sendable {
    /// The 32 bytes of a digest.
    package typealias Bytes = InlineArray<32, UInt8>

    private let sha256: @Sendable (ByteView, inout Bytes) -> Void

    /// Wraps `sha256`, which must fill its second argument with the SHA-256 (FIPS 180-4) of its first.
    package init(_ sha256: @escaping @Sendable (ByteView, inout Bytes) -> Void) {
        self.sha256 = sha256
    }

    /// The digest of `message`.
    package func of(_ message: ByteView) -> Bytes {
        var bytes = Bytes(repeating: 0)
        sha256(message, &bytes)
        return bytes
    }
}

extension ByteWriter {
    /// Writes `digest` in lower-case hexadecimal, 64 characters: as many as a FHIR id may have.
    package mutating func appendHex(_ digest: Digest256.Bytes) {
        let words = DigestWords(digest)
        var halves = SIMD8<UInt64>()
        for index in 0..<4 {
            halves[2 * index] = words[index] & 0xFFFF_FFFF
            halves[2 * index + 1] = words[index] >> 32
        }
        append(ByteWriter.hex(halves))
    }

    /// Writes a UUID of version 8 (RFC 9562 section 5.8) made of the first 16 bytes of `digest`.
    mutating func appendUUID(_ digest: Digest256.Bytes) {
        let words = DigestWords(digest)
        let first = words[0] & ~0x00F0_0000_0000_0000 | 0x0080_0000_0000_0000
        let last = words[1] & ~0xC0 | 0x80
        let second = ByteWriter.hex(UInt32(truncatingIfNeeded: first >> 32))
        let third = ByteWriter.hex(UInt32(truncatingIfNeeded: last))
        let fourth = ByteWriter.hex(UInt32(truncatingIfNeeded: last >> 32))
        // Signs stand at 8, 13, 18 and 23.
        let hyphen: UInt64 = 0x2D
        append(words: [
            ByteWriter.hex(UInt32(truncatingIfNeeded: first)),
            hyphen | (second & 0xFFFF_FFFF) << 8 | hyphen << 40 | (second >> 32) << 48,
            second >> 48 | hyphen << 16 | (third & 0xFFFF_FFFF) << 24 | hyphen << 56,
            third >> 32 | fourth << 32,
        ])
        append(word: fourth >> 32, bytes: 4)
    }

    /// Writes the UUID that ``appendUUID(_:)`` makes of the digest with these hexadecimal digits; nothing of shorter
    /// texts.
    mutating func appendUUID(hex digits: ByteView) {
        guard digits.count >= 32 else { return }
        append(digits[0..<8])
        append("-")
        append(digits[8..<12])
        append("-8")
        append(digits[13..<16])
        append("-")
        // Its two upper bits are those of the variant.
        let digit = digits[16]
        let bits = digit < UInt8(ascii: "a") ? digit & 15 : digit &- UInt8(ascii: "a") &+ 10
        let variant = bits & 3
        append(variant < 2 ? UInt8(ascii: "8") + variant : UInt8(ascii: "a") + variant - 2)
        append(digits[17..<20])
        append("-")
        append(digits[20..<32])
    }

    /// As ``hex(_:)-(UInt32)`` of the lower half of each word.
    @inline(__always)
    private static func hex(_ halves: SIMD8<UInt64>) -> SIMD8<UInt64> {
        var spread = halves
        spread = (spread | spread &<< 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread &<< 8) & 0x00FF_00FF_00FF_00FF
        let nibbles = (spread &>> 4) & 0x000F_000F_000F_000F | (spread & 0x000F_000F_000F_000F) &<< 8
        let isLetter = ((nibbles &+ 0x0606_0606_0606_0606) &>> 4) & 0x0101_0101_0101_0101
        // 39 of each.
        return nibbles &+ 0x3030_3030_3030_3030 &+ (isLetter &<< 5) &+ (isLetter &<< 3) &- isLetter
    }

    /// The eight digits of the four bytes of `word`, the lowest first. All at once, because every Observation has some
    /// two hundred of them.
    @inline(__always)
    private static func hex(_ word: UInt32) -> UInt64 {
        var spread = UInt64(word)
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        let nibbles = (spread >> 4) & 0x000F_000F_000F_000F | (spread & 0x000F_000F_000F_000F) << 8
        let isLetter = ((nibbles + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return nibbles + 0x3030_3030_3030_3030 + isLetter * 39
    }
}
