import KymographCore

/// Reading and changing resources that are kept as nodes.
extension JSONNode {
    /// A node that comes from no file.
    package init(_ value: Value) { self.init(position: .start, value: value) }

    /// The member called `name`; null counts as none.
    package func member(_ name: String) -> JSONNode? {
        guard let node = members?.last(where: { $0.name == name })?.node, !node.isNull else { return nil }
        return node
    }

    /// The digits of a number.
    package var numberText: String? { if case .number(let text) = value { text } else { nil } }

    /// Sets the member called `name`, at its place or at the end; nil removes it.
    package mutating func set(_ name: String, to node: JSONNode?) {
        var members = members ?? []
        let place = members.firstIndex { $0.name == name }
        switch (place, node) {
        case (let place?, let node?): members[place].node = node
        case (let place?, nil): members.remove(at: place)
        case (nil, let node?): members.append(Member(name: name, position: .start, node: node))
        case (nil, nil): return
        }
        value = .object(members)
    }

    /// The node with the member called `name` set.
    package func setting(_ name: String, to node: JSONNode?) -> JSONNode {
        var changed = self
        changed.set(name, to: node)
        return changed
    }

    /// The value as compact JSON, members in their order.
    package var jsonText: String {
        switch value {
        case .object(let members):
            "{\(members.map { "\(JSONText.quoted($0.name)):\($0.node.jsonText)" }.joined(separator: ","))}"
        case .array(let elements): "[\(elements.map(\.jsonText).joined(separator: ","))]"
        case .string(let text): JSONText.quoted(text)
        case .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .null: "null"
        }
    }
}
