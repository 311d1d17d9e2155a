/// How an Observation refers to its Patient and Device.
struct ObservationReferences {
    /// By `urn:uuid:` of entries of the same bundle; otherwise by identifier.
    var toEntries: Bool
    /// By `Patient/id` and `Device/id` instead, as the reference does; only with `toEntries`.
    var isByID = false
    /// Digests that the UUIDs are made of.
    var subject = Digest256.Bytes(repeating: 0)
    var device = Digest256.Bytes(repeating: 0)

    /// By identifier.
    static var logical: ObservationReferences { ObservationReferences(toEntries: false) }
}

extension ByteWriter {
    /// Writes the `reference` member to the bundle entry that `digest` names, or to the resource of `type` (with its
    /// slash) that has it as id.
    mutating func appendReference(_ digest: Digest256.Bytes, _ type: StaticString, isByID: Bool) {
        if isByID {
            append("\"reference\":\"")
            append(type)
            appendHex(digest)
        } else {
            append("\"reference\":\"urn:uuid:")
            appendUUID(digest)
        }
        append(UInt8(ascii: "\""))
    }
}
