import KymographCore

/// Turns a YAML parser's lines and columns, which count Unicode scalars, into places in bytes.
struct TextPlaces: Sendable {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The place of `line` and `column`, both from 1 as YAML counts them; beyond the end, the end.
    func position(line: Int, column: Int) -> SourcePosition {
        var offset = 0
        for _ in 1..<max(line, 1) { offset = endOfLine(from: offset) }
        for _ in 1..<max(column, 1) where offset < bytes.count { offset = nextScalar(offset) }
        return position(offset)
    }

    /// The place where `mark` occurs from byte `offset` on, after `number` earlier occurrences; nil when it does not.
    func position(of mark: [UInt8], _ number: Int, from offset: Int) -> SourcePosition? {
        var rest = bytes[min(offset, bytes.count)...]
        for _ in 0..<number { rest = rest.firstRange(of: mark).map { rest[$0.upperBound...] } ?? [] }
        return rest.firstRange(of: mark).map { position($0.lowerBound) }
    }

    /// The place of byte `offset`; lines end with a line feed.
    func position(_ offset: Int) -> SourcePosition {
        let before = bytes[..<min(offset, bytes.count)]
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let line = before.count { $0 == 0x0A } + 1
        return SourcePosition(offset: before.count, line: line, column: before.count - start + 1)
    }

    private func nextScalar(_ offset: Int) -> Int {
        var next = offset + 1
        while next < bytes.count && bytes[next] & 0xC0 == 0x80 { next += 1 }
        return next
    }

    /// The offset behind the line's end: CR, LF, CR LF, NEL, LS or PS, the breaks of YAML 1.1 (section 4.2).
    private func endOfLine(from start: Int) -> Int {
        var offset = start
        while offset < bytes.count {
            let next = nextScalar(offset)
            switch Array(bytes[offset..<next]) {
            case [0x0D]: return next < bytes.count && bytes[next] == 0x0A ? next + 1 : next
            case [0x0A], [0xC2, 0x85], [0xE2, 0x80, 0xA8], [0xE2, 0x80, 0xA9]: return next
            default: offset = next
            }
        }
        return offset
    }
}
