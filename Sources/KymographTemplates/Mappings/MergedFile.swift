package import KymographCore

/// A mapping file with what it extends, and which of its members are not those of the other mapping.
package struct MergedFile: Sendable {
    /// A member, or an element of `template` or `values`, that the file adds, changes or removes.
    package struct Change: Sendable {
        /// What it does.
        package enum Kind: String, Sendable {
            /// The other mapping has no such member.
            case added
            /// The other mapping has it with other content.
            case changed
            /// The merged file has it no more.
            case removed
        }

        /// What it does.
        package var kind: Kind
        /// Where it is in the merged file, or was in the other one: a JSON Pointer (RFC 6901).
        package var pointer: String
        /// Where the file states it.
        package var position: SourcePosition
        /// Where the other mapping's file has it; nil of what is added.
        package var former: SourcePosition?
    }

    /// What messages call the file.
    package let name: String
    /// The mapping that it extends; nil when it is whole by itself.
    package let base: String?
    /// What messages call the file that it extends.
    package var baseFile: String { "\(base ?? name)/\(kind == .device ? "device" : "fhir").json" }
    private let kind: MappingExtension.Kind
    /// What is loaded.
    package let merged: JSONNode
    /// What is not as in the other mapping, in the order of the file; of each object, what it removes comes last.
    package private(set) var changes: [Change] = []

    /// What `file` says with what it extends. Notes what is wrong; nil when it is no JSON.
    package init?(
        _ file: MappingFile, _ kind: MappingExtension.Kind, _ mappings: ExtensibleMappings, log: inout DiagnosticLog
    ) {
        guard let root = JSONNode.parse(file.bytes, log: &log) else { return nil }
        (name, self.kind) = (file.name, kind)
        merged = MappingExtension.merged(root, kind, mappings, log: &log)
        guard let extended = root.field("extends")?.string, let files = mappings.files(extended),
            let former = JSONNode.parse(kind == .device ? files.device : files.fhir, log: &log)
        else {
            base = nil
            return
        }
        base = extended
        for member in root.members ?? [] where !["extends", "template"].contains(member.name.lowercased()) {
            note(member, former.field(member.name), "")
        }
        noteTemplates(root.field("template")?.elements ?? [], former.field("template")?.elements ?? [])
    }

    private mutating func noteTemplates(_ stated: [JSONNode], _ former: [JSONNode]) {
        var added = former.count
        for template in stated {
            let type = template.typeName ?? ""
            if let place = former.firstIndex(where: { $0.typeName?.isCaseVariant(of: type) ?? false }) {
                noteMembers(of: template, former[place], "/template/\(place)", named: ["typeName"])
            } else {
                changes.append(Change(kind: .added, pointer: "/template/\(added)", position: template.position))
                added += 1
            }
        }
    }

    /// Notes what the object `stated` changes in `former`; members `named` say only which object is meant.
    private mutating func noteMembers(
        of stated: JSONNode, _ former: JSONNode, _ pointer: String, named: Set<String> = []
    ) {
        let members = stated.members ?? []
        for member in members where !member.node.isNull && !named.contains(member.name) {
            note(member, former.field(member.name), pointer)
        }
        for member in members where member.node.isNull {
            guard let own = former.members?.last(where: { $0.name.isCaseVariant(of: member.name) }) else { continue }
            changes.append(
                Change(
                    kind: .removed, pointer: "\(pointer)/\(own.name.pointerToken)", position: member.position,
                    former: own.position))
        }
    }

    private mutating func note(_ member: JSONNode.Member, _ former: JSONNode?, _ pointer: String) {
        let place = "\(pointer)/\(member.name.pointerToken)"
        guard let former else {
            changes.append(Change(kind: .added, pointer: place, position: member.position))
            return
        }
        if member.node.members != nil, former.members != nil {
            // Which template a shell is about is known by its type.
            return noteMembers(of: member.node, former, place, named: member.name == "template" ? ["typeName"] : [])
        }
        if member.name.isCaseVariant(of: "values"), let values = member.node.elements, let known = former.elements {
            return noteValues(values, known, place)
        }
        guard !JSONNode.areSame(member.node, former) else { return }
        changes.append(
            Change(kind: .changed, pointer: place, position: member.position, former: former.position))
    }

    private mutating func noteValues(_ stated: [JSONNode], _ former: [JSONNode], _ pointer: String) {
        var added = former.count
        for value in stated {
            let name = value.field("valueName")?.string
            if name != nil, let place = former.firstIndex(where: { $0.field("valueName")?.string == name }) {
                noteMembers(of: value, former[place], "\(pointer)/\(place)", named: ["valueName"])
            } else {
                changes.append(Change(kind: .added, pointer: "\(pointer)/\(added)", position: value.position))
                added += 1
            }
        }
    }
}

extension JSONNode {
    /// The type of the template in a `{templateType, template}` shell.
    var typeName: String? { field("template")?.field("typeName")?.string }
}

extension String {
    /// As a token of a JSON Pointer (RFC 6901).
    package var pointerToken: String {
        reduce(into: "") { token, character in
            switch character {
            case "~": token += "~0"
            case "/": token += "~1"
            default: token.append(character)
            }
        }
    }
}
