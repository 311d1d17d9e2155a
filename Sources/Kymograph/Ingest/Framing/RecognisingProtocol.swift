import KymographCore

/// Input that is what its first bytes say: compressed or not and, where lines are expected, lines or documents over
/// several lines. For standard input, into which people pipe files.
final class RecognisingProtocol: StreamProtocol {
    private let framing: StreamFraming
    private let cap: Int
    /// Nil until the first bytes tell.
    private var content: StreamDecoder?
    /// The first bytes, while these do not tell.
    private var undecided = ByteWriter(capacity: 256)
    private let formats: [CompressionFormat]

    /// Reads `framing`, with payloads of at most `cap` bytes; compressed as one of `formats`, or not.
    init(_ framing: StreamFraming, cap: Int, formats: [CompressionFormat] = CompressionFormat.ofFiles) {
        self.framing = framing
        self.cap = cap
        self.formats = formats
    }

    /// Whether streams of `framing` are text, whose first bytes tell.
    static func applies(to framing: StreamFraming) -> Bool {
        switch framing {
        case .lines, .documents, .table, .capture: true
        case .frames, .custom: false
        }
    }

    var acknowledging: Acknowledging { StreamDecoder(framing, cap: cap).base.acknowledging }

    var kept: ByteView { content?.kept ?? undecided.view }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        if let content { return content.take(piece, &intake, to: &consumer) }
        guard let content = recognise(piece.bytes, isAll: false) else {
            undecided.removeAll()
            undecided.append(piece.bytes)
            return true
        }
        self.content = content
        return content.take(StreamPiece(piece.bytes), &intake, to: &consumer)
    }

    func fileEnded(_ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable) {
        // The first file of an archive may be without a byte.
        if content == nil, undecided.count == 0 { content = recognise(undecided.view, isAll: false) }
        content?.fileEnded(&intake, to: &consumer)
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        if let content { return content.end(ending, rest, &intake, to: &consumer) }
        guard rest.count > 0, let content = recognise(rest, isAll: true) else { return }
        guard content.take(StreamPiece(rest), &intake, to: &consumer) else { return }
        let unfinished = content.kept
        unfinished.withPadding { content.end(ending, $0, &intake, to: &consumer) }
    }

    /// How a stream that begins with `bytes` is read; nil when that cannot be told before more comes.
    private func recognise(_ bytes: ByteView, isAll: Bool) -> StreamDecoder? {
        if let format = formats.first(where: { $0.begins(bytes) }) {
            let content = RecognisingProtocol(framing, cap: cap, formats: [])
            return .inflating(InflatingProtocol(format.open(), content: .recognising(content)))
        }
        if !isAll, formats.contains(where: { $0.mayBegin(bytes) }) { return nil }
        guard case .lines = framing else { return StreamDecoder(framing, cap: cap) }
        // No further than this, so that pieces of any size are told alike.
        switch FirstLine(bytes[0..<min(bytes.count, mostUndecided)]) {
        case .payload: return StreamDecoder(.lines, cap: cap)
        case .beginning: return StreamDecoder(.documents, cap: cap)
        case .unfinished where isAll: return StreamDecoder(.lines, cap: cap)
        case .unfinished(let isArray):
            guard bytes.count >= mostUndecided else { return nil }
            // A file may be one array in one line, which is longer than any payload.
            return StreamDecoder(isArray ? .documents : .lines, cap: cap)
        }
    }

    /// More than the first line of a document over several lines has.
    private var mostUndecided: Int { min(cap, 65_536) }
}

/// What the first line of input that may be NDJSON is.
private enum FirstLine {
    /// A payload, or the beginning of a broken one.
    case payload
    /// The beginning of a document over several lines: it leaves brackets open, and the next line is indented or begins
    /// as no line of NDJSON does, or is the first element of an array.
    case beginning
    /// Neither, before more comes.
    case unfinished(isArray: Bool)

    /// The first line of `bytes` that is not blank.
    init(_ bytes: ByteView) {
        var borders = DocumentBorders()
        var mark = LeadingMark()
        for index in 0..<bytes.count where !mark.takes(bytes[index]) {
            let byte = bytes[index]
            let step = borders.step(byte)
            if case .inside = step, byte == 0x0A {
                self = FirstLine.next(bytes[(index + 1)..<bytes.count])
                return
            }
            switch step {
            case .inside: break
            case .between where byte == UInt8(ascii: "["):
                self = FirstLine.array(bytes[(index + 1)..<bytes.count])
                return
            case .between: break
            case .last, .broken:
                self = .payload
                return
            }
        }
        self = .unfinished(isArray: false)
    }

    /// Behind a line that ends within a document.
    private static func next(_ bytes: ByteView) -> FirstLine {
        for index in 0..<bytes.count where bytes[index] != 0x0D && bytes[index] != 0x0A {
            return [0x20, 0x09, UInt8(ascii: "\""), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(bytes[index])
                ? .beginning : .payload
        }
        return .unfinished(isArray: false)
    }

    /// Behind the bracket of an array: one that goes over several lines, or is a payload of one line.
    private static func array(_ bytes: ByteView) -> FirstLine {
        var borders = DocumentBorders(isInArray: true)
        for index in 0..<bytes.count {
            let step = borders.step(bytes[index])
            if case .broken = step { return .payload }
            if !borders.isInArray { return .payload }
            if bytes[index] == 0x0A { return .beginning }
        }
        return .unfinished(isArray: true)
    }
}
