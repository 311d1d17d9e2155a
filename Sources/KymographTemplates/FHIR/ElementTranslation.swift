import KymographCore

/// Writes a resource that is described for one version of FHIR as another version has it (``ElementChange``).
struct ElementTranslation {
    private let type: String
    private let changes: [String: ElementChange]
    /// The elements of the output's version; nil when nothing is to be translated.
    private let elements: ElementTable?
    private let output: FHIRVersion

    init(type: String, from declared: FHIRVersion, to output: FHIRVersion) {
        self.type = type
        self.output = output
        let isSame = declared.agrees(with: output)
        changes = isSame ? [:] : ElementChange.fromR4(to: output)
        elements = isSame ? nil : ElementTable(type: type, version: output)
    }

    /// The resource `body` in the output's version; what cannot be written in it is noted.
    func translate(_ body: JSONNode, log: inout DiagnosticLog) -> JSONNode {
        guard let elements else { return body }
        let translated = translate(body, path: type, log: &log)
        checkStatus(of: translated, log: &log)
        for member in translated.members ?? [] {
            let name = member.name.hasPrefix("_") ? String(member.name.dropFirst()) : member.name
            guard elements.element(name) == nil else { continue }
            log.error(
                member.position, "'\(name)' of a \(type) cannot be written in FHIR \(output.rawValue)",
                advice:
                    "leave it out, or write the file for that version, with \"fhirVersion\": \"\(output.rawValue)\"",
                finding: .otherFHIRVersion)
        }
        return translated
    }

    /// A status that the output's version lacks has no counterpart: which other one is meant is not ours to say.
    private func checkStatus(of resource: JSONNode, log: inout DiagnosticLog) {
        guard let status = resource.member("status"), let code = status.string,
            let codes = StatusCodes.of(type, output), !codes.contains(code)
        else { return }
        log.error(
            status.position, "the status '\(code)' of a \(type) cannot be written in FHIR \(output.rawValue)",
            advice: "use one of \(codes.joined(separator: ", ")), or another version", finding: .otherFHIRVersion)
    }

    private func translate(_ node: JSONNode, path: String, log: inout DiagnosticLog) -> JSONNode {
        switch node.value {
        case .array(let elements):
            return JSONNode(
                position: node.position, value: .array(elements.map { translate($0, path: path, log: &log) }))
        case .object(let members):
            if ResourceNodeReader.isHole(node) { return node }
            var object = JSONNode(position: node.position, value: .object([]))
            for member in members { add(member, path: "\(path).\(member.name)", to: &object, log: &log) }
            return object
        case .string, .number, .bool, .null: return node
        }
    }

    private func add(
        _ member: JSONNode.Member, path: String, to object: inout JSONNode, log: inout DiagnosticLog
    ) {
        let node = translate(member.node, path: path, log: &log)
        switch changes[path] {
        case nil: object.append(node, to: member.name, member)
        case .named(let name): object.append(node, to: name, member)
        case .listed(let name): object.append(node.list, to: name, member)
        case .single(let name, let part):
            guard let only = only(of: node, path, log: &log) else { return }
            object.append(part.flatMap { only.member($0)?.optional } ?? only, to: name, member)
        case .concept(let name): object.append(node.wrapped("concept"), to: name, member)
        case .reference(let name): object.append(node.wrapped("reference"), to: name, member)
        case .worded(let name): object.append(node.wrapped("text"), to: name, member)
        case .identifier(let code): object.append(node.identifier(code).list, to: "identifier", member)
        case .notDone(let flag, let code): addStatus(node, flag: flag, code: code, member, to: &object)
        case .carried(let type): carry(node, path, member, to: &object) { ElementTranslation.value($0, type) }
        case .carriedParts(let types):
            carry(node, path, member, to: &object) { ElementTranslation.parts($0, types) }
        }
    }

    private func only(of node: JSONNode, _ path: String, log: inout DiagnosticLog) -> JSONNode? {
        guard let elements = node.elements else { return node }
        if elements.count == 1 { return elements[0] }
        log.error(
            node.position, "\(path) has one element in FHIR \(output.rawValue), and here are \(elements.count)",
            advice: "leave one, or write the file for that version, with \"fhirVersion\": \"\(output.rawValue)\"",
            finding: .otherFHIRVersion)
        return nil
    }

    private func addStatus(
        _ node: JSONNode, flag: String, code: String, _ member: JSONNode.Member, to object: inout JSONNode
    ) {
        guard node.string == "not-done" else { return object.append(node, to: member.name, member) }
        object.append(JSONNode(position: node.position, value: .string(code)), to: member.name, member)
        object.append(JSONNode(position: node.position, value: .bool(true)), to: flag, member)
    }

    // MARK: Extensions

    /// Adds what the version lacks under the names that HL7 fixed for it (R5, "Extensions for converting between
    /// versions").
    private func carry(
        _ node: JSONNode, _ path: String, _ member: JSONNode.Member, to object: inout JSONNode,
        content: (JSONNode) -> JSONNode.Member
    ) {
        let url = JSONNode(.string("http://hl7.org/fhir/4.0/StructureDefinition/extension-\(path)"))
        let extensions = (node.elements ?? [node]).map { element in
            JSONNode.object(
                [JSONNode.Member(name: "url", position: element.position, node: url), content(element)], element)
        }
        object.append(JSONNode(position: node.position, value: .array(extensions)), to: "extension", member)
    }

    private static func value(_ node: JSONNode, _ type: String) -> JSONNode.Member {
        JSONNode.Member(name: "value\(type)", position: node.position, node: node.needed)
    }

    private static func parts(_ node: JSONNode, _ types: [String: String]) -> JSONNode.Member {
        let parts = (node.members ?? []).map { member in
            let url = JSONNode.Member(name: "url", position: member.position, node: JSONNode(.string(member.name)))
            let name = "value\(types[member.name] ?? "String")"
            let part = JSONNode.Member(name: name, position: member.position, node: member.node)
            return JSONNode.object([url, part], member.node)
        }
        let list = JSONNode(position: node.position, value: .array(parts))
        return JSONNode.Member(name: "extension", position: node.position, node: list)
    }
}

extension JSONNode {
    fileprivate static func object(_ members: [Member], _ source: JSONNode) -> JSONNode {
        JSONNode(position: source.position, value: .object(members))
    }

    /// A hole that its object needed and that stands without it now.
    fileprivate var optional: JSONNode { ResourceNodeReader.isHole(self) ? setting("required", to: nil) : self }

    /// A value without which the object that it is put into makes no sense.
    fileprivate var needed: JSONNode {
        guard member("$value") != nil else { return self }
        return setting("required", to: JSONNode(position: position, value: .bool(true)))
    }

    /// A list of this node, or itself when it is one.
    fileprivate var list: JSONNode {
        elements == nil ? JSONNode(position: position, value: .array([self])) : self
    }

    /// An object with this node as its member `name`; of a list, a list of them.
    fileprivate func wrapped(_ name: String) -> JSONNode {
        if let elements { return JSONNode(position: position, value: .array(elements.map { $0.wrapped(name) })) }
        return .object([Member(name: name, position: position, node: self)], self)
    }

    /// An Identifier with this node as its value, of a type of STU3's `identifier-type`.
    fileprivate func identifier(_ code: String) -> JSONNode {
        func text(_ name: String, _ text: String) -> Member {
            Member(name: name, position: position, node: JSONNode(position: position, value: .string(text)))
        }
        let coding = JSONNode.object([text("system", "http://hl7.org/fhir/identifier-type"), text("code", code)], self)
        let type = JSONNode.object([Member(name: "coding", position: position, node: coding.list)], self)
        let members = [Member(name: "type", position: position, node: type)]
        return .object(members + [Member(name: "value", position: position, node: needed)], self)
    }

    /// Adds the member `name`, which stands where `source` did; a list goes on where there is one already.
    fileprivate mutating func append(_ node: JSONNode, to name: String, _ source: Member) {
        var members = members ?? []
        if let place = members.firstIndex(where: { $0.name == name }), let more = node.elements,
            let elements = members[place].node.elements
        {
            members[place].node.value = .array(elements + more)
        } else {
            members.append(Member(name: name, position: source.position, node: node))
        }
        value = .object(members)
    }
}
