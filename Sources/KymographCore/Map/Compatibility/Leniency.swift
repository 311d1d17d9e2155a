/// What a mapper needs for documents that are not quite JSON.
package struct Leniency: ~Copyable {
    var reader = LenientJSON()
    /// The document as JSON.
    package var text = ByteWriter(capacity: 1_024)

    package init() {}

    /// Rewrites the value at `start` and scans it; the offset behind it, or nil when even this reader refuses it.
    package mutating func rewrite(_ bytes: ByteView, from start: Int, into scanner: inout JSONScanner) -> Int? {
        guard let end = try? reader.rewrite(bytes, from: start, into: &text),
            (try? scanner.scan(text.view, from: 0)) == text.count
        else { return nil }
        return end
    }

    /// Whether there are only blanks and comments from `start` on.
    package mutating func isBlank(_ bytes: ByteView, from start: Int) -> Bool {
        (try? reader.valueStart(bytes, from: start)) == bytes.count
    }

    /// Where the bytes `range` of ``text`` came from.
    package func original(_ range: Range<Int>) -> Range<Int> {
        guard !range.isEmpty else { return reader.original(range.lowerBound)..<reader.original(range.lowerBound) }
        return reader.original(range.lowerBound)..<(reader.original(range.upperBound - 1) + 1)
    }
}
