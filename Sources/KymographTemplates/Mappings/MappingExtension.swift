package import KymographCore

/// A mapping file that changes another mapping's: `"extends": "healthkit-on-fhir"` beside its templates.
///
/// A template of the same `typeName` as one of the other mapping is changed member by member, as JSON Merge Patch does
/// (RFC 7396): objects are merged, `null` removes a member, all else is replaced. Values are known by `valueName`.
/// A template that retracts changes one that does, and no other. Other templates are added.
package struct MappingExtension {
    /// Which file of a mapping.
    package enum Kind {
        case device
        case fhir
    }

    private let base: JSONNode
    private let name: String
    private let position: SourcePosition

    /// The file `root` with what it extends; `root` itself where it extends nothing. Notes what is wrong.
    ///
    /// What comes from the other mapping has the place of `extends`, so that messages name a line of this file.
    package static func merged(
        _ root: JSONNode, _ kind: Kind, _ mappings: ExtensibleMappings, log: inout DiagnosticLog
    ) -> JSONNode {
        guard let node = root.field("extends") else { return root }
        guard let name = node.string else {
            log.error(node.position, "'extends' is \(node.kind), not the name of a mapping", finding: .wrongKind)
            return root.setting(root.spelling(of: "extends"), to: nil)
        }
        guard let files = mappings.files(name),
            let base = JSONNode.parse(kind == .device ? files.device : files.fhir, log: &log)
        else {
            log.error(
                node.position, "there is no mapping '\(name)' in the catalogue",
                advice: NearestName.advice(
                    for: name, among: mappings.names, otherwise: "'kymo mappings' lists those that can be extended"),
                finding: .wrongChange)
            return root.setting(root.spelling(of: "extends"), to: nil)
        }
        let change = MappingExtension(base: base.moved(to: node.position), name: name, position: node.position)
        return change.merged(root, log: &log)
    }

    private func merged(_ root: JSONNode, log: inout DiagnosticLog) -> JSONNode {
        var result = base.setting("$schema", to: nil)
        result.position = root.position
        for member in root.members ?? [] where !["extends", "template"].contains(member.name.lowercased()) {
            result.put(member)
        }
        guard let changes = root.field("template") else { return result }
        guard let elements = changes.elements else { return result.setting("template", to: changes) }
        return result.setting("template", to: merged(elements, changes, log: &log))
    }

    private func merged(_ changes: [JSONNode], _ list: JSONNode, log: inout DiagnosticLog) -> JSONNode {
        var templates = base.field("template")?.elements ?? []
        for change in changes {
            let type = change.typeName ?? ""
            let places = templates.indices.filter {
                templates[$0].retracts == change.retracts && templates[$0].typeName?.isCaseVariant(of: type) ?? false
            }
            switch places.count {
            case 0 where change.field("templateType") == nil: refuse(change, unknown: type, templates, log: &log)
            case 0: templates.append(change)
            case 1: templates[places[0]] = merged(templates[places[0]], change, log: &log)
            default: refuse(change, places.count, log: &log)
            }
        }
        return JSONNode(position: list.position, value: .array(templates))
    }

    private func merged(_ template: JSONNode, _ change: JSONNode, log: inout DiagnosticLog) -> JSONNode {
        let result = template.patched(by: change.withTypeName(of: template))
        if JSONNode.areSame(result, template) {
            log.error(
                change.position, "this changes nothing: '\(name)' has it so",
                advice: "change a member, or remove the template", finding: .wrongChange)
        }
        return result
    }

    private func refuse(_ change: JSONNode, unknown type: String, _ all: [JSONNode], log: inout DiagnosticLog) {
        log.error(
            change.position, "'\(name)' has no template of the type '\(type)' that this could change",
            advice: NearestName.advice(
                for: type, among: all.compactMap(\.typeName),
                otherwise: "name one of its types, or add a templateType to a template of your own"),
            finding: .wrongChange)
    }

    private func refuse(_ change: JSONNode, _ count: Int, log: inout DiagnosticLog) {
        log.error(
            change.position,
            "'\(name)' has \(count) templates of the type '\(change.typeName ?? "")', and this could change any",
            advice: "copy the mapping: kymo mappings --export \(name) FOLDER", finding: .wrongChange)
    }
}

extension JSONNode {
    /// Whether the template in the shell takes readings back.
    fileprivate var retracts: Bool {
        if case .bool(true)? = field("template")?.field("retracts")?.value { true } else { false }
    }

    /// The shell with the type spelled as in `other`: another spelling would make other series of it.
    fileprivate func withTypeName(of other: JSONNode) -> JSONNode {
        guard var body = field("template"), let name = other.field("template")?.field("typeName") else { return self }
        body.set(body.spelling(of: "typeName"), to: name)
        return setting(spelling(of: "template"), to: body)
    }

    /// The node with all that is in it at one place.
    fileprivate func moved(to place: SourcePosition) -> JSONNode {
        switch value {
        case .object(let members):
            let moved = members.map { Member(name: $0.name, position: place, node: $0.node.moved(to: place)) }
            return JSONNode(position: place, value: .object(moved))
        case .array(let elements):
            return JSONNode(position: place, value: .array(elements.map { $0.moved(to: place) }))
        case .string, .number, .bool, .null: return JSONNode(position: place, value: value)
        }
    }

    /// The node changed by `change` (RFC 7396), whose places it has where it is changed.
    fileprivate func patched(by change: JSONNode) -> JSONNode {
        guard let changes = change.members else { return change }
        var result = JSONNode(position: change.position, value: .object(members ?? []))
        for member in changes {
            guard !member.node.isNull else {
                result.set(result.spelling(of: member.name), to: nil)
                continue
            }
            let former = result.field(member.name) ?? JSONNode(position: member.position, value: .null)
            var changed = member
            changed.node = former.patchedOrReplaced(by: member)
            result.put(changed)
        }
        return result
    }

    private func patchedOrReplaced(by member: Member) -> JSONNode {
        guard member.name.isCaseVariant(of: "values"), let mine = elements, let changes = member.node.elements else {
            return patched(by: member.node)
        }
        var values = mine
        for change in changes {
            let name = change.field("valueName")?.string
            if name != nil, let place = values.firstIndex(where: { $0.field("valueName")?.string == name }) {
                values[place] = values[place].patched(by: change)
            } else {
                values.append(change)
            }
        }
        return JSONNode(position: member.node.position, value: .array(values))
    }

    /// Puts `member` in place of that of its name, or at the end.
    fileprivate mutating func put(_ member: Member) {
        var all = members ?? []
        if let place = all.firstIndex(where: { $0.name.isCaseVariant(of: member.name) }) {
            all[place] = member
        } else {
            all.append(member)
        }
        value = .object(all)
    }

    /// The name of a member as this object spells it.
    fileprivate func spelling(of name: String) -> String {
        members?.first { $0.name.isCaseVariant(of: name) }?.name ?? name
    }
}
