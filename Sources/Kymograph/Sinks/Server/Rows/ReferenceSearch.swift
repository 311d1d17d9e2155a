/// Finds the References in a resource, however deep, in their order: those to entries of the same row, and those by
/// identifier to a Patient, Device or Encounter.
struct ReferenceSearch {
    private static let members: Set<String> = ["reference", "type", "identifier", "display", "id", "extension"]

    private let systems: ReferenceSystems
    private let entries: [String: ServerIdentifier]
    private var found: [EntryReference] = []

    /// The References in `resource`; `entries` are those of the row by `fullUrl`.
    static func references(
        in resource: JSONSlice, entries: [String: ServerIdentifier], systems: ReferenceSystems
    ) -> [EntryReference] {
        var search = ReferenceSearch(systems: systems, entries: entries)
        for member in resource.members ?? [] { search.visit(member.value, member.name) }
        return search.found
    }

    private init(systems: ReferenceSystems, entries: [String: ServerIdentifier]) {
        self.systems = systems
        self.entries = entries
    }

    private mutating func visit(_ value: JSONSlice, _ name: String) {
        guard value.isNested else { return }
        if let elements = value.elements {
            for element in elements { visit(element, name) }
            return
        }
        guard let members = value.members else { return }
        if let target = target(members, name) {
            found.append(EntryReference(slice: value, target: target))
        } else {
            for member in members { visit(member.value, member.name) }
        }
    }

    /// What an object names; nil when it is no Reference, or one to something else.
    private func target(_ members: [JSONSlice.Member], _ name: String) -> ServerIdentifier? {
        guard members.allSatisfy({ Self.members.contains($0.name) }) else { return nil }
        func member(_ name: String) -> JSONSlice? { members.first { $0.name == name }?.value }
        if let url = member("reference")?.string { return entries[url] }
        guard let identifier = member("identifier") else { return nil }
        let system = IdentifierText(identifier["system"]?.string ?? "")
        let type = member("type")?.string ?? systems.type(of: system) ?? Self.type(of: name)
        guard let type, ["Patient", "Device", "Encounter"].contains(type) else { return nil }
        return ServerIdentifier(identifier: identifier, type: type)
    }

    /// What members of this name refer to, where neither type nor system say it: STU3 has no types, and the reference
    /// system no systems.
    private static func type(of name: String) -> String? {
        switch name {
        case "subject", "patient": "Patient"
        case "device": "Device"
        case "encounter", "context": "Encounter"
        default: nil
        }
    }
}
