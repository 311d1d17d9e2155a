import KymographCore
import KymographTemplates

/// What may be seen of a payload without its content: names of JSON members and kinds of values.
enum PayloadShape {
    /// Most members of an object that are named, and the deepest object.
    private static let mostMembers = 64
    private static let deepest = 8

    /// The shape of a payload as JSON: of an object its members with their shapes, of an array the shape of its first
    /// element, of anything else its kind. What is not JSON is `text` or `binary`; of several lines it is the first.
    static func of(_ payload: [UInt8]) -> [UInt8] {
        let line = payload.split(separator: 0x0A, maxSplits: 1).first.map(Array.init) ?? []
        var writer = ByteWriter(capacity: 256)
        if let node = parse(payload) ?? parse(line) {
            append(node, depth: 0, to: &writer)
        } else {
            writer.append(String(validating: payload, as: UTF8.self) == nil ? "\"binary\"" : "\"text\"")
        }
        return writer.view.array
    }

    static func parse(_ bytes: [UInt8]) -> JSONNode? {
        var log = DiagnosticLog(file: "")
        return bytes.isEmpty ? nil : JSONNode.parse(bytes, log: &log)
    }

    private static func append(_ node: JSONNode, depth: Int, to writer: inout ByteWriter) {
        switch node.value {
        case .object(let members) where depth < deepest: append(members, depth, to: &writer)
        case .array(let elements) where depth < deepest:
            writer.append("[")
            if let first = elements.first { append(first, depth: depth + 1, to: &writer) }
            writer.append("]")
        case .object: writer.append("\"object\"")
        case .array: writer.append("\"array\"")
        case .string: writer.append("\"string\"")
        case .number: writer.append("\"number\"")
        case .bool: writer.append("\"boolean\"")
        case .null: writer.append("\"null\"")
        }
    }

    private static func append(_ members: [JSONNode.Member], _ depth: Int, to writer: inout ByteWriter) {
        writer.append("{")
        for (place, member) in members.prefix(mostMembers).enumerated() {
            if place > 0 { writer.append(",") }
            writer.append("\"")
            writer.appendJSON(isPlain(member.name) ? member.name : IdentifierMask.text)
            writer.append("\":")
            append(member.node, depth: depth + 1, to: &writer)
        }
        writer.append("}")
    }

    /// Whether `name` is a word as programs name members, such as `spo2` or `heart_rate`, rather than a key that
    /// identifies something: letters, at most two digits that follow letters, and signs between words.
    static func isPlain(_ name: String) -> Bool {
        var (digits, isAfterLetter) = (0, false)
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): isAfterLetter = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                if !isAfterLetter || digits > 2 { return false }
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "$"): isAfterLetter = false
            default: return false
            }
        }
        return !name.isEmpty && name.utf8.count <= 40
    }
}
