/// A document of the property test: a plain tree with the place of each value in its text.
final class DocumentNode {
    enum Kind { case object, array, string, number, bool, null }

    let kind: Kind
    /// Content of a string, digits of a number, `true` or `false`.
    let text: String
    /// Members or elements that count: of members with one name only the last.
    var children: [(name: String, node: DocumentNode)] = []
    /// Names the value among all of the document, as ``TokenPlaces`` does.
    var place = ""

    init(_ kind: Kind, _ text: String = "") {
        self.kind = kind
        self.text = text
    }

    var isContainer: Bool { kind == .object || kind == .array }

    func member(_ name: String) -> DocumentNode? {
        kind == .object ? children.last { $0.name == name }?.node : nil
    }

    var elements: [DocumentNode] { kind == .array ? children.map(\.node) : [] }

    /// This value and everything below it, in document order.
    var descendants: [DocumentNode] { [self] + children.flatMap(\.node.descendants) }
}

/// A step of a path, as the property test makes it.
indirect enum ModelStep {
    case name(String, descends: Bool)
    case names([String], descends: Bool)
    case members
    case everything
    case index(Int, descends: Bool)
    case indexes([Int])
    case slice(Int?, Int?, Int?)
    case elements
    case filter(ModelCondition, descends: Bool)
}

/// A path: its steps, from the root or from the node that is tested.
struct ModelPath {
    var fromRoot: Bool
    var steps: [ModelStep]
}

/// A condition of a filter.
indirect enum ModelCondition {
    case exists(ModelPath)
    case compares(ModelSide, String, ModelSide)
    /// Conditions and what joins each with the rest: `&&` or `||`.
    case joined([ModelCondition], [String])
    case group(ModelCondition)
}

/// A side of a comparison.
enum ModelSide {
    case path(ModelPath)
    case text(String)
    case number(String)
    case word(String)
    case pattern(String, String)
}

/// Evaluates paths by the words of the specification (mapping dialect, section 3.1), slowly.
struct ModelEvaluator {
    let root: DocumentNode

    func select(_ path: ModelPath, from node: DocumentNode) -> [DocumentNode] {
        path.steps.reduce([path.fromRoot ? root : node]) { nodes, step in nodes.flatMap { apply(step, to: $0) } }
    }

    private func apply(_ step: ModelStep, to node: DocumentNode) -> [DocumentNode] {
        switch step {
        case .name(let name, let descends):
            return descends ? below(node) { $0 == name } : [node.member(name)].compactMap { $0 }
        case .names(let names, let descends):
            guard descends else { return names.compactMap { node.member($0) } }
            return membersBelow(node).flatMap { member in names.filter { $0 == member.name }.map { _ in member.node } }
        case .members: return node.kind == .object ? node.children.map(\.node) : []
        case .everything: return node.descendants
        case .index(let index, _): return indexed(node, [index])
        case .indexes(let indexes): return indexed(node, indexes)
        case .slice(let first, let end, let step): return sliced(node.elements, first, end, step ?? 1)
        case .elements: return node.elements
        case .filter(let condition, let descends):
            return (descends ? node.descendants : node.elements).filter { holds(condition, at: $0) }
        }
    }

    private func membersBelow(_ node: DocumentNode) -> [(name: String, node: DocumentNode)] {
        node.children.flatMap { child in
            (node.kind == .object ? [child] : []) + membersBelow(child.node)
        }
    }

    private func below(_ node: DocumentNode, _ isWanted: (String) -> Bool) -> [DocumentNode] {
        membersBelow(node).filter { isWanted($0.name) }.map(\.node)
    }

    private func indexed(_ node: DocumentNode, _ indexes: [Int]) -> [DocumentNode] {
        indexes.filter { $0 < node.elements.count }.map { node.elements[$0] }
    }

    /// As Python slices a list.
    private func sliced(_ elements: [DocumentNode], _ first: Int?, _ end: Int?, _ step: Int) -> [DocumentNode] {
        let count = elements.count
        func absolute(_ index: Int) -> Int { index < 0 ? index + count : index }
        var taken: [DocumentNode] = []
        var index = first.map(absolute) ?? (step > 0 ? 0 : count - 1)
        if step > 0 { index = max(index, 0) } else { index = min(index, count - 1) }
        let stop = end.map { max(absolute($0), -1) } ?? (step > 0 ? count : -1)
        while step > 0 ? index < min(stop, count) : index > stop {
            if elements.indices.contains(index) { taken.append(elements[index]) }
            index += step
        }
        return taken
    }

    // MARK: Filters

    private func holds(_ condition: ModelCondition, at node: DocumentNode) -> Bool {
        switch condition {
        case .exists(let path): return !select(path, from: node).isEmpty
        case .group(let inner): return holds(inner, at: node)
        case .joined(let conditions, let joiners): return holds(conditions[...], joiners[...], at: node)
        case .compares(let left, let operation, let right):
            let rights = values(right, at: node)
            return values(left, at: node).contains { left in rights.contains { compare(left, operation, $0) } }
        }
    }

    /// Quirk 9: `a && b || c` is a and (b or c), `a || b && c` is a or (b and c).
    private func holds(
        _ conditions: ArraySlice<ModelCondition>, _ joiners: ArraySlice<String>, at node: DocumentNode
    ) -> Bool {
        let first = holds(conditions[conditions.startIndex], at: node)
        guard let joiner = joiners.first else { return first }
        let rest = holds(conditions.dropFirst(), joiners.dropFirst(), at: node)
        return joiner == "&&" ? first && rest : first || rest
    }

    private func values(_ side: ModelSide, at node: DocumentNode) -> [DocumentNode] {
        switch side {
        case .path(let path): select(path, from: node)
        case .text(let text): [DocumentNode(.string, text)]
        case .number(let digits): [DocumentNode(.number, digits)]
        case .word(let word): [DocumentNode(word == "null" ? .null : .bool, word)]
        case .pattern(let pattern, let flags): [DocumentNode(.string, "/\(pattern)/\(flags)")]
        }
    }

    private func compare(_ left: DocumentNode, _ operation: String, _ right: DocumentNode) -> Bool {
        if left.isContainer || right.isContainer { return operation == "!=" || operation == "<>" }
        switch operation {
        case "==", "===": return equal(left, right)
        case "!=", "!==", "<>": return !equal(left, right)
        case "=~": return left.kind == .string && ModelPattern.matches(right.text, left.text)
        default:
            guard let order = order(left, right) else { return false }
            switch operation {
            case "<": return order < 0
            case "<=": return order <= 0
            case ">": return order > 0
            default: return order >= 0
            }
        }
    }

    private func equal(_ left: DocumentNode, _ right: DocumentNode) -> Bool {
        guard left.kind == right.kind else { return false }
        return left.kind == .number ? Double(left.text) == Double(right.text) : left.text == right.text
    }

    private func order(_ left: DocumentNode, _ right: DocumentNode) -> Int? {
        if left.kind == .string, right.kind == .string {
            return left.text == right.text
                ? 0 : left.text.utf8.lexicographicallyPrecedes(right.text.utf8) ? -1 : 1
        }
        if left.kind == right.kind, left.kind != .number { return left.text == right.text ? 0 : nil }
        let sides = [left, right].map { $0.kind == .number || $0.kind == .string ? Double($0.text) : nil }
        guard let a = sides[0], let b = sides[1] else { return nil }
        return a == b ? 0 : a < b ? -1 : 1
    }
}

/// Regular expressions by the standard library.
enum ModelPattern {
    static func matches(_ written: String, _ text: String) -> Bool {
        guard let end = written.lastIndex(of: "/"), var regex = try? Regex(String(written.dropFirst()[..<end])) else {
            return false
        }
        if written[end...].contains("i") { regex = regex.ignoresCase() }
        return text.firstMatch(of: regex.matchingSemantics(.unicodeScalar)) != nil
    }
}
