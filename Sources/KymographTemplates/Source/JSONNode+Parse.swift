import KymographCore

extension JSONNode {
    /// Reads a whole JSON file for load time, with positions; a failure is noted in `log` and gives nil.
    ///
    /// A UTF-8 byte order mark at the start is skipped, because editors on Windows write one. What the reference's
    /// reader takes besides JSON (``LenientJSON``) is taken too, with one warning per kind.
    package static func parse(_ file: [UInt8], log: inout DiagnosticLog) -> JSONNode? {
        let storage = PaddedBytes(copying: file)
        let start = file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var reader = JSONFileReader(lines: LineIndex(storage.view))
        do throws(ScanFailure) {
            try reader.scan(storage.view, from: start)
            return reader.node(JSONScanner.payload, storage.view)
        } catch {
            return reader.parseLeniently(storage.view, from: start, otherwise: error, log: &log)
        }
    }
}

/// Reads one JSON file at load time.
private struct JSONFileReader: ~Copyable {
    private var scanner = JSONScanner(names: NameTable([]), limits: ScanLimits(depth: 128, values: 10_000_000))
    private var lenient = LenientJSON()
    private var isRewritten = false
    private let lines: LineIndex

    init(lines: LineIndex) { self.lines = lines }

    /// Scans exactly one document.
    mutating func scan(_ bytes: ByteView, from start: Int) throws(ScanFailure) {
        let end = JSONScanner.skipSpace(bytes, try scanner.scan(bytes, from: start))
        guard end == bytes.count else { throw ScanFailure(reason: .invalidJSON, offset: end) }
    }

    /// Reads what the strict scan refused for `strictFailure`.
    mutating func parseLeniently(
        _ bytes: ByteView, from start: Int, otherwise strictFailure: ScanFailure, log: inout DiagnosticLog
    ) -> JSONNode? {
        var writer = ByteWriter(capacity: bytes.count + 64)
        do throws(ScanFailure) {
            try lenient.rewriteWhole(bytes, from: start, into: &writer)
            isRewritten = true
            try scan(writer.view, from: 0)
        } catch {
            let place = isRewritten ? lenient.original(error.offset) : error.offset
            // Where a file has nothing but a fault, the strict scan says it better.
            let failure = hasExtras ? ScanFailure(reason: error.reason, offset: place) : strictFailure
            log.error(
                lines.position(failure.offset), JSONFileReader.message(failure, bytes),
                advice: JSONFileReader.advice(failure, bytes), code: "invalid-json")
            return nil
        }
        for extra in LenientJSON.Extra.allCases {
            guard let place = lenient.first(extra) else { continue }
            log.warning(
                lines.position(place), "not standard JSON: \(extra.text)",
                advice: "it is read as the reference reads it; other tools may refuse the file")
        }
        return node(JSONScanner.payload, writer.view)
    }

    private var hasExtras: Bool { LenientJSON.Extra.allCases.contains { lenient.first($0) != nil } }

    // MARK: Messages

    private static func message(_ failure: ScanFailure, _ bytes: ByteView) -> String {
        if failure.reason == .invalidUTF8 { return "the file is not UTF-8 here" }
        if failure.reason == .tooDeep { return "the file nests deeper than 128 levels" }
        if failure.reason == .tooManyValues { return "the file has more than 10,000,000 values" }
        if isBlank(bytes) { return "the file is empty" }
        guard failure.offset < bytes.count else { return "the file ends in the middle of a JSON value" }
        let byte = bytes[failure.offset]
        let shown = byte >= 0x20 && byte < 0x7F ? "'\(Character(Unicode.Scalar(byte)))'" : "byte \(byte)"
        return "not valid JSON: unexpected \(shown)"
    }

    private static func isBlank(_ bytes: ByteView) -> Bool { bytes.array.allSatisfy { $0 <= 0x20 } }

    private static func advice(_ failure: ScanFailure, _ bytes: ByteView) -> String {
        if isBlank(bytes) { return "write a mapping in it, or start from one of 'kymo mappings --export NAME FOLDER'" }
        return failure.reason == .invalidUTF8
            ? "save the file as UTF-8" : "look for a missing or extra comma, quote or bracket just before this place"
    }

    // MARK: Nodes

    private func position(_ offset: Int) -> SourcePosition {
        lines.position(isRewritten ? lenient.original(offset) : offset)
    }

    /// The value of token `index`.
    func node(_ index: Int, _ bytes: ByteView) -> JSONNode {
        let token = scanner.tape[index]
        let quote = token.kind == TokenKind.string ? 1 : 0
        let position = position(Int(token.start) - quote)
        switch token.kind {
        case TokenKind.object: return JSONNode(position: position, value: .object(members(index, bytes)))
        case TokenKind.array:
            var elements: [JSONNode] = []
            for child in scanner.children(of: index) { elements.append(node(child, bytes)) }
            return JSONNode(position: position, value: .array(elements))
        case TokenKind.string:
            return JSONNode(position: position, value: .string(JSONUnescape.string(bytes[token.range])))
        case TokenKind.number: return JSONNode(position: position, value: .number(bytes[token.range].string))
        case TokenKind.null: return JSONNode(position: position, value: .null)
        default: return JSONNode(position: position, value: .bool(token.kind == TokenKind.yes))
        }
    }

    private func members(_ index: Int, _ bytes: ByteView) -> [JSONNode.Member] {
        var members: [JSONNode.Member] = []
        for child in scanner.children(of: index) {
            let token = scanner.tape[child]
            members.append(
                JSONNode.Member(
                    name: JSONUnescape.string(bytes[token.keyRange]), position: position(Int(token.keyStart) - 1),
                    node: node(child, bytes)))
        }
        return members
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
