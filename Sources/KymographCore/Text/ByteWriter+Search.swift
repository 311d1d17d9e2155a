/// Identifiers inside conditional requests.
extension ByteWriter {
    /// Writes `identifier=system|value` for `ifNoneExist`, percent-encoded so that no byte can end the parameter, read
    /// as a space or as a second search value (spec/fhir.md section 5). The result is ASCII that JSON need not escape.
    mutating func appendIdentifierSearch(system: ByteView, value: ByteView) {
        append("identifier=")
        appendSearchToken(system)
        // FHIR search reads an unescaped comma as "or", and a bar or dollar as a separator, even when percent-encoded:
        // those take a backslash (R4 search, "Escaping Search Parameters"). The separating bar is then percent-encoded
        // too, so that a reader that splits before decoding sees one opaque parameter instead of a wrong identifier.
        let isEscaped = ByteWriter.needsBackslash(system) || ByteWriter.needsBackslash(value)
        isEscaped ? append("%7C") : append(UInt8(ascii: "|"))
        appendSearchToken(value)
    }

    /// As ``appendIdentifierSearch(system:value:)`` for the query of a URL, where RFC 3986 allows no bare bar.
    mutating func appendIdentifierQuery(system: ByteView, value: ByteView) {
        append("identifier=")
        appendSearchToken(system)
        append("%7C")
        appendSearchToken(value)
    }

    fileprivate mutating func appendSearchToken(_ text: ByteView) {
        var clean = 0
        for index in 0..<text.count where !ByteWriter.isPlain(text[index]) {
            append(text[clean..<index])
            if ByteWriter.isSearchSyntax(text[index]) { append("%5C") }
            append(UInt8(ascii: "%"))
            appendUpperHex(text[index])
            clean = index + 1
        }
        append(text[clean..<text.count])
    }

    private static func needsBackslash(_ text: ByteView) -> Bool {
        for index in 0..<text.count where isSearchSyntax(text[index]) { return true }
        return false
    }

    @inline(__always)
    private static func isSearchSyntax(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "|") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "$")
            || byte == UInt8(ascii: "\\")
    }

    /// The unreserved characters of RFC 3986, and those of its query characters that mean nothing to a FHIR server.
    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "@"): true
        default: false
        }
    }

    private mutating func appendUpperHex(_ byte: UInt8) {
        let start = count
        appendHex(byte)
        for index in start..<count where self[index] >= UInt8(ascii: "a") { self[index] -= 32 }
    }
}

/// Searches by identifier, for whoever asks a server.
package enum IdentifierSearch {
    /// `identifier=system|value`, as conditions of bundles have it.
    package static func condition(system: String, value: String) -> String {
        var writer = ByteWriter(capacity: 64)
        Array(system.utf8).withByteView { system in
            Array(value.utf8).withByteView { writer.appendIdentifierSearch(system: system, value: $0) }
        }
        return writer.view.string
    }

    /// `identifier=system%7Cvalue`, percent-encoded for the query of a URL; only the value when `system` is empty.
    package static func query(system: String, value: String) -> String {
        var writer = ByteWriter(capacity: 64)
        Array(value.utf8).withByteView { value in
            if !system.isEmpty {
                return Array(system.utf8).withByteView { writer.appendIdentifierQuery(system: $0, value: value) }
            }
            writer.append("identifier=")
            writer.appendSearchToken(value)
        }
        return writer.view.string
    }
}
