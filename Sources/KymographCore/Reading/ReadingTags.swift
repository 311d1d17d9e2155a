/// The tags that a reading has from rules, sources and peers, for `meta.tag` of its Observation.
///
/// A reading keeps them in its payload, as the text of a slot that no value has: each as `system|code` or `code` with a
/// line feed behind it, in the order of their bytes, each once. Of readings that become one, that one has the tags of
/// all; what tags a reading has says nothing about whether two readings are the same.
package enum ReadingTags {
    /// The slot: types have fewer values.
    package static let slot = 255
    /// Most bytes of the tags of one reading, with the end of each.
    package static let longest = 4_096
    /// Most tags of readings in one Observation: those of a template are besides.
    package static let mostWritten = 64
    /// Most bytes of one tag: a reading carries all of its tags.
    package static let longestTag = 200
    /// Ends each tag.
    static let end = UInt8(ascii: "\n")
    /// In place of a list, that any tag may be in it: no tag is empty.
    static let any = [end]

    /// `tags` as readings keep them.
    package static func list(_ tags: some Sequence<String>) -> [UInt8] {
        let sorted = Set(tags.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
        return sorted.flatMap { $0 + [end] }
    }

    /// The tags of a reading with this payload; no bytes when it has none.
    package static func list(in payload: ByteView) -> ByteView {
        guard payload.count > 0, let record = ValueRecord.find(slot, in: payload) else { return ByteView("") }
        return payload[record.bytes]
    }

    /// Appends the tags that are in `one` or in `other`.
    package static func appendUnion(_ one: ByteView, _ other: ByteView, to writer: inout ByteWriter) {
        _ = appendUnion(one, other, most: .max, to: &writer)
    }

    /// Appends the first `most` of the tags that are in `one` or in `other`; whether that is all.
    package static func appendUnion(
        _ one: ByteView, _ other: ByteView, most: Int, to writer: inout ByteWriter
    ) -> Bool {
        var (mine, theirs) = (tag(of: one, at: 0), tag(of: other, at: 0))
        var count = 0
        while !mine.isEmpty || !theirs.isEmpty {
            guard count < most else { return false }
            count += 1
            let takesMine = theirs.isEmpty || !mine.isEmpty && !precedes(other[theirs], one[mine])
            let takesTheirs = mine.isEmpty || !theirs.isEmpty && !precedes(one[mine], other[theirs])
            writer.append(takesMine ? one[mine] : other[theirs])
            if takesMine { mine = tag(of: one, at: mine.upperBound) }
            if takesTheirs { theirs = tag(of: other, at: theirs.upperBound) }
        }
        return true
    }

    /// Appends `payload` with `tags` as those of the reading; with none, without.
    package static func append(_ payload: ByteView, with tags: ByteView, to writer: inout ByteWriter) {
        writer.append(payload[0..<start(in: payload)])
        if tags.count > 0 { ValueRecord.append(slot: slot, text: tags, to: &writer) }
    }

    /// Appends `payload` with `tags` besides those that the reading has; false, and nothing is appended, when that is
    /// more than ``longest``.
    package static func append(_ payload: ByteView, adding tags: ByteView, to writer: inout ByteWriter) -> Bool {
        var union = ByteWriter(capacity: 64)
        appendUnion(list(in: payload), tags, to: &union)
        guard union.count <= longest else { return false }
        append(payload, with: union.view, to: &writer)
        return true
    }

    /// Appends `payload` with `tags`, of the reading that it takes the place of, besides its own: with `tags` alone
    /// when both are more than ``longest``, because sinks have got that reading for them.
    package static func append(_ payload: ByteView, keeping tags: ByteView, to writer: inout ByteWriter) {
        if !append(payload, adding: tags, to: &writer) { append(payload, with: tags, to: &writer) }
    }

    /// Where the tags of a reading begin in its payload: they are the last record.
    static func start(in payload: ByteView) -> Int {
        var offset = 0
        while let record = ValueRecord.read(payload, at: offset), record.slot < slot {
            offset = record.bytes.upperBound
        }
        return offset
    }

    /// Each tag of `list`, as text.
    package static func texts(_ list: ByteView) -> [String] {
        list.array.split(separator: end).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with each tag of `list`.
    static func forEach(in list: ByteView, _ body: (ByteView) -> Void) {
        var place = 0
        while case let tag = tag(of: list, at: place), !tag.isEmpty {
            body(list[tag.lowerBound..<tag.upperBound - 1])
            place = tag.upperBound
        }
    }

    /// Whether `text` is a FHIR `code`: no white space but single blanks within.
    package static func isCode(_ text: Substring) -> Bool {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return words.allSatisfy { word in
            !word.isEmpty && word.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 }
        }
    }

    /// What is behind the system of a tag, which has no bar.
    package static func code(of tag: ByteView) -> ByteView {
        var bar = 0
        while bar < tag.count, tag[bar] != UInt8(ascii: "|") { bar += 1 }
        return bar < tag.count ? tag[bar + 1..<tag.count] : tag
    }

    /// Whether one of `names`, each a code or `system|code`, is in `list`.
    package static func contains(any names: [[UInt8]], in list: ByteView) -> Bool {
        var isThere = false
        forEach(in: list) { tag in
            isThere = isThere || names.contains { tag.equals($0) || code(of: tag).equals($0) }
        }
        return isThere
    }

    /// Whether `tag` is in `list`.
    static func contains(_ tag: ByteView, in list: ByteView) -> Bool {
        var isThere = false
        forEach(in: list) { other in isThere = isThere || other.equals(tag) }
        return isThere
    }

    /// The tag of `list` that begins at `place`, with its end.
    private static func tag(of list: ByteView, at place: Int) -> Range<Int> {
        var last = place
        while last < list.count, list[last] != end { last += 1 }
        return place..<min(last + 1, list.count)
    }

    /// Whether `one` is before `other` in the order of bytes.
    private static func precedes(_ one: ByteView, _ other: ByteView) -> Bool {
        var place = 0
        while place < min(one.count, other.count) {
            if one[place] != other[place] { return one[place] < other[place] }
            place += 1
        }
        return one.count < other.count
    }
}
