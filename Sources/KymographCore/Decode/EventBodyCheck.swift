/// Checks that bytes can be the body of an event whose properties come from elsewhere, and say nothing of them.
///
/// Templates search events at any depth: an object in the body that looks like an event would be one, with properties
/// that whoever has sent the body chose, and be of any device that they name.
package struct EventBodyCheck: ~Copyable {
    // The lane has limits; here no body is refused that it would take.
    private var scanner = JSONScanner(
        names: NameTable(["Body", "Properties", "SystemProperties"]),
        limits: ScanLimits(depth: 1_024, values: .max), payloadIsRoot: true)

    /// A check of bodies of any size.
    package init() {}

    /// Whether `bytes`, which must be padded, are one JSON document in which no object has `SystemProperties`, nor some
    /// a `Body` and some `Properties`.
    package mutating func allows(_ bytes: ByteView) -> Bool {
        guard let end = try? scanner.scan(bytes, from: 0), JSONScanner.skipSpace(bytes, end) == bytes.count else {
            return false
        }
        return !has(NameTable.systemProperties) && !(has(NameTable.body) && has(NameTable.properties))
    }

    private func has(_ name: UInt16) -> Bool { scanner.nameMask & 1 << UInt64(name) != 0 }
}
