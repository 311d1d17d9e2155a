/// Takes the bundle of a row apart without changing a byte of its resources.
struct RowSlicer {
    private let row: OutboxRow
    private let isTransaction: Bool
    private var carried: [CarriedResource] = []

    /// The entries of `row` that are delivered for their own sake; nil when it is no transaction or batch. Patients and
    /// Devices that nothing refers to are among them if `includesUnreferred`.
    static func slice(_ row: OutboxRow, includesUnreferred: Bool = true) -> [RowEntry]? {
        guard let bundle = JSONSlice(row.body), let type = bundle["type"]?.string,
            type == "transaction" || type == "batch", let entries = bundle["entry"]?.elements
        else { return nil }
        var slicer = RowSlicer(row: row, isTransaction: type == "transaction")
        guard let rowEntries = slicer.slice(entries) else { return nil }
        return includesUnreferred ? rowEntries + slicer.unreferred(by: rowEntries) : rowEntries
    }

    private init(row: OutboxRow, isTransaction: Bool) {
        self.row = row
        self.isTransaction = isTransaction
    }

    private mutating func slice(_ entries: [JSONSlice]) -> [RowEntry]? {
        var others: [(JSONSlice, JSONSlice, EntryRequest)] = []
        for entry in entries {
            guard let resource = entry["resource"], let request = EntryRequest(entry["request"]) else { return nil }
            if let resource = carriedResource(entry, resource, request) {
                carried.append(resource)
            } else {
                others.append((entry, resource, request))
            }
        }
        return others.map { entry, resource, request in
            rowEntry(entry, resource, request, references(of: resource, among: others))
        }
    }

    /// Entries for Patients and Devices that nothing in the row refers to.
    private func unreferred(by entries: [RowEntry]) -> [RowEntry] {
        let used = Set(entries.flatMap { $0.carried.map(ObjectIdentifier.init) })
        return carried.filter { !used.contains(ObjectIdentifier($0)) }.compactMap { resource in
            guard let content = resource.entry["resource"], let request = EntryRequest(resource.entry["request"])
            else { return nil }
            return rowEntry(resource.entry, content, request, EntryReferences())
        }
    }

    private func rowEntry(
        _ entry: JSONSlice, _ resource: JSONSlice, _ request: EntryRequest, _ references: EntryReferences
    ) -> RowEntry {
        RowEntry(
            row: row, isTransaction: isTransaction, request: request, entry: entry, resource: resource,
            references: references)
    }

    private func carriedResource(
        _ entry: JSONSlice, _ resource: JSONSlice, _ request: EntryRequest
    ) -> CarriedResource? {
        guard request.method == "POST", request.ifNoneExist != nil, request.url == "Patient" || request.url == "Device",
            let identifier = resource["identifier"]?.elements?.first,
            let named = ServerIdentifier(identifier: identifier, type: request.url)
        else { return nil }
        return CarriedResource(
            row: row.number, identifier: named, fullURL: entry["fullUrl"]?.string, entry: entry)
    }

    private func references(
        of resource: JSONSlice, among others: [(JSONSlice, JSONSlice, EntryRequest)]
    ) -> EntryReferences {
        var references = EntryReferences()
        for member in resource.members ?? [] {
            switch member.name {
            case "subject": references.subject = target(of: member.value, type: "Patient", &references.carried)
            case "hasMember", "related": references.members = members(member.value, among: others)
            case "device": references.device = target(of: member.value, type: "Device", &references.carried)
            case "encounter", "context":
                references.encounter = ServerIdentifier(reference: member.value, type: "Encounter")
            default: break
            }
        }
        return references
    }

    /// The members of a panel, of which these are the references; none unless all are entries of the row.
    private func members(
        _ references: JSONSlice, among others: [(JSONSlice, JSONSlice, EntryRequest)]
    ) -> [EntryReferences.Member] {
        let references = references.elements ?? []
        let members: [EntryReferences.Member] = references.compactMap { reference in
            guard let url = (reference["target"] ?? reference)["reference"]?.string,
                let (_, member, request) = others.first(where: { $0["fullUrl"]?.string == url || $2.url == url }),
                let identifier = member["identifier"]?.elements?.first,
                let named = ServerIdentifier(identifier: identifier, type: "Observation")
            else { return nil }
            return EntryReferences.Member(identifier: named, target: request.target, isByID: request.url == url)
        }
        return members.count == references.count ? members : []
    }

    /// What a reference names, by the entry that it points to or by identifier; notes the entry in `used`.
    private func target(
        of reference: JSONSlice, type: String, _ used: inout [CarriedResource]
    ) -> ServerIdentifier? {
        if let url = reference["reference"]?.string {
            guard let resource = carried.first(where: { $0.fullURL == url }) else { return nil }
            used.append(resource)
            return resource.identifier
        }
        guard let identifier = ServerIdentifier(reference: reference, type: type) else { return nil }
        if let resource = carried.first(where: { $0.identifier == identifier }) { used.append(resource) }
        return identifier
    }
}
