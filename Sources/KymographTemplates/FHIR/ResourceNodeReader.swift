import KymographCore

/// Reads JSON with holes: objects whose one name begins with `$` stand for what a reading says.
struct ResourceNodeReader {
    let version: FHIRVersion

    /// Names of holes.
    static let holes = ["$value", "$text", "$time", "$reference", "$identifier"]

    /// Whether `node` is a hole and not an object of FHIR.
    static func isHole(_ node: JSONNode) -> Bool { node.members?.contains { $0.name.hasPrefix("$") } ?? false }

    /// `node` with its holes; nil after an error.
    func read(_ node: JSONNode, log: inout DiagnosticLog) -> ResourceNode? { read(node, level: 0, log: &log) }

    private func read(_ node: JSONNode, level: Int, log: inout DiagnosticLog) -> ResourceNode? {
        guard level < ResourceNode.mostLevels else {
            return refuse(node, "the resource nests deeper than \(level) levels", "write it flatter", &log)
        }
        switch node.value {
        case .object(let members):
            if ResourceNodeReader.isHole(node) { return hole(node, log: &log) }
            return object(members, of: node, level: level, log: &log)
        case .array(let elements):
            guard !elements.isEmpty else { return refuseEmpty(node, "array", &log) }
            return .array(elements.compactMap { read($0, level: level + 1, log: &log) })
        case .string(let text):
            return text.isEmpty ? refuseEmpty(node, "string", &log) : .constant(JSONText.quoted(text))
        case .number(let text): return .constant(text)
        case .bool(let isTrue): return .constant(isTrue ? "true" : "false")
        case .null: return refuse(node, "FHIR has no null", "leave the member out", &log)
        }
    }

    private func object(
        _ members: [JSONNode.Member], of node: JSONNode, level: Int, log: inout DiagnosticLog
    ) -> ResourceNode? {
        guard !members.isEmpty else { return refuseEmpty(node, "object", &log) }
        var read: [ResourceMember] = []
        for member in members {
            if read.contains(where: { $0.name == member.name }) {
                _ = refuse(member.node, "'\(member.name)' is here twice", "remove one", &log)
            }
            guard let content = self.read(spelled(member), level: level + 1, log: &log) else { continue }
            var isDemanded = false
            if case .value(let value) = content { isDemanded = value.isRequired }
            read.append(ResourceMember(name: member.name, node: content, isDemanded: isDemanded))
        }
        return .object(read)
    }

    /// The member's value, with HL7's code systems as the version calls them.
    private func spelled(_ member: JSONNode.Member) -> JSONNode {
        guard version == .stu3, member.name == "system", let text = member.node.string else { return member.node }
        return JSONNode(position: member.node.position, value: .string(CodeSystemNames.stu3(text)))
    }

    // MARK: Holes

    private func hole(_ node: JSONNode, log: inout DiagnosticLog) -> ResourceNode? {
        let object = FieldReader(node, what: "a hole of a resource", log: &log)
        let kinds = node.members?.filter { $0.name.hasPrefix("$") } ?? []
        guard kinds.count == 1, let kind = kinds.first, ResourceNodeReader.holes.contains(kind.name) else {
            let names = ResourceNodeReader.holes
            log.unknownChoice("hole", kinds.map(\.name).joined(separator: ", "), at: node.position, among: names)
            return nil
        }
        if kind.name == "$value" { return value(object, log: &log).map { .value($0) } }
        object.refuseUnknown([kind.name], log: &log)
        switch kind.name {
        case "$text": return text(kind.node, log: &log)
        case "$time": return choice(kind.node, kind.name, log: &log).map { .time($0) }
        case "$reference": return choice(kind.node, kind.name, log: &log).map { .reference($0) }
        default: return choice(kind.node, kind.name, log: &log).map { .identifier($0) }
        }
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ node: JSONNode, _ name: String, log: inout DiagnosticLog
    ) -> Choice? {
        guard let text = node.text("'\(name)'", log: &log) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        log.unknownChoice(name, text, at: node.position, among: Choice.allCases.map(\.rawValue))
        return nil
    }

    private func value(_ object: FieldReader, log: inout DiagnosticLog) -> ResourceValue? {
        object.refuseUnknown(["$value", "as", "required"], log: &log)
        let forms = ResourceValue.Form.allCases.map { ($0.rawValue, $0) }
        let form = object.choice("as", among: forms, log: &log) ?? .string
        var isRequired = false
        if let node = object.optional("required", "true or false", log: &log), case .bool(let flag) = node.value {
            isRequired = flag
        }
        guard let text = object.requiredString("$value", log: &log) else { return nil }
        guard !text.isEmpty else {
            log.error(
                object.position(of: "$value"), "'$value' is empty", advice: "name a value of the device template",
                finding: .blankField)
            return nil
        }
        let name = ValueName(text: text, position: object.position(of: "$value"))
        return ResourceValue(name: name, form: form, isRequired: isRequired)
    }

    /// Constant texts and values, one after the other.
    private func text(_ node: JSONNode, log: inout DiagnosticLog) -> ResourceNode? {
        guard let elements = node.elements, !elements.isEmpty else {
            return refuse(
                node, "'$text' must be an array of texts and values", "write [\"Alarm \", {\"$value\": …}]", &log)
        }
        let parts = elements.compactMap { element -> ResourceNode? in
            if let text = element.string { return .constant(String(JSONText.quoted(text).dropFirst().dropLast())) }
            guard ResourceNodeReader.isHole(element) else {
                return refuse(
                    element, "a part of '$text' is a text or a value", "write a text or {\"$value\": …}", &log)
            }
            let part = hole(element, log: &log)
            if case .value(let value)? = part, value.form != .boolean { return part }
            return part.flatMap { _ in
                refuse(element, "a part of '$text' is a text or a value that is no boolean", "remove it", &log)
            }
        }
        return .text(parts)
    }

    // MARK: Errors

    private func refuseEmpty(_ node: JSONNode, _ kind: String, _ log: inout DiagnosticLog) -> ResourceNode? {
        refuse(node, "FHIR has no empty \(kind)", "leave the member out", &log)
    }

    private func refuse(
        _ node: JSONNode, _ message: String, _ advice: String, _ log: inout DiagnosticLog
    ) -> ResourceNode? {
        log.error(node.position, message, advice: advice, finding: .resourceBody)
        return nil
    }
}
