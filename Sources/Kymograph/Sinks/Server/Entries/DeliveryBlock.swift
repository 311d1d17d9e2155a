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
    /// `includesUnreferred`. Observations that were an error are deleted if `deletesEmptied`.
    func entries(
        systems: ReferenceSystems = ReferenceSystems(), includesUnreferred: Bool = true, deletesEmptied: Bool = false
    ) -> [DeliveryEntry] {
        withEntries { block in
            let carried = carriedResources(block)
            func made(_ numbers: [Int]) -> [DeliveryEntry] {
                numbers.map { number in
                    DeliveryEntry(
                        self, number, block, carried: carried, systems: systems,
                        isDeleted: deletesEmptied && block[number].isEmptied)
                }
            }
            let numbers = (0..<block.count).filter { !block[$0].isUnwritten }
            let written = numbers.filter { !block[$0].kind.isBare }
            let own = made(deletesEmptied ? DeliveryBlock.panelsFirst(written, block) : written)
            guard includesUnreferred else { return own }
            let used = Set(own.flatMap { $0.carried.map(\.identifier) } + DeliveryBlock.referredByErrors(block))
            return own
                + made(numbers.filter { block[$0].kind.isBare && !used.contains(ServerIdentifier(block[$0])) })
        }
    }

    /// `numbers` with panels that were an error before their members: servers do not delete what others refer to.
    private static func panelsFirst(_ numbers: [Int], _ block: EntryBlock) -> [Int] {
        func isPanel(_ number: Int) -> Bool {
            let entry = block[number]
            return entry.isEmptied && (0..<entry.referenceCount).contains { entry.reference($0).role == .member }
        }
        return numbers.filter(isPanel) + numbers.filter { !isPanel($0) }
    }

    /// The Patients and Devices that Observations which were an error refer to: nobody makes them in order to delete.
    private static func referredByErrors(_ block: EntryBlock) -> [ServerIdentifier] {
        (0..<block.count).lazy.map { block[$0] }.filter(\.isEmptied).flatMap { entry in
            (0..<entry.referenceCount).map { entry.reference($0) }.filter { $0.role != .encounter }
                .map { ServerIdentifier(block[$0.target]) }
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
