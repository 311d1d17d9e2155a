/// Writes segments as JSON: fields and components by their numbers, those that are empty left out.
struct HL7SegmentWriter: ~Copyable {
    /// Writes texts, and knows the message's delimiters.
    var text = HL7Text()

    init() {}

    private var delimiters: HL7Delimiters { text.delimiters }

    /// Writes the members of `segment`, from its name on, with commas between; whether there are any.
    mutating func appendMembers(of segment: ByteView, _ needs: HL7Needs, to writer: inout ByteWriter) -> Bool {
        let isHeader = segment[0..<3].equals(ByteView("MSH"))
        var (number, start, hasAny) = (1, 4, false)
        if isHeader {
            // The first two are the delimiters themselves.
            hasAny = appendHeaderFields(segment, needs, to: &writer)
            (number, start) = (3, min(segment.count, 4 + (delimiters.truncation == 0 ? 4 : 5) + 1))
        }
        while start <= segment.count, segment.count > 3 {
            let end = segment.firstIndex(of: delimiters.field, from: start) ?? segment.count
            if end > start, needs.has(field: number) {
                if hasAny { writer.append(",") }
                appendKey(number, to: &writer)
                append(field: segment[start..<end], to: &writer)
                hasAny = true
            }
            (number, start) = (number + 1, end + 1)
        }
        return hasAny
    }

    private mutating func appendHeaderFields(
        _ segment: ByteView, _ needs: HL7Needs, to writer: inout ByteWriter
    ) -> Bool {
        guard needs.has(field: 1) || needs.has(field: 2) else { return false }
        writer.append("\"1\":\"")
        writer.appendJSON(segment[3..<4])
        writer.append("\",\"2\":\"")
        writer.appendJSON(segment[4..<(delimiters.truncation == 0 ? 8 : 9)])
        writer.append("\"")
        return true
    }

    /// Writes the value of a field: a text; an object of its components; an array of its repetitions; `null` where it
    /// is said to be nothing.
    mutating func append(field: ByteView, to writer: inout ByteWriter) {
        guard field.firstIndex(of: delimiters.repetition, from: 0) != nil else {
            return append(repetition: field, to: &writer)
        }
        writer.append("[")
        forEachPart(of: field, between: delimiters.repetition) { (writerState, number, part) in
            if number > 1 { writer.append(",") }
            writerState.append(repetition: part, to: &writer)
        }
        writer.append("]")
    }

    private mutating func append(repetition: ByteView, to writer: inout ByteWriter) {
        let hasComponents = repetition.firstIndex(of: delimiters.component, from: 0) != nil
        guard hasComponents || repetition.firstIndex(of: delimiters.subcomponent, from: 0) != nil else {
            return appendValue(repetition, to: &writer)
        }
        appendObject(of: repetition, between: delimiters.component, to: &writer) { (writerState, part, writer) in
            guard part.firstIndex(of: writerState.delimiters.subcomponent, from: 0) != nil else {
                return writerState.appendValue(part, to: &writer)
            }
            let subcomponent = writerState.delimiters.subcomponent
            writerState.appendObject(of: part, between: subcomponent, to: &writer) { $0.appendValue($1, to: &$2) }
        }
    }

    private mutating func appendObject(
        of bytes: ByteView, between separator: UInt8, to writer: inout ByteWriter,
        _ append: (inout HL7SegmentWriter, ByteView, inout ByteWriter) -> Void
    ) {
        writer.append("{")
        var hasAny = false
        forEachPart(of: bytes, between: separator) { (writerState, number, part) in
            guard part.count > 0 else { return }
            if hasAny { writer.append(",") }
            hasAny = true
            writerState.appendKey(number, to: &writer)
            append(&writerState, part, &writer)
        }
        writer.append("}")
    }

    private mutating func appendValue(_ value: ByteView, to writer: inout ByteWriter) {
        if value.isHL7Null { writer.append("null") } else { text.append(value, to: &writer) }
    }

    private func appendKey(_ number: Int, to writer: inout ByteWriter) {
        writer.append("\"")
        writer.append(digits: UInt64(number))
        writer.append("\":")
    }

    private mutating func forEachPart(
        of bytes: ByteView, between separator: UInt8, _ body: (inout HL7SegmentWriter, Int, ByteView) -> Void
    ) {
        var (number, start) = (1, 0)
        while start <= bytes.count {
            let end = bytes.firstIndex(of: separator, from: start) ?? bytes.count
            body(&self, number, bytes[start..<end])
            (number, start) = (number + 1, end + 1)
        }
    }
}
