import KymographCore

/// Reads the fields of one JSON object of a mapping file, noting what is missing, unknown or of the wrong kind.
///
/// Names match without regard to case, an exact match first, and the last of duplicates wins (mapping dialect 2.1);
/// what ``refuseUnknown(_:severity:log:)`` says of a name in another case depends on the compatibility. The messages
/// are those of the reference (mapping dialect 2.5), so that what is written about them helps here too.
struct FieldReader {
    private let node: JSONNode
    /// How messages call the object: "a value", "a code".
    let what: String

    /// Reads `node`, which messages call `what`; anything but an object is an error, and reads as an empty one.
    init(_ node: JSONNode, what: String, log: inout DiagnosticLog) {
        self.node = node
        self.what = what
        if node.members == nil {
            log.error(node.position, "\(what) must be an object, found \(node.kind)", finding: .wrongKind)
        }
    }

    /// As ``init(_:what:log:)``, but nil when `node` is no object.
    static func open(_ node: JSONNode, what: String, log: inout DiagnosticLog) -> FieldReader? {
        let reader = FieldReader(node, what: what, log: &log)
        return node.members == nil ? nil : reader
    }

    /// Where the object begins.
    var position: SourcePosition { node.position }

    /// The last member of this name, or nil.
    func member(_ name: String) -> JSONNode.Member? {
        guard let members = node.members else { return nil }
        var variant: Int?
        for index in members.indices.reversed() where members[index].name.isCaseVariant(of: name) {
            if members[index].name == name { return members[index] }
            if variant == nil { variant = index }
        }
        return variant.map { members[$0] }
    }

    /// Where the value of `name` is, or the object when there is none.
    func position(of name: String) -> SourcePosition { member(name)?.node.position ?? node.position }

    // MARK: Values of any kind

    /// The value of `name`, which must be there, not null, and of `kind` (nil for any).
    func required(_ name: String, _ kind: String? = nil, log: inout DiagnosticLog) -> JSONNode? {
        guard let member = member(name) else {
            // Nothing more to say when the node is no object: that was noted.
            if node.members != nil { noteMissing(name, log: &log) }
            return nil
        }
        guard !member.node.isNull else {
            log.error(member.node.position, "'\(name)' expects a value but got null", finding: .nullField)
            return nil
        }
        return checked(member, kind, log: &log)
    }

    /// The value of `name` when it is there and not null; it must be of `kind` (nil for any).
    func optional(_ name: String, _ kind: String? = nil, log: inout DiagnosticLog) -> JSONNode? {
        guard let member = member(name), !member.node.isNull else { return nil }
        return checked(member, kind, log: &log)
    }

    /// The value of `name` when it is there and not null, whatever its kind.
    func node(_ name: String) -> JSONNode? {
        guard let found = member(name), !found.node.isNull else { return nil }
        return found.node
    }

    private func noteMissing(_ name: String, log: inout DiagnosticLog) {
        let pascal = name.prefix(1).uppercased() + name.dropFirst()
        // Only what differs by a letter or two: `patientIdExpression` is no misspelling of `deviceIdExpression`.
        let near = NearestName.of(name, among: (node.members ?? []).map(\.name), within: 2)
        log.error(
            node.position, "Required property '\(pascal)' not found in JSON",
            advice: near.map { "is '\($0)' a misspelling of it?" } ?? "add \"\(name)\" to \(what)",
            finding: .missingField)
    }

    private func checked(_ member: JSONNode.Member, _ kind: String?, log: inout DiagnosticLog) -> JSONNode? {
        guard let kind, member.node.kind != kind else { return member.node }
        log.error(
            member.node.position, "'\(member.name)' must be \(kind), found \(member.node.kind)", finding: .wrongKind)
        return nil
    }

    // MARK: Texts, lists and choices

    /// The text of `name`, which must be there.
    func requiredString(_ name: String, log: inout DiagnosticLog) -> String? {
        required(name, "a string", log: &log)?.string
    }

    /// The text of `name`, or nil when absent, null or empty; another kind is an error.
    func text(_ name: String, log: inout DiagnosticLog) -> String? {
        optional(name, "a string", log: &log)?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The elements of `name`, or nil when absent or null; another kind is an error and gives none.
    func array(_ name: String, log: inout DiagnosticLog) -> [JSONNode]? {
        guard node(name) != nil else { return nil }
        return optional(name, "an array", log: &log)?.elements ?? []
    }

    /// Whether `name` is `true`, or nil when absent or null; another kind is an error.
    func flag(_ name: String, log: inout DiagnosticLog) -> Bool? {
        guard let node = node(name) else { return nil }
        if case .bool(let isOn) = node.value { return isOn }
        log.error(
            node.position, "'\(name)' must be true or false, found \(node.kind)", advice: "write true or false",
            finding: .wrongKind)
        return nil
    }

    /// The choice that `name` makes among `choices`, ignoring case; nil when absent or (an error) unknown.
    func choice<Choice>(
        _ name: String, among choices: [(name: String, value: Choice)], log: inout DiagnosticLog
    ) -> Choice? {
        guard let node = optional(name, "a string", log: &log), let text = node.string else { return nil }
        if let found = choices.first(where: { $0.name.isCaseVariant(of: text) }) { return found.value }
        log.unknownChoice(name, text, at: node.position, among: choices.map(\.name))
        return nil
    }

    /// Notes every member whose name is not among `known`: as errors, or as warnings where the reference ignores them.
    func refuseUnknown(_ known: [String], severity: Diagnostic.Severity = .error, log: inout DiagnosticLog) {
        for member in node.members ?? [] where !known.contains(member.name) {
            if let meant = known.first(where: member.name.isCaseVariant(of:)) {
                noteCase(of: member, meant, log: &log)
                continue
            }
            let fallback = known.isEmpty ? "remove it" : "known are \(known.joined(separator: ", "))"
            log.note(
                severity, member.position, "Could not find member '\(member.name)' on \(what)",
                advice: NearestName.advice(for: member.name, among: known, otherwise: fallback),
                finding: .unknownField)
        }
    }

    /// As ``refuseUnknown(_:severity:log:)``, of an object whose further members the reference ignores: with its
    /// compatibility they are warnings.
    func refuseUnknownOfShell(_ known: [String], log: inout DiagnosticLog) {
        refuseUnknown(known, severity: log.compatibility == .iomtFHIR ? .warning : .error, log: &log)
    }

    /// Notes a name that is written in another case: the reference reads it, and other readers of the file do not.
    private func noteCase(of member: JSONNode.Member, _ meant: String, log: inout DiagnosticLog) {
        if FieldReader.otherSpellings.contains(member.name) { return }
        guard log.compatibility == .iomtFHIR else {
            return log.error(
                member.position, "Could not find member '\(member.name)' on \(what)",
                advice: "did you mean '\(meant)'?", finding: .unknownField)
        }
        log.warning(
            member.position, "the member '\(member.name)' is read as '\(meant)'",
            advice: "write '\(meant)': without compatibility iomt-fhir it is an error", finding: .unknownField)
    }

    /// Names in another case that the reference's own files use (mapping dialect, section 4).
    private static let otherSpellings = ["ValueType"]
}

extension JSONNode {
    /// The value of the last member called `name` without regard to case, as the mapping dialect reads its files.
    func field(_ name: String) -> JSONNode? {
        members?.last { $0.name.isCaseVariant(of: name) }?.node
    }

    /// The text of this node, which messages call `what`; another kind is an error.
    func text(_ what: String, log: inout DiagnosticLog) -> String? {
        if let string { return string }
        log.error(position, "\(what) must be a string, found \(kind)", finding: .wrongKind)
        return nil
    }
}

extension DiagnosticLog {
    /// Notes that `text` is none of the `names` that `field` can have.
    mutating func unknownChoice(_ field: String, _ text: String, at position: SourcePosition, among names: [String]) {
        let fallback = "use one of \(names.joined(separator: ", "))"
        error(
            position, "unknown \(field) '\(text)'",
            advice: NearestName.advice(for: text, among: names, otherwise: fallback), finding: .unknownChoice)
    }
}
