import KymographCore

/// An entry that is delivered for its own sake: an Observation, another resource of readings, or what describes a
/// Device.
final class DeliveryEntry {
    private let block: DeliveryBlock
    private let number: Int
    /// Type of the resource.
    let type: String
    /// Its name in receipts.
    let name: String
    /// The identifier that the resource is searched by.
    let identifier: ServerIdentifier
    /// The Patient or Device that this is, where the server finds it by its identifier: others may refer to it.
    let described: ServerIdentifier?
    /// What the server is asked to change: two entries of one target must not be in one bundle.
    let target: IdentifierText
    /// Whether it is to be made unless the server has it.
    let isCreated: Bool
    /// Whether the server is to delete what it has of it, in place of storing that it was an error.
    let isDeleted: Bool
    /// Whether it is put under our id.
    let isPut: Bool
    /// Whether it refers to a Patient, a Device or an Encounter.
    let hasReferences: Bool
    /// Those of them that are made for it.
    let carried: [CarriedResource]
    /// Who it is about.
    let patient: ServerIdentifier?
    /// What took its reading; not the gateway.
    let device: ServerIdentifier?
    let gateway: ServerIdentifier?
    let encounter: ServerIdentifier?
    /// The members that it has, if it is a panel.
    let members: [PanelMember]
    /// Bytes that it adds to a bundle, without the entries that it refers to.
    let size: Int
    /// How often it was sent.
    var attempts = 0
    /// Answers about it that said: later.
    var rebuffs = Rebuffs()
    /// The ids that the server has, where they are asked for.
    var identity: ResolvedIdentity?
    /// When they were asked for.
    var mark: LookupMark?
    /// Whether the server may have it, from an attempt that it has not answered, or not for all that comes along.
    var mayBeStored = false
    /// The answer by which the server has it, where a Patient or Device that goes with it was not taken yet.
    var stored: EntryAnswer?

    /// Entry `number` of `entries`, which are those of `block`.
    init(
        _ block: DeliveryBlock, _ number: Int, _ entries: EntryBlock, carried all: [Int: CarriedResource],
        systems: ReferenceSystems, isDeleted: Bool = false
    ) {
        self.block = block
        self.number = number
        self.isDeleted = isDeleted
        let entry = entries[number]
        (type, identifier) = (entry.type.string, ServerIdentifier(entry))
        name = DeliveryEntry.name(of: entry, entries.form)
        described = entry.isFindable ? identifier : nil
        target = DeliveryEntry.target(of: entry, entries.form)
        (isCreated, isPut) = (entry.isCreated(as: entries.form), entry.isPut(as: entries.form))
        let references = (0..<entry.referenceCount).map { entry.reference($0) }.filter { $0.role != .member }
        // What is deleted refers to nobody, and needs nobody.
        hasReferences = !references.isEmpty && !isDeleted
        let needs = isDeleted ? [] : references.filter { $0.role != .encounter }
        let targets = Set(needs.map(\.target)).sorted()
        let own = identifier
        var needed: [CarriedResource] = []
        for resource in targets.compactMap({ all[$0] }) where resource.identifier != own {
            if !needed.contains(where: { $0 === resource }) { needed.append(resource) }
        }
        carried = needed
        func named(_ isIt: (ServerIdentifier) -> Bool, _ roles: Set<EntryReference.Role>) -> ServerIdentifier? {
            references.lazy.filter { roles.contains($0.role) }.map { ServerIdentifier(entries[$0.target]) }
                .first(where: isIt)
        }
        patient = named({ _ in true }, [.patient])
        device = named({ !systems.isGateway($0) }, [.device, .gateway])
        gateway = named({ systems.isGateway($0) }, [.device, .gateway])
        encounter = references.contains { $0.role == .encounter } ? entry.referredEncounter : nil
        members = PanelMember.members(of: entry, entries)
        var text = ByteWriter(capacity: 1_024)
        entries.append(entry, as: entries.form, to: &text)
        size = text.count + 1
    }

    /// What receipts of `entry` call it.
    static func name(of entry: Entry, _ form: BundleForm) -> String {
        if form.hasID(entry.kind), entry.id.count > 0 { return "\(entry.type.string)/\(entry.id.string)" }
        if let search = entry.ifNoneExist(as: form) { return "\(entry.type.string)?\(search)" }
        let search = entry.url(as: form).split(separator: "?").dropFirst().first.map(String.init) ?? ""
        return "\(entry.type.string)?\(search)"
    }

    /// What a server is asked to change by `entry`.
    static func target(of entry: Entry, _ form: BundleForm) -> IdentifierText {
        let url = entry.url(as: form)
        return IdentifierText(entry.ifNoneExist(as: form).map { "\(url)?\($0)" } ?? url)
    }

    /// The row that it came with.
    var row: Int64 { block.row }

    /// Whether its block is a transaction.
    var isTransaction: Bool { block.form.type == .transaction }

    /// How its block is put together.
    var form: BundleForm { block.form }

    /// Entries with the same lane are delivered in order.
    var lane: ServerIdentifier {
        described ?? device ?? patient ?? gateway
            ?? ServerIdentifier(type: "", system: "", value: target)
    }

    /// The whole identifier of the resource, where the server searches for what stands for a long one; else empty.
    var wholeIdentifier: IdentifierText {
        withEntry { entry, _ in IdentifierText(utf8: entry.whole.array) }
    }

    /// The Patients and Devices that it brings or describes, to be made unless the server has them.
    var brought: [ServerIdentifier] { carried.map(\.identifier) + [described].compactMap { $0 } }

    /// It and what it refers to, as a block that can be sent again.
    var excerpt: [UInt8] { block.excerpt(number) }

    /// What a receipt says of it.
    var subject: ReceiptSubject { block.withEntries { ReceiptSubject(number, of: $0) } }

    /// Lends the entry and its block.
    func withEntry<Result>(_ body: (Entry, EntryBlock) -> Result) -> Result {
        block.withEntries { body($0[number], $0) }
    }
}

extension Entry {
    /// The encounter that it refers to.
    fileprivate var referredEncounter: ServerIdentifier? {
        encounter.map {
            ServerIdentifier(
                type: "Encounter", system: IdentifierText(utf8: $0.system.array),
                value: IdentifierText(utf8: $0.value.array))
        }
    }
}
