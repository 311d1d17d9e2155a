import Foundation
import KymographCore
import KymographTemplates

/// One case of the reference system's own suite, of those about device templates.
struct ConformanceCase {
    let id: String
    let operation: String
    let node: JSONNode
    /// Text of the device mapping, made a collection where the case gives a single template.
    let device: String
    let payload: String
    let expected: JSONNode

    /// Reads the cases of kind `content` that are in scope from the shared folder `root`.
    static func load(from root: URL) throws -> [ConformanceCase] {
        let all = try JSONText.parse(Data(contentsOf: root.appendingPathComponent("conformance/cases.json")))
        return try (all.elements ?? []).compactMap { try ConformanceCase($0, root: root) }
    }

    private init?(_ node: JSONNode, root: URL) throws {
        if case .bool(false)? = node["in_scope"]?.value { return nil }
        guard node["kind"]?.string == "content", let operation = node["op"]?.string,
            let id = node["id"]?.string, let template = node["template"], let expected = node["expected"]
        else { return nil }
        self.id = id
        self.operation = operation
        self.node = node
        self.expected = expected
        device = ConformanceCase.collection(
            try ConformanceCase.text(template, root: root), hasFactory: node["factory"] != nil)
        payload = try node["input"].map { try ConformanceCase.text($0, root: root) } ?? ""
    }

    /// The text of a value, or of the file it names, without byte order mark.
    static func text(_ node: JSONNode, root: URL) throws -> String {
        guard node.members?.count == 1, let name = node["file"]?.string else { return JSONText.write(node) }
        let file = try Data(contentsOf: root.appendingPathComponent("conformance/\(name)"))
        let text = String(decoding: file, as: UTF8.self)
        return text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    }

    /// Puts a template, or a list of templates, into a collection, on the same lines.
    private static func collection(_ text: String, hasFactory: Bool) -> String {
        guard let node = try? JSONText.parse(Data(text.utf8)) else { return text }
        if node.elements != nil { return #"{"templateType":"CollectionContent","template":\#(text)}"# }
        let type = node["templateType"]?.string?.lowercased() ?? ""
        let isSingle = hasFactory || type.contains("jsonpath") || type.contains("calculated")
        return isSingle ? #"{"templateType":"CollectionContent","template":[\#(text)]}"# : text
    }

    /// The expression of a case that has no more than one.
    var expression: (text: String, language: ExpressionLanguage)? {
        guard let node = node["template"]?["expression"], let name = node["language"]?.string else { return nil }
        return (node["value"]?.string ?? "", name == "JmesPath" ? .jmesPath : .jsonPath)
    }
}

/// JSON with its numbers as they were written.
enum JSONText {
    struct Malformed: Error { var texts: [String] }

    static func parse(_ data: Data) throws -> JSONNode {
        var log = DiagnosticLog(file: "")
        guard let node = JSONNode.parse(Array(data), log: &log) else { throw Malformed(texts: log.all.map(\.text)) }
        return node
    }

    static func data(_ text: String) -> Data { Data(text.utf8) }

    static func write(_ node: JSONNode) -> String {
        switch node.value {
        case .object(let members):
            "{" + members.map { "\(quoted($0.name)):\(write($0.node))" }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(write).joined(separator: ",") + "]"
        case .string(let text): quoted(text)
        case .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .null: "null"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\u{0}"..."\u{1F}": result += "\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
