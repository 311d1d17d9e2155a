import KymographCore
import KymographTemplates

/// What a resource says, apart from what is the server's or names other resources as the server calls them.
struct ServerContent: Equatable {
    private static let own: Set<String> = [
        "id", "meta", "text", "subject", "device", "encounter", "performer", "hasMember", "related",
    ]

    private let members: [String: JSONNode]

    init(_ resource: JSONNode) {
        let members = (resource.members ?? []).filter { !ServerContent.own.contains($0.name) }
        self.members = Dictionary(members.map { ($0.name, $0.node) }) { $1 }
    }

    static func == (one: ServerContent, other: ServerContent) -> Bool { isEqual(one.members, other.members) }

    private static func isEqual(_ one: [String: JSONNode], _ other: [String: JSONNode]) -> Bool {
        one.count == other.count
            && one.allSatisfy { name, node in other[name].map { isEqual(node, $0) } ?? false }
    }

    /// Whether two values are one; a server may write a number in another way.
    private static func isEqual(_ one: JSONNode, _ other: JSONNode) -> Bool {
        switch (one.value, other.value) {
        case (.object(let own), .object(let others)):
            return isEqual(
                Dictionary(own.map { ($0.name, $0.node) }) { $1 },
                Dictionary(others.map { ($0.name, $0.node) }) { $1 })
        case (.array(let own), .array(let others)):
            return own.count == others.count && zip(own, others).allSatisfy { isEqual($0, $1) }
        case (.string(let own), .string(let others)): return own.utf8.elementsEqual(others.utf8)
        case (.number(let own), .number(let others)): return own == others || Double(own) == Double(others)
        case (.bool(let own), .bool(let others)): return own == others
        case (.null, .null): return true
        case (.object, _), (.array, _), (.string, _), (.number, _), (.bool, _), (.null, _): return false
        }
    }
}
