/// The byte form of a ``SeriesIdentity``: what lanes intern and rings carry.
///
/// Layout, all numbers little-endian: type (4 bytes), then the lengths of device, patient, encounter and correlation
/// id, each as bytes + 1 (2 bytes; 0 for "none"), then their UTF-8 in this order.
package enum SeriesKey {
    /// Longest identifier in bytes.
    package static let longestPart = 1_024

    /// Bytes before the identifiers.
    static let headBytes = 12

    /// The numbers that a key starts with.
    struct Head {
        var type: Int
        var device: UInt16 = 0
        var patient: UInt16 = 0
        var encounter: UInt16 = 0
        var correlation: UInt16 = 0
    }

    /// Starts a key, with room for its head.
    @inline(__always)
    static func begin(into writer: inout ByteWriter) {
        writer.removeAll()
        writer.append(word: 0)
        writer.append(word: 0, bytes: 4)
    }

    /// Completes a key whose identifiers have been written.
    @inline(__always)
    static func finish(_ head: Head, in writer: inout ByteWriter) {
        let type = UInt64(UInt32(truncatingIfNeeded: head.type))
        writer.store(word: type | UInt64(head.device) << 32 | UInt64(head.patient) << 48, at: 0)
        writer.store(half: UInt32(head.encounter) | UInt32(head.correlation) << 16, at: 8)
    }

    /// The key of `identity`, whose identifiers must not be longer than ``longestPart``.
    package static func encode(_ identity: SeriesIdentity) -> [UInt8] {
        func length(_ part: [UInt8]?) -> UInt16 { part.map { UInt16($0.count + 1) } ?? 0 }
        var writer = ByteWriter(capacity: 256)
        begin(into: &writer)
        writer.append(identity.device)
        for part in [identity.patient, identity.encounter, identity.correlation] { writer.append(part ?? []) }
        let head = Head(
            type: identity.type, device: length(identity.device), patient: length(identity.patient),
            encounter: length(identity.encounter), correlation: length(identity.correlation))
        finish(head, in: &writer)
        return writer.view.array
    }

    /// The number of the type.
    package static func type(of key: ByteView) -> Int { Int(key.half(at: 0)) }

    /// The device's bytes.
    package static func device(of key: ByteView) -> ByteView {
        key[headBytes..<(headBytes + max(length(key, 4), 0))]
    }

    /// The patient's bytes; nil when the key names none.
    package static func patient(of key: ByteView) -> ByteView? {
        let count = length(key, 6)
        let start = headBytes + max(length(key, 4), 0)
        return count >= 0 ? key[start..<(start + count)] : nil
    }

    /// The encounter's bytes; nil when the key names none.
    package static func encounter(of key: ByteView) -> ByteView? {
        let count = length(key, 8)
        let start = headBytes + max(length(key, 4), 0) + max(length(key, 6), 0)
        return count >= 0 ? key[start..<(start + count)] : nil
    }

    /// The correlation id's bytes; nil when the key names none.
    package static func correlation(of key: ByteView) -> ByteView? {
        let count = length(key, 10)
        return count >= 0 ? key[key.count - count..<key.count] : nil
    }

    /// Writes `key` with another patient and encounter. No part may be longer than ``longestPart``.
    static func rewrite(
        _ key: ByteView, patient: ByteView?, encounter: ByteView?, into writer: inout ByteWriter
    ) {
        let device = device(of: key)
        let correlation = length(key, 10)
        var head = Head(type: type(of: key), device: UInt16(device.count + 1))
        head.correlation = UInt16(correlation + 1)
        begin(into: &writer)
        writer.append(device)
        if let patient {
            head.patient = UInt16(patient.count + 1)
            writer.append(patient)
        }
        if let encounter {
            head.encounter = UInt16(encounter.count + 1)
            writer.append(encounter)
        }
        if correlation > 0 { writer.append(key[(key.count - correlation)..<key.count]) }
        finish(head, in: &writer)
    }

    /// The identity of a key.
    package static func identity(_ key: ByteView) -> SeriesIdentity {
        var offset = headBytes
        let type = (0..<4).reduce(0) { $0 | Int(key[$1]) << ($1 * 8) }
        let device = part(key, length(key, 4), &offset) ?? []
        let patient = part(key, length(key, 6), &offset)
        let encounter = part(key, length(key, 8), &offset)
        let correlation = part(key, length(key, 10), &offset)
        return SeriesIdentity(
            type: type, device: device, patient: patient, encounter: encounter, correlation: correlation)
    }

    /// The length at `offset`, -1 for "none".
    private static func length(_ key: ByteView, _ offset: Int) -> Int {
        (Int(key[offset]) | Int(key[offset + 1]) << 8) - 1
    }

    private static func part(_ key: ByteView, _ length: Int, _ offset: inout Int) -> [UInt8]? {
        guard length >= 0 else { return nil }
        defer { offset += length }
        return key[offset..<(offset + length)].array
    }
}
