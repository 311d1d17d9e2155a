import KymographCore

/// How an entry is written for a server: as it came, or changed as far as the server needs it.
struct EntryForm {
    /// How a resource refers to Patients, Devices and Encounters.
    enum References {
        /// As it came.
        case asSent
        /// By identifier.
        case logical
        /// By the ids that the server has.
        case literal(ResolvedIdentity)
    }

    /// How a resource refers to others.
    var references: References = .asSent
    /// Whether `PUT <type>/<id>` becomes a conditional update, without id in the body.
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
            output += #"{"method":"PUT","url":"\#(entry.type)?\#(query)"}"#.utf8
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
            if let panel = panelMembers(member.name, entry) {
                output += panel.utf8
            } else {
                write(member.value, of: entry, into: &output)
            }
        }
        output += "}".utf8
    }

    /// What stands in the place of a panel's references; nil when they stay.
    private func panelMembers(_ name: String, _ entry: RowEntry) -> String? {
        guard namesMembers, !entry.members.isEmpty, name == "hasMember" || name == "related" else { return nil }
        let references = entry.members.map { member in
            let reference = "{\(logical(member.identifier))}"
            return name == "related" ? "{\"type\":\"has-member\",\"target\":\(reference)}" : reference
        }
        return "[\(references.joined(separator: ","))]"
    }

    /// Writes a value with the References in it.
    private func write(_ value: JSONSlice, of entry: RowEntry, into output: inout [UInt8]) {
        var place = value.range.lowerBound
        for reference in entry.references where value.range.contains(reference.slice.range.lowerBound) {
            guard let members = members(reference.target, entry) else { continue }
            output += value.text[place..<reference.slice.range.lowerBound]
            output += "{\(members)".utf8
            for other in reference.others {
                output += ",".utf8
                output += value.text[other.nameRange.lowerBound..<other.value.range.upperBound]
            }
            output += "}".utf8
            place = reference.slice.range.upperBound
        }
        output += value.text[place..<value.range.upperBound]
    }

    /// The members that name `target` now; nil when a reference to it stays as it is.
    private func members(_ target: ServerIdentifier, _ entry: RowEntry) -> String? {
        switch references {
        case .asSent: return nil
        case .logical: return logical(target)
        case .literal(let identity):
            guard let id = id(of: target, entry, identity) else { return logical(target) }
            return "\"reference\":\"\(target.type)/\(id)\""
        }
    }

    private func id(of target: ServerIdentifier, _ entry: RowEntry, _ identity: ResolvedIdentity) -> IdentifierText? {
        target == entry.gateway ? identity.gateway : identity.id(of: target.type)
    }

    private func logical(_ identifier: ServerIdentifier) -> String {
        // STU3 has no Reference.type.
        let type = version == .stu3 ? "" : "\"type\":\"\(identifier.type)\","
        let system = identifier.system.isEmpty ? "" : "\"system\":\(JSONNode.quoted(identifier.system.text)),"
        return "\(type)\"identifier\":{\(system)\"value\":\(JSONNode.quoted(identifier.value.text))}"
    }

    /// The search of the conditional update that `entry` becomes; nil when it stays as it is.
    private func conditionalQuery(_ entry: RowEntry) -> String? {
        guard isConditionalUpdate, entry.method == "PUT", entry.url.hasPrefix("\(entry.type)/") else { return nil }
        return entry.identifier?.query
    }
}
