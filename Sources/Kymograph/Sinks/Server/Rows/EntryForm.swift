import KymographCore

/// How an entry is written for a server: as it came, or changed as far as the server needs it.
struct EntryForm {
    /// How an Observation refers to its Patient, Device and Encounter.
    enum References {
        /// As it came.
        case asSent
        /// By identifier.
        case logical
        /// By the ids that the server has.
        case literal(ResolvedIdentity)
    }

    /// How an Observation refers to others.
    var references: References = .asSent
    /// Whether `PUT Observation/<id>` becomes a conditional update, without id in the body.
    var isConditionalUpdate = false
    /// Whether a panel refers to its members by identifier, because what it says of them does not hold on the server.
    var namesMembers = false
    /// The version of FHIR.
    var version: FHIRVersion = .r4

    /// Writes the entry.
    func write(_ entry: RowEntry, into output: inout [UInt8]) {
        let query = conditionalQuery(entry)
        if case .asSent = references, query == nil, !namesMembers || entry.members.isEmpty {
            output += entry.entry.bytes
            return
        }
        output += #"{"resource":"#.utf8
        writeResource(entry, withID: query == nil, into: &output)
        output += #","request":"#.utf8
        if let query {
            output += #"{"method":"PUT","url":"Observation?\#(query)"}"#.utf8
        } else {
            output += entry.entry["request"]?.bytes ?? []
        }
        output += "}".utf8
    }

    /// Writes the resource.
    func writeResource(_ entry: RowEntry, withID: Bool, into output: inout [UInt8]) {
        output += "{".utf8
        var isFirst = true
        for member in entry.resource.members ?? [] where withID || member.name != "id" {
            if !isFirst { output += ",".utf8 }
            isFirst = false
            output += entry.resource.text[member.nameRange]
            output += ":".utf8
            if let reference = members(member.name, entry) ?? reference(member.name, entry) {
                output += reference.utf8
            } else {
                output += member.value.bytes
            }
        }
        output += "}".utf8
    }

    /// What stands in the place of a panel's references; nil when they stay.
    private func members(_ name: String, _ entry: RowEntry) -> String? {
        guard namesMembers, !entry.members.isEmpty, name == "hasMember" || name == "related" else { return nil }
        let references = entry.members.map { member in
            name == "related"
                ? "{\"type\":\"has-member\",\"target\":\(logical(member.identifier))}" : logical(member.identifier)
        }
        return "[\(references.joined(separator: ","))]"
    }

    /// What stands in the place of a reference; nil when it stays.
    private func reference(_ name: String, _ entry: RowEntry) -> String? {
        let identifier: ServerIdentifier?
        switch name {
        case "subject": identifier = entry.subject
        case "device": identifier = entry.device
        case "encounter", "context": identifier = entry.encounter
        default: return nil
        }
        guard let identifier else { return nil }
        switch references {
        case .asSent: return nil
        case .logical: return logical(identifier)
        case .literal(let identity):
            let id = identity.id(of: identifier.type)
            return id.map { "{\"reference\":\"\(identifier.type)/\($0)\"}" } ?? logical(identifier)
        }
    }

    private func logical(_ identifier: ServerIdentifier) -> String {
        // STU3 has no Reference.type.
        let type = version == .stu3 ? "" : "\"type\":\"\(identifier.type)\","
        let system = identifier.system.isEmpty ? "" : "\"system\":\(JSONNode.quoted(identifier.system)),"
        return "{\(type)\"identifier\":{\(system)\"value\":\(JSONNode.quoted(identifier.value))}}"
    }

    /// The search of the conditional update that `entry` becomes; nil when it stays as it is.
    private func conditionalQuery(_ entry: RowEntry) -> String? {
        guard isConditionalUpdate, entry.method == "PUT", entry.url.hasPrefix("Observation/") else { return nil }
        return entry.observationIdentifier.map { IdentifierSearch.query(system: $0.system, value: $0.value) }
    }
}

extension RowEntry {
    /// The first identifier of the resource.
    var observationIdentifier: ServerIdentifier? {
        resource["identifier"]?.elements?.first.flatMap { ServerIdentifier(identifier: $0, type: "Observation") }
    }

    /// A bundle of this entry and what it refers to, as the row has them, in one line.
    var ownBundle: [UInt8] {
        var bundle = Array(
            #"{"resourceType":"Bundle","type":"\#(isTransaction ? "transaction" : "batch")","entry":["#.utf8)
        for resource in carried {
            bundle += resource.entry.bytes
            bundle += ",".utf8
        }
        // Its members are not in this bundle.
        var form = EntryForm(namesMembers: members.contains { !$0.isByID })
        form.version = resource["related"] == nil ? .r4 : .stu3
        form.write(self, into: &bundle)
        bundle += "]}\n".utf8
        return bundle
    }
}
