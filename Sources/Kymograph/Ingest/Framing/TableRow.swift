import KymographCore

/// Reads rows of a table byte by byte, with quotes as RFC 4180 has them.
struct TableRow: ~Copyable {
    /// What a byte is.
    enum Step {
        /// One within the row.
        case inside
        /// The end of its line, and of the row.
        case end
    }

    /// Where in a field the reader is.
    private enum Place {
        case start
        case plain
        case quoted
        /// Behind a quote within quotes: it ends the field, or stands for one.
        case quote
        /// Behind a carriage return after quotes, before the end of the line.
        case returned
        /// Behind what no field can have, until the line ends.
        case broken
    }

    /// A field without its quotes.
    struct Field {
        /// Its bytes in ``TableRow/text``.
        var range: Range<Int>
        /// Whether it was quoted, and is a text whatever it looks like.
        var isQuoted: Bool
    }

    private let framing: TableFraming
    private var place = Place.start
    private var isQuoted = false
    private var start = 0
    private var isComment = false
    /// The fields of the row; not all of one that is too long.
    private(set) var fields: [Field] = []
    /// Their bytes.
    private(set) var text = ByteWriter(capacity: 256)
    /// The row as it came, with its line ends; up to the cap.
    private(set) var raw = ByteWriter(capacity: 256)
    private let cap: Int
    /// Whether the row is longer than the cap.
    private(set) var isTooLong = false

    /// Expects the first row; none may have more than `cap` bytes.
    init(_ framing: TableFraming, cap: Int) {
        self.framing = framing
        self.cap = cap
    }

    /// Whether the row is no table's.
    var isBroken: Bool { place == .broken }

    /// Whether nothing has come of the row.
    var isEmpty: Bool { raw.count == 0 }

    /// Whether the line is empty or a comment.
    var isBlank: Bool {
        isComment
            || fields.count == 1 && !fields[0].isQuoted && fields[0].range.isEmpty && !isBroken && !isTooLong
    }

    /// Forgets the row.
    mutating func removeAll() {
        (place, isQuoted, start, isComment, isTooLong) = (.start, false, 0, false, false)
        fields.removeAll(keepingCapacity: true)
        text.removeAll()
        raw.removeAll()
    }

    /// Reads the next byte.
    mutating func step(_ byte: UInt8) -> Step {
        if isEmpty, byte == framing.comment { isComment = true }
        if raw.count < cap { raw.append(byte) } else { isTooLong = true }
        if byte == 0x0A, place != .quoted || isComment {
            finish()
            return .end
        }
        if isComment { return .inside }
        place = next(byte)
        return .inside
    }

    /// Ends the last field.
    mutating func finish() {
        // A quote that does not end swallows what is behind it.
        if place == .quoted { place = .broken }
        if place == .plain || place == .start, text.count > start, text[text.count - 1] == 0x0D {
            text.truncate(to: text.count - 1)
        }
        endField()
    }

    private mutating func next(_ byte: UInt8) -> Place {
        switch place {
        case .broken: return .broken
        case .quoted:
            guard byte != UInt8(ascii: "\"") else { return .quote }
            keep(byte)
            return .quoted
        case .quote where byte == UInt8(ascii: "\""):
            keep(byte)
            return .quoted
        case .quote:
            if byte == 0x0D { return .returned }
            return byte == framing.delimiter ? nextField() : .broken
        case .returned: return .broken
        case .start where byte == UInt8(ascii: "\""):
            isQuoted = true
            return .quoted
        case .start, .plain:
            if byte == framing.delimiter { return nextField() }
            if byte == UInt8(ascii: "\"") { return .broken }
            if place == .start, framing.isTrimmed, byte == 0x20 || byte == 0x09 { return .start }
            keep(byte)
            return .plain
        }
    }

    /// Adds `byte` to the field; nothing reads the fields of a row that is too long.
    private mutating func keep(_ byte: UInt8) {
        if !isTooLong { text.append(byte) }
    }

    private mutating func nextField() -> Place {
        endField()
        return .start
    }

    private mutating func endField() {
        if framing.isTrimmed, !isQuoted {
            while text.count > start, text[text.count - 1] == 0x20 || text[text.count - 1] == 0x09 {
                text.truncate(to: text.count - 1)
            }
        }
        if !isTooLong { fields.append(Field(range: start..<text.count, isQuoted: isQuoted)) }
        (start, isQuoted) = (text.count, false)
    }
}
