import KymographCore
import KymographTemplates

/// Reading what a server answered, and writing what it gets.
extension JSONNode {
    /// Reads JSON of a server; nil when it is none.
    static func answer(_ body: [UInt8]) -> JSONNode? {
        // What is not standard JSON is no whole answer.
        var log = DiagnosticLog(file: "")
        guard !body.isEmpty, let node = JSONNode.parse(body, log: &log), log.all.isEmpty else { return nil }
        return node
    }

    /// The member called `name`, unless it is null.
    func child(_ name: String) -> JSONNode? {
        guard let node = members?.last(where: { $0.name == name })?.node, !node.isNull else { return nil }
        return node
    }

    /// The node with the member called `name` set, at its place or at the end.
    func with(_ name: String, _ node: JSONNode) -> JSONNode {
        var members = members ?? []
        if let place = members.firstIndex(where: { $0.name == name }) {
            members[place].node = node
        } else {
            members.append(Member(name: name, position: .start, node: node))
        }
        return JSONNode(position: position, value: .object(members))
    }

    /// The node without the members called `names`.
    func without(_ names: Set<String>) -> JSONNode {
        JSONNode(position: position, value: .object((members ?? []).filter { !names.contains($0.name) }))
    }

    /// A string.
    static func text(_ text: String) -> JSONNode { JSONNode(position: .start, value: .string(text)) }

    /// The value as JSON whose members are sorted, for comparison.
    var sortedText: String {
        switch value {
        case .object(let members):
            let sorted = members.sorted { $0.name < $1.name }
            return "{\(sorted.map { "\(JSONText.quoted($0.name)):\($0.node.sortedText)" }.joined(separator: ","))}"
        case .array(let elements): return "[\(elements.map(\.sortedText).joined(separator: ","))]"
        case .string, .number, .bool, .null: return jsonText
        }
    }
}
