/// An object of a mapping file that is being read field by field, with a diagnostic for all that is wrong in it.
///
/// Names match without regard to case, an exact match first, and the last of duplicates wins (mapping dialect 2.1); a
/// null member counts as absent.
struct TemplateObject {
    let position: SourcePosition
    /// How messages call it: "a code", "the Quantity value".
    let what: String
    private let members: [JSONNode.Member]

    /// Opens `node`, or notes an error when it is not an object.
    init?(_ node: JSONNode, what: String, log: inout DiagnosticLog) {
        guard let members = node.members else {
            log.error(node.position, "expected \(what) to be an object, found \(node.kind)")
            return nil
        }
        self.members = members
        self.what = what
        position = node.position
    }

    /// The value of `name`, or nil when absent or null.
    func node(_ name: String) -> JSONNode? {
        guard let found = member(name), !found.node.isNull else { return nil }
        return found.node
    }

    /// The value of `name`; absent or null is an error.
    func required(_ name: String, log: inout DiagnosticLog) -> JSONNode? {
        guard let found = member(name) else {
            let near = NearestName.of(name, among: members.map(\.name))
            let advice = near.map { "is '\($0)' a misspelling of it?" } ?? "add \"\(name)\""
            log.error(position, "required field '\(name)' is missing in \(what)", advice: advice)
            return nil
        }
        if found.node.isNull {
            log.error(found.node.position, "required field '\(name)' of \(what) is null", advice: "give it a value")
            return nil
        }
        return found.node
    }

    /// The text of `name`, or nil when absent, null or empty; another kind is an error.
    func text(_ name: String, log: inout DiagnosticLog) -> String? {
        node(name).flatMap { TemplateObject.text($0, "'\(name)' of \(what)", log: &log) }
            .flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The elements of `name`, or nil when absent or null; another kind is an error and gives none.
    func array(_ name: String, log: inout DiagnosticLog) -> [JSONNode]? {
        guard let node = node(name) else { return nil }
        guard let elements = node.elements else {
            log.error(node.position, "expected '\(name)' of \(what) to be an array, found \(node.kind)")
            return []
        }
        return elements
    }

    /// The choice that `name` makes among `choices`, ignoring case; nil when absent or (an error) unknown.
    func choice<Choice>(
        _ name: String, among choices: [(name: String, value: Choice)], log: inout DiagnosticLog
    ) -> Choice? {
        guard let node = node(name), let text = TemplateObject.text(node, "'\(name)' of \(what)", log: &log) else {
            return nil
        }
        if let found = choices.first(where: { $0.name.lowercased() == text.lowercased() }) { return found.value }
        let names = choices.map(\.name)
        let fallback = "use one of \(names.joined(separator: ", "))"
        let advice = NearestName.advice(for: text, among: names, otherwise: fallback)
        log.error(node.position, "unknown \(name) '\(text)'", advice: advice)
        return nil
    }

    /// Notes every member that is not among `known`: as errors, or as warnings where the reference system ignores them.
    func checkNames(_ known: [String], severity: Diagnostic.Severity = .error, log: inout DiagnosticLog) {
        let lower = Set(known.map { $0.lowercased() })
        for member in members where !lower.contains(member.name.lowercased()) {
            let fallback = known.isEmpty ? "remove it" : "known are \(known.joined(separator: ", "))"
            let advice = NearestName.advice(for: member.name, among: known, otherwise: fallback)
            let message = "unknown field '\(member.name)' in \(what)"
            switch severity {
            case .error: log.error(member.position, message, advice: advice)
            case .warning: log.warning(member.position, message, advice: advice)
            }
        }
    }

    /// The text of `node`, or an error.
    static func text(_ node: JSONNode, _ what: String, log: inout DiagnosticLog) -> String? {
        if let text = node.string { return text }
        log.error(node.position, "expected \(what) to be a string, found \(node.kind)")
        return nil
    }

    private func member(_ name: String) -> JSONNode.Member? {
        if let exact = members.last(where: { $0.name == name }) { return exact }
        let lower = name.lowercased()
        return members.last { $0.name.lowercased() == lower }
    }
}
