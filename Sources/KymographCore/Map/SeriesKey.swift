/// The byte form of a ``SeriesIdentity``: what lanes intern and rings carry.
///
/// Layout: type (4 bytes, little-endian), then device, patient, encounter and correlation id, each as length + 1
/// (2 bytes, little-endian; 0 for "none") and UTF-8.
public enum SeriesKey {
    /// Longest identifier in bytes.
    public static let longestPart = 1_024

    /// Bytes before the device's length.
    static let typeBytes = 4

    /// Starts a key.
    @inline(__always)
    static func begin(type: Int, into writer: inout ByteWriter) {
        writer.removeAll()
        writer.append(word: UInt64(truncatingIfNeeded: type), bytes: 4)
    }

    /// Adds a part; its length is patched by ``endPart(at:in:)``.
    @inline(__always)
    static func beginPart(in writer: inout ByteWriter) -> Int {
        writer.append(word: 0, bytes: 2)
        return writer.count
    }

    /// Completes the part whose bytes start at `start`. False when it is too long.
    @inline(__always)
    static func endPart(at start: Int, in writer: inout ByteWriter) -> Bool {
        let length = writer.count - start
        guard length <= longestPart else { return false }
        writer[start - 2] = UInt8(truncatingIfNeeded: length + 1)
        writer[start - 1] = UInt8(truncatingIfNeeded: (length + 1) >> 8)
        return true
    }

    /// The device's bytes.
    public static func device(of key: ByteView) -> ByteView {
        let length = partLength(key, typeBytes)
        return key[(typeBytes + 2)..<(typeBytes + 2 + max(length, 0))]
    }

    /// The identity of a key.
    public static func identity(_ key: ByteView) -> SeriesIdentity {
        var offset = typeBytes
        let type = (0..<4).reduce(0) { $0 | Int(key[$1]) << ($1 * 8) }
        let device = part(key, &offset) ?? []
        let patient = part(key, &offset)
        let encounter = part(key, &offset)
        return SeriesIdentity(
            type: type, device: device, patient: patient, encounter: encounter, correlation: part(key, &offset))
    }

    private static func partLength(_ key: ByteView, _ offset: Int) -> Int {
        (Int(key[offset]) | Int(key[offset + 1]) << 8) - 1
    }

    private static func part(_ key: ByteView, _ offset: inout Int) -> [UInt8]? {
        let length = partLength(key, offset)
        offset += 2
        guard length >= 0 else { return nil }
        defer { offset += length }
        return key[offset..<(offset + length)].array
    }
}
