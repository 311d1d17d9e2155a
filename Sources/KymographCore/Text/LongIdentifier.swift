/// Values of identifiers that are longer than what servers compare.
///
/// A server may compare no more than the first 128 characters of an identifier (microsoft/iomt-fhir, pull request 187)
/// and would take two longer ones for one. A longer value is written, and searched for, as `sha256:` and the SHA-256 of
/// its UTF-8 in hexadecimal; its resource has the whole text as a second identifier, of use `secondary` and the system
/// `urn:kymograph:full-identifier`. Under `compatibility: iomt-fhir` values are written as they are.
enum LongIdentifier {
    /// Most characters of a value that is written as it is, as UTF-16 counts them, which those servers go by.
    static let mostCharacters = 128

    /// Whether `value` is longer.
    @inline(__always)
    static func isLong(_ value: ByteView) -> Bool { value.count > mostCharacters && hasMoreCharacters(value) }

    @inline(never)
    private static func hasMoreCharacters(_ value: ByteView) -> Bool {
        var count = 0
        for index in 0..<value.count where value[index] & 0xC0 != 0x80 { count += value[index] >= 0xF0 ? 2 : 1 }
        return count > mostCharacters
    }
}

extension ByteWriter {
    /// Writes what stands for a long value.
    @inline(never)
    mutating func appendDigest(of value: ByteView, _ digest: Digest256) {
        append("sha256:")
        appendHex(digest.of(value))
    }

    /// Writes the value of a resource's identifier within quotes; behind what stands for a long one a second
    /// identifier with the whole text begins, which is to be closed as the first would be.
    @inline(__always)
    mutating func appendIdentifier(_ value: ByteView, _ digest: Digest256) {
        guard LongIdentifier.isLong(value) else { return appendJSON(value) }
        appendDigest(of: value, digest)
        appendFullIdentifier(value)
    }

    /// Closes an identifier whose value stands for `value`, and begins the one that has it whole.
    @inline(never)
    mutating func appendFullIdentifier(_ value: ByteView) {
        append("\"},{\"use\":\"secondary\",\"system\":\"urn:kymograph:full-identifier\",\"value\":\"")
        appendJSON(value)
    }
}
