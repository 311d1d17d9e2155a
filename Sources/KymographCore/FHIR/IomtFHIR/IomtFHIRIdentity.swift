/// Logical ids as the reference system's Create mode makes them: the lower-case hexadecimal SHA-256 of `system_value`
/// (mapping dialect, section 7).
extension Digest256 {
    /// The digest that the id of the resource with this identifier is made of; `scratch` is overwritten.
    func ofIdentifier(_ system: [UInt8], _ value: [UInt8], scratch: inout ByteWriter) -> Bytes {
        scratch.removeAll()
        scratch.append(system)
        scratch.append(UInt8(ascii: "_"))
        scratch.append(value)
        return of(scratch.view)
    }

    /// The logical id of the resource with this identifier; an empty system is allowed.
    package func resourceID(system: String, value: String) -> String {
        var scratch = ByteWriter()
        let digest = ofIdentifier(Array(system.utf8), Array(value.utf8), scratch: &scratch)
        scratch.removeAll()
        scratch.appendHex(digest)
        return scratch.view.string
    }
}

/// Digests that the logical ids of an Observation's Patient and Device are made of.
struct ResourceDigests: BitwiseCopyable {
    var subject = Digest256.Bytes(repeating: 0)
    var device = Digest256.Bytes(repeating: 0)
}

extension ByteWriter {
    /// Writes the reference's identity of `content`: `patient.device.name.segment`, the first two as logical ids and
    /// all of them verbatim (mapping dialect, section 6.1).
    ///
    /// A reading with an encounter, or with a correlation id that is not its segment, has further parts: the reference
    /// merges such windows on the server, and ours would replace each other.
    mutating func appendReferenceIdentity(
        _ content: borrowing WindowContent, _ program: TypeProgram, name: ByteView, resources: ResourceDigests,
        times: inout TimeTexts
    ) {
        appendHex(resources.subject)
        append(UInt8(ascii: "."))
        appendHex(resources.device)
        append(UInt8(ascii: "."))
        append(name)
        append(UInt8(ascii: "."))
        if program.segment == .correlation {
            if let correlation = content.series.correlation { append(correlation) }
        } else {
            appendSegment(content, program, &times)
        }
        appendFurtherParts(of: content, program)
    }
}

/// References as the reference system reads them.
package enum ResourceReference {
    /// The id in `reference` when it is `type/id`, without regard to the case of the type; nil when it is anything else
    /// (mapping dialect, section 7).
    package static func id(of reference: String, type: String) -> String? {
        let parts = reference.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == type.lowercased(), !parts[1].isEmpty,
            parts[1].utf8.allSatisfy(isIDByte)
        else { return nil }
        return String(parts[1])
    }

    private static func isIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "_.-~#".utf8.contains(byte)
        }
    }
}
