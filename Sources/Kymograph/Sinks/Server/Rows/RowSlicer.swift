/// Takes the bundle of a row apart without changing a byte of its resources.
struct RowSlicer {
    private let row: OutboxRow
    private let isTransaction: Bool
    private let systems: ReferenceSystems
    private var contents: [RowContent] = []
    /// What may be referred to: by `fullUrl`, and by identifier with its place in the row.
    private var named: [IdentifierText: ServerIdentifier] = [:]
    private var carried: [ServerIdentifier: (place: Int, resource: CarriedResource)] = [:]

    /// The entries of `row` that are delivered for their own sake; nil when it is no transaction or batch. Patients and
    /// Devices that nothing refers to are among them if `includesUnreferred`.
    static func slice(
        _ row: OutboxRow, systems: ReferenceSystems = ReferenceSystems(), includesUnreferred: Bool = true
    ) -> [RowEntry]? {
        guard let bundle = JSONSlice(row.body), let type = bundle["type"]?.string,
            type == "transaction" || type == "batch", let entries = bundle["entry"]?.elements
        else { return nil }
        var slicer = RowSlicer(row: row, isTransaction: type == "transaction", systems: systems)
        for entry in entries { guard slicer.take(entry) else { return nil } }
        let rowEntries = slicer.contents.filter { !$0.isBare }.map(slicer.rowEntry)
        return includesUnreferred ? rowEntries + slicer.unreferred(by: rowEntries) : rowEntries
    }

    private init(row: OutboxRow, isTransaction: Bool, systems: ReferenceSystems) {
        self.row = row
        self.isTransaction = isTransaction
        self.systems = systems
    }

    /// Notes an entry, and how others refer to it; whether it is whole.
    private mutating func take(_ entry: JSONSlice) -> Bool {
        guard let content = RowContent(entry) else { return false }
        contents.append(content)
        guard let identifier = content.findable else { return true }
        let url = entry["fullUrl"]?.string
        if let url { named[IdentifierText(url)] = identifier }
        let resource =
            content.isBare
            ? CarriedResource(row: row.number, identifier: identifier, fullURL: url, entry: entry)
            : CarriedResource.standIn(row: row.number, identifier: identifier, fullURL: url)
        if let resource, carried[identifier] == nil { carried[identifier] = (contents.count, resource) }
        return true
    }

    private func rowEntry(_ content: RowContent) -> RowEntry {
        let references = ReferenceSearch.references(in: content.resource, entries: named, systems: systems)
        let targets = Set(references.map(\.target)).subtracting([content.identifier].compactMap { $0 })
        let needed = targets.compactMap { carried[$0] }.sorted { $0.place < $1.place }
        return RowEntry(
            row: row, isTransaction: isTransaction, content: content, references: references,
            carried: needed.map(\.resource), members: PanelMember.members(of: content, among: contents),
            systems: systems)
    }

    /// Entries for Patients and Devices that nothing in the row refers to.
    private func unreferred(by entries: [RowEntry]) -> [RowEntry] {
        let used = Set(entries.flatMap { $0.carried.map(\.identifier) })
        return contents.filter { content in
            content.isBare && content.identifier.map { !used.contains($0) } ?? false
        }.map(rowEntry)
    }
}
