import KymographCore
import KymographTemplates

/// A small JSON reader for tests: text to nodes with positions, and nodes to a canonical text for comparison.
struct TextJSON {
    struct Failure: Error { var offset: Int }

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var lineStart = 0

    static func parse(_ text: String) throws -> JSONNode {
        var parser = TextJSON(bytes: Array(text.utf8))
        let node = try parser.value()
        parser.skip()
        guard parser.index == parser.bytes.count else { throw Failure(offset: parser.index) }
        return node
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var here: SourcePosition {
        SourcePosition(offset: index, line: line, column: index - lineStart + 1)
    }

    private mutating func skip() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) {
            index += 1
            if bytes[index - 1] == 0x0A { (line, lineStart) = (line + 1, index) }
        }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        skip()
        guard index < bytes.count, bytes[index] == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ byte: Unicode.Scalar) throws {
        guard take(byte) else { throw Failure(offset: index) }
    }

    private mutating func value() throws -> JSONNode {
        skip()
        let position = here
        guard index < bytes.count else { throw Failure(offset: index) }
        switch bytes[index] {
        case UInt8(ascii: "{"): return JSONNode(position: position, value: .object(try members()))
        case UInt8(ascii: "["): return JSONNode(position: position, value: .array(try elements()))
        case UInt8(ascii: "\""): return JSONNode(position: position, value: .string(try string()))
        default: return JSONNode(position: position, value: try word())
        }
    }

    private mutating func members() throws -> [JSONNode.Member] {
        try expect("{")
        var members: [JSONNode.Member] = []
        if take("}") { return members }
        repeat {
            skip()
            let position = here
            let name = try string()
            try expect(":")
            members.append(.init(name: name, position: position, node: try value()))
        } while take(",")
        try expect("}")
        return members
    }

    private mutating func elements() throws -> [JSONNode] {
        try expect("[")
        var elements: [JSONNode] = []
        if take("]") { return elements }
        repeat { elements.append(try value()) } while take(",")
        try expect("]")
        return elements
    }

    private mutating func string() throws -> String {
        try expect("\"")
        var text: [UInt8] = []
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            guard bytes[index] == UInt8(ascii: "\\") else {
                text.append(bytes[index])
                index += 1
                continue
            }
            text += try escape()
        }
        index += 1
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func escape() throws -> [UInt8] {
        let plain: [UInt8: UInt8] = [
            0x62: 8, 0x66: 12, 0x6E: 10, 0x72: 13, 0x74: 9, 0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F,
        ]
        index += 2
        guard bytes[index - 1] == UInt8(ascii: "u") else {
            guard let byte = plain[bytes[index - 1]] else { throw Failure(offset: index) }
            return [byte]
        }
        index += 4
        let digits = String(decoding: bytes[(index - 4)..<index], as: UTF8.self)
        guard let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) else {
            throw Failure(offset: index)
        }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func word() throws -> JSONNode.Value {
        let start = index
        while index < bytes.count, !", ]}\n".utf8.contains(bytes[index]) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        switch text {
        case "true", "false": return .bool(text == "true")
        case "null": return .null
        default:
            guard Double(text) != nil else { throw Failure(offset: start) }
            return .number(text)
        }
    }
}

extension JSONNode {
    /// The member at a dotted path (`component.3.valueSampledData.data`), or nil.
    subscript(path: String) -> JSONNode? {
        var node: JSONNode? = self
        for step in path.split(separator: ".") {
            if let place = Int(step) {
                guard let elements = node?.elements, elements.indices.contains(place) else { return nil }
                node = elements[place]
            } else {
                node = node?.members?.last { $0.name == step }?.node
            }
        }
        return node
    }

    /// The text of a string or number at `path`.
    func text(_ path: String) -> String? {
        guard let node = self[path] else { return nil }
        if case .number(let text) = node.value { return text }
        return node.string
    }

    /// The value with members sorted and none of `dropped`, for comparison.
    func canonical(dropping dropped: Set<String> = []) -> String {
        switch value {
        case .object(let members):
            let kept = members.filter { !dropped.contains($0.name) }.sorted { $0.name < $1.name }
            return "{\(kept.map { "\($0.name):\($0.node.canonical(dropping: dropped))" }.joined(separator: ","))}"
        case .array(let elements):
            return "[\(elements.map { $0.canonical(dropping: dropped) }.joined(separator: ","))]"
        case .string(let text): return "\"\(text)\""
        case .number(let text): return text
        case .bool(let flag): return "\(flag)"
        case .null: return "null"
        }
    }
}

extension JSONNode {
    /// The digits of the number at `path`.
    func number(_ path: String) -> String? {
        if case .number(let text)? = self[path]?.value { text } else { nil }
    }
}
