/// How an Observation refers to its Patient and Device.
struct ObservationReferences {
    /// By `urn:uuid:` of entries of the same bundle; otherwise by identifier.
    var toEntries: Bool
    /// Digests that the UUIDs are made of.
    var subject = Digest256.Bytes(repeating: 0)
    var device = Digest256.Bytes(repeating: 0)
    var gateway = Digest256.Bytes(repeating: 0)

    /// By identifier.
    static var logical: ObservationReferences { ObservationReferences(toEntries: false) }
}

extension ByteWriter {
    /// Writes the `reference` member to the bundle entry that `digest` names.
    mutating func appendReference(_ digest: Digest256.Bytes) {
        append("\"reference\":\"urn:uuid:")
        appendUUID(digest)
        append(UInt8(ascii: "\""))
    }
}
