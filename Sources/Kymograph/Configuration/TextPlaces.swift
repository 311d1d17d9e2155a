import KymographCore

/// Turns a YAML parser's lines and columns, which count Unicode scalars, into places in bytes.
struct TextPlaces: Sendable {
    private let bytes: [UInt8]
    /// Where lines begin as YAML counts them, and the end: a list of thousands of peers asks for a place of each value.
    private let starts: [Int]
    /// Where line feeds are.
    private let feeds: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var starts = [0]
        while let start = starts.last, start < bytes.count { starts.append(Self.endOfLine(bytes, from: start)) }
        self.starts = starts
        feeds = bytes.indices.filter { bytes[$0] == 0x0A }
    }

    /// The place of `line` and `column`, both from 1 as YAML counts them; beyond the end, the end.
    func position(line: Int, column: Int) -> SourcePosition {
        var offset = starts[min(max(line, 1), starts.count) - 1]
        for _ in 1..<max(column, 1) where offset < bytes.count { offset = Self.nextScalar(bytes, offset) }
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
        let place = min(offset, bytes.count)
        let line = feeds.partitioningPlace { $0 < place }
        let start = line > 0 ? feeds[line - 1] + 1 : 0
        return SourcePosition(offset: place, line: line + 1, column: place - start + 1)
    }

    private static func nextScalar(_ bytes: [UInt8], _ offset: Int) -> Int {
        var next = offset + 1
        while next < bytes.count && bytes[next] & 0xC0 == 0x80 { next += 1 }
        return next
    }

    /// The offset behind the line's end: CR, LF, CR LF, NEL, LS or PS, the breaks of YAML 1.1 (section 4.2).
    private static func endOfLine(_ bytes: [UInt8], from start: Int) -> Int {
        var offset = start
        while offset < bytes.count {
            let next = nextScalar(bytes, offset)
            switch bytes[offset] {
            case 0x0D: return next < bytes.count && bytes[next] == 0x0A ? next + 1 : next
            case 0x0A: return next
            case 0xC2 where bytes[offset..<next].elementsEqual([0xC2, 0x85]): return next
            case 0xE2 where bytes[offset..<next].elementsEqual([0xE2, 0x80, 0xA8]): return next
            case 0xE2 where bytes[offset..<next].elementsEqual([0xE2, 0x80, 0xA9]): return next
            default: offset = next
            }
        }
        return offset
    }
}

extension [Int] {
    /// How many elements of a sorted array, from its first on, `belongs` holds of.
    fileprivate func partitioningPlace(_ belongs: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
