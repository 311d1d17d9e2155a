extension JSONNode {
    /// Reads a whole JSON file for load time, with positions; a failure is noted in `log` and gives nil.
    ///
    /// A UTF-8 byte order mark at the start is skipped, because editors on Windows write one.
    public static func parse(_ file: [UInt8], log: inout DiagnosticLog) -> JSONNode? {
        let mark = file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let storage = PaddedBytes(copying: file)
        let bytes = storage.view
        let lines = LineIndex(bytes)
        var scanner = JSONScanner(names: NameTable([]), limits: ScanLimits(depth: 128, values: 10_000_000))
        do throws(ScanFailure) {
            let end = JSONScanner.skipSpace(bytes, try scanner.scan(bytes, from: mark))
            guard end == bytes.count else { throw ScanFailure(reason: .invalidJSON, offset: end) }
        } catch {
            log.error(lines.position(error.offset), message(error, bytes), advice: advice(error), code: "invalid-json")
            return nil
        }
        return node(scanner, JSONScanner.payload, bytes, lines)
    }

    private static func message(_ failure: ScanFailure, _ bytes: ByteView) -> String {
        switch failure.reason {
        case .invalidUTF8: return "the file is not UTF-8 here"
        case .tooDeep: return "the file nests deeper than 128 levels"
        case .tooManyValues: return "the file has more than 10,000,000 values"
        default: break
        }
        guard failure.offset < bytes.count else { return "the file ends in the middle of a JSON value" }
        let byte = bytes[failure.offset]
        let shown = byte >= 0x20 && byte < 0x7F ? "'\(Character(Unicode.Scalar(byte)))'" : "byte \(byte)"
        return "not valid JSON: unexpected \(shown)"
    }

    private static func advice(_ failure: ScanFailure) -> String {
        failure.reason == .invalidUTF8
            ? "save the file as UTF-8" : "look for a missing or extra comma, quote or bracket just before this place"
    }

    private static func node(
        _ scanner: borrowing JSONScanner, _ index: Int, _ bytes: ByteView, _ lines: LineIndex
    ) -> JSONNode {
        let token = scanner.tape[index]
        let quote = token.kind == TokenKind.string ? 1 : 0
        let position = lines.position(Int(token.start) - quote)
        switch token.kind {
        case TokenKind.object:
            return JSONNode(position: position, value: .object(members(scanner, index, bytes, lines)))
        case TokenKind.array:
            var elements: [JSONNode] = []
            for child in scanner.children(of: index) { elements.append(node(scanner, child, bytes, lines)) }
            return JSONNode(position: position, value: .array(elements))
        case TokenKind.string:
            return JSONNode(position: position, value: .string(JSONUnescape.string(bytes[token.range])))
        case TokenKind.number: return JSONNode(position: position, value: .number(bytes[token.range].string))
        case TokenKind.null: return JSONNode(position: position, value: .null)
        default: return JSONNode(position: position, value: .bool(token.kind == TokenKind.yes))
        }
    }

    private static func members(
        _ scanner: borrowing JSONScanner, _ index: Int, _ bytes: ByteView, _ lines: LineIndex
    ) -> [Member] {
        var members: [Member] = []
        for child in scanner.children(of: index) {
            let token = scanner.tape[child]
            members.append(
                Member(
                    name: JSONUnescape.string(bytes[token.keyRange]), position: lines.position(Int(token.keyStart) - 1),
                    node: node(scanner, child, bytes, lines)))
        }
        return members
    }
}

extension JSONScanner {
    /// Token indices of the direct children, for load time.
    func children(of index: Int) -> [Int] {
        var children: [Int] = []
        var child = index + 1
        while child < Int(tape[index].next) {
            children.append(child)
            child = Int(tape[child].next)
        }
        return children
    }
}

/// Turns byte offsets of a file into lines and columns.
struct LineIndex {
    private let starts: [Int]

    init(_ bytes: ByteView) {
        var starts = [0]
        for index in 0..<bytes.count where bytes[index] == 0x0A { starts.append(index + 1) }
        self.starts = starts
    }

    func position(_ offset: Int) -> SourcePosition {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return SourcePosition(offset: offset, line: low + 1, column: offset - starts[low] + 1)
    }
}
