import KymographCore

/// A row of the outbox as one server gets it: the entries of its block, which stay where they are.
final class DeliveryBlock {
    /// Number of the row.
    let row: Int64
    /// How the block's run puts entries together: so the server gets them, as far as it can.
    private(set) var form = BundleForm()
    private let bytes: [UInt8]
    private var index = EntryIndex()

    /// The entries of `row`; nil when it has none that can be read, or none for a server.
    init?(_ row: OutboxRow) {
        (self.row, bytes) = (row.number, row.body)
        guard let form = bytes.withByteView({ index.read($0)?.form }), form.format == .bundle,
            form.type != .collection
        else { return nil }
        self.form = form
    }

    /// Lends the entries.
    func withEntries<Result>(_ body: (EntryBlock) -> Result) -> Result {
        bytes.withByteView { body(index.again($0)) }
    }

    /// Entry `number` with what it refers to, as a block.
    func excerpt(_ number: Int) -> [UInt8] { withEntries { $0.excerpt(number) } }

    /// The entries that are delivered for their own sake. Patients and Devices that nothing refers to are among them if
    /// `includesUnreferred`.
    func entries(systems: ReferenceSystems = ReferenceSystems(), includesUnreferred: Bool = true) -> [DeliveryEntry] {
        withEntries { block in
            let carried = carriedResources(block)
            let numbers = (0..<block.count).filter { !block[$0].isUnwritten }
            let own = numbers.filter { !block[$0].kind.isBare }
                .map { DeliveryEntry(self, $0, block, carried: carried, systems: systems) }
            guard includesUnreferred else { return own }
            let used = Set(own.flatMap { $0.carried.map(\.identifier) })
            let unreferred = numbers.filter { block[$0].kind.isBare && !used.contains(ServerIdentifier(block[$0])) }
            return own + unreferred.map { DeliveryEntry(self, $0, block, carried: carried, systems: systems) }
        }
    }

    /// What others may refer to, by the number of its entry; entries of one identifier share it.
    private func carriedResources(_ block: EntryBlock) -> [Int: CarriedResource] {
        var known: [ServerIdentifier: CarriedResource] = [:]
        var carried: [Int: CarriedResource] = [:]
        for number in 0..<block.count where block[number].isFindable && !block[number].isUnwritten {
            let identifier = ServerIdentifier(block[number])
            let resource = known[identifier] ?? CarriedResource(self, number, block)
            known[identifier] = resource
            carried[number] = resource
        }
        return carried
    }
}

extension Entry {
    /// Whether the server finds it by its identifier, so that others may refer to it.
    var isFindable: Bool { kind.isBare || kind == .describedDevice }
}
