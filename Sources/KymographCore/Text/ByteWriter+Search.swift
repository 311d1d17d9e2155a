/// A text as it is written in searches, made once for what comes again and again.
struct SearchToken {
    let encoded: [UInt8]
    /// Whether some of its bytes took a backslash.
    let hasBackslash: Bool

    init(_ text: [UInt8]) {
        var writer = ByteWriter(capacity: text.count)
        hasBackslash = text.withByteView { text in
            writer.appendSearchToken(text)
            return ByteWriter.needsBackslash(text)
        }
        encoded = writer.view.array
    }
}

/// Identifiers inside conditional requests.
extension ByteWriter {
    /// Writes `identifier=system|value` for `ifNoneExist`, percent-encoded so that no byte can end the parameter, read
    /// as a space or as a second search value (spec/fhir.md section 5). The result is ASCII that JSON need not escape.
    mutating func appendIdentifierSearch(system: SearchToken, value: ByteView) {
        append("identifier=")
        append(system.encoded)
        appendSearchValue(value, hasBackslash: system.hasBackslash)
    }

    /// Writes the bar behind a system, which may have taken a backslash, and `value`.
    mutating func appendSearchValue(_ value: ByteView, hasBackslash: Bool) {
        // As nearly all identifiers are.
        let isPlain = ByteWriter.isPlain(value)
        // FHIR search reads an unescaped comma as "or", and a bar or dollar as a separator, even when percent-encoded:
        // those take a backslash (R4 search, "Escaping Search Parameters"). The separating bar is then percent-encoded
        // too, so that a reader that splits before decoding sees one opaque parameter instead of a wrong identifier.
        let isEscaped = hasBackslash || !isPlain && ByteWriter.needsBackslash(value)
        isEscaped ? append("%7C") : append(UInt8(ascii: "|"))
        isPlain ? append(value) : appendSearchToken(value)
    }

    /// As ``appendIdentifierSearch(system:value:)`` for the query of a URL, where RFC 3986 allows no bare bar.
    mutating func appendIdentifierQuery(system: SearchToken, value: ByteView) {
        append("identifier=")
        append(system.encoded)
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

    private static func isPlain(_ text: ByteView) -> Bool {
        for index in 0..<text.count where !isPlain(text[index]) { return false }
        return true
    }

    fileprivate static func needsBackslash(_ text: ByteView) -> Bool {
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
public enum IdentifierSearch {
    /// `identifier=system%7Cvalue`, percent-encoded for the query of a URL; only the value when `system` is empty.
    public static func query(system: String, value: String) -> String {
        var writer = ByteWriter(capacity: 64)
        Array(value.utf8).withByteView { value in
            if !system.isEmpty {
                return writer.appendIdentifierQuery(system: SearchToken(Array(system.utf8)), value: value)
            }
            writer.append("identifier=")
            writer.appendSearchToken(value)
        }
        return writer.view.string
    }
}
