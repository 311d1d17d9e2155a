/// Identifiers inside conditional requests.
extension ByteWriter {
    /// Writes `identifier=system|value` for `ifNoneExist`, percent-encoded so that no byte can end the parameter, read
    /// as a space or as a second search value (spec/fhir.md section 5). The result is ASCII that JSON need not escape.
    mutating func appendIdentifierSearch(system: ByteView, value: ByteView) {
        append("identifier=")
        if ByteWriter.isPlain(system) && ByteWriter.isPlain(value) {
            append(system)
            append(UInt8(ascii: "|"))
            return append(value)
        }
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
        var place = 0
        while true {
            let end = ByteWriter.plainEnd(of: text, from: place)
            append(text[place..<end])
            guard end < text.count else { return }
            if ByteWriter.isSearchSyntax(text[end]) { append("%5C") }
            append(UInt8(ascii: "%"))
            appendUpperHex(text[end])
            place = end + 1
        }
    }

    private static func needsBackslash(_ text: ByteView) -> Bool {
        for index in 0..<text.count where isSearchSyntax(text[index]) { return true }
        return false
    }

    @inline(__always)
    private static func isPlain(_ text: ByteView) -> Bool { plainEnd(of: text, from: 0) == text.count }

    /// Where the plain bytes from `start` on end.
    private static func plainEnd(of text: ByteView, from start: Int) -> Int {
        var place = start
        while place &+ 8 <= text.count, arePlain(text.word(at: place)) { place &+= 8 }
        while place < text.count, isPlain(text[place]) { place &+= 1 }
        return place
    }

    @inline(__always)
    private static func isSearchSyntax(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "|") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "$")
            || byte == UInt8(ascii: "\\")
    }

    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        // With zeros, which are plain, in the other places.
        arePlain(UInt64(byte) | 0x3030_3030_3030_3000)
    }

    /// Whether all eight bytes of `word` are plain: the unreserved characters of RFC 3986, and those of its query
    /// characters that mean nothing to a FHIR server.
    @inline(__always)
    private static func arePlain(_ word: UInt64) -> Bool {
        guard word & 0x8080_8080_8080_8080 == 0 else { return false }
        let lower = within(word, UInt8(ascii: "a"), UInt8(ascii: "z"))
        let upper = within(word, UInt8(ascii: "@"), UInt8(ascii: "Z"))
        // Digits, and `-./` before and `:` behind them.
        let digits = within(word, UInt8(ascii: "-"), UInt8(ascii: ":"))
        let others =
            within(word, UInt8(ascii: "_"), UInt8(ascii: "_")) | within(word, UInt8(ascii: "~"), UInt8(ascii: "~"))
        return lower | upper | digits | others == 0x8080_8080_8080_8080
    }

    /// The highest bit of each byte of `word` that is `first` to `last`; all bytes are ASCII.
    @inline(__always)
    private static func within(_ word: UInt64, _ first: UInt8, _ last: UInt8) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101
        // The sums set that bit for bytes from `first` on, and for those behind `last`, and carry nothing.
        let from = word &+ each &* (0x80 &- UInt64(first))
        let behind = word &+ each &* (0x7F &- UInt64(last))
        return from & ~behind & (each << 7)
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
