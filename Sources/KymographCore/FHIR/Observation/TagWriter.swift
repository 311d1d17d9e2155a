/// Writes the tags of a content's readings into `meta.tag` of its Observation: those that its template has not, each
/// once, in the order of their bytes, so that they depend on nothing but the readings. Of more than
/// ``ReadingTags/mostWritten``, which senders can bring about, the first are written: sinks choose by the readings.
struct TagWriter: ~Copyable, Sendable {
    /// Tags of the prepared content (``ReadingTags``).
    private var tags = ByteWriter(capacity: 64)
    private var union = ByteWriter(capacity: 64)
    /// Whether readings of the content have tags besides. Of a content without tags it says nothing.
    private var isCut = false

    /// Gathers the tags of the readings of `content`.
    @inline(__always)
    mutating func prepare(_ content: borrowing WindowContent) {
        tags.removeAll()
        if content.hasPayloads { gather(content) }
    }

    @inline(never)
    private mutating func gather(_ content: borrowing WindowContent) {
        for index in 0..<content.readings.count where content.readings[index].payloadBytes > 0 {
            let own = ReadingTags.list(in: content.readings.payload(index))
            // Most have the tags of the one before.
            if own.count > 0, !own.equals(tags.view) { add(own) }
        }
    }

    /// What is not among the first of some readings is not among the first of all: the order in which readings are
    /// gathered does not matter, and one costs no more the more there are.
    private mutating func add(_ own: ByteView) {
        if tags.count == 0 { isCut = false }
        union.removeAll()
        if !ReadingTags.appendUnion(tags.view, own, most: ReadingTags.mostWritten, to: &union) { isCut = true }
        swap(&tags, &union)
    }

    /// Writes what is missing in `known`, the template's own tags, at `place`; `losses` says when that is not all.
    @inline(__always)
    mutating func write(
        _ place: TagPlace, known: ByteView, to writer: inout ByteWriter, _ losses: inout ObservationLosses
    ) {
        if tags.count > 0 { writeAll(place, known: known, to: &writer, &losses) }
    }

    @inline(never)
    private mutating func writeAll(
        _ place: TagPlace, known: ByteView, to writer: inout ByteWriter, _ losses: inout ObservationLosses
    ) {
        if isCut { losses.cutTags = 1 }
        var isFirst = true
        ReadingTags.forEach(in: tags.view) { tag in
            guard !ReadingTags.contains(tag, in: known) else { return }
            writer.append(isFirst ? place.opening : ",")
            isFirst = false
            TagWriter.append(tag, to: &writer)
        }
        if !isFirst { writer.append(place.closing) }
    }

    /// Writes `known` and those of the content as `meta` of another resource of the same readings; nothing without any.
    func writeMeta(known: ByteView, to writer: inout ByteWriter) {
        var isFirst = true
        func add(_ tag: ByteView, _ writer: inout ByteWriter) {
            writer.append(isFirst ? TagPlace.alone.opening : ",")
            isFirst = false
            TagWriter.append(tag, to: &writer)
        }
        ReadingTags.forEach(in: known) { add($0, &writer) }
        ReadingTags.forEach(in: tags.view) { tag in
            if !ReadingTags.contains(tag, in: known) { add(tag, &writer) }
        }
        if !isFirst { writer.append(TagPlace.alone.closing) }
    }

    /// Appends `tag` as a Coding. A system has no bar.
    private static func append(_ tag: ByteView, to writer: inout ByteWriter) {
        let code = ReadingTags.code(of: tag)
        writer.append("{")
        if code.count < tag.count {
            writer.append("\"system\":\"")
            writer.appendJSON(tag[0..<tag.count - code.count - 1])
            writer.append("\",")
        }
        writer.append("\"code\":\"")
        writer.appendJSON(code)
        writer.append("\"}")
    }
}
