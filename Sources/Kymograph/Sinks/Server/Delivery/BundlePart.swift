import KymographCore

/// What a bundle has to bring to the server besides the entries that are delivered for their own sake.
struct BundlePart {
    /// A Patient or Device, with all entries for it in the rows that the bundle's entries come from.
    struct Resource {
        var identifier: ServerIdentifier
        var carried: [CarriedResource]
    }

    /// Patients and Devices, first in the bundle.
    var resources: [Resource] = []
    /// Patients and Devices that entries of the bundle describe: references point to those entries.
    private(set) var described: [Resource] = []
    /// The entries.
    var entries: [DeliveryEntry]
    /// How often parts of this were sent again because single entries failed.
    var failures = 0
    /// How often its Patients and Devices were sent.
    var attempts = 0

    /// Whether its Patients and Devices were sent without the entries.
    private(set) var isTried = false

    /// Whether Patients and Devices come along.
    private let carriesResources: Bool

    /// A bundle of `entries`, with everything that they refer to if `carriesResources`.
    init(_ entries: [DeliveryEntry], carriesResources: Bool) {
        self.entries = entries
        self.carriesResources = carriesResources
        guard carriesResources else { return }
        var order: [ServerIdentifier] = []
        var all: [ServerIdentifier: [CarriedResource]] = [:]
        var seen: Set<ObjectIdentifier> = []
        for carried in entries.flatMap(\.carried) where seen.insert(ObjectIdentifier(carried)).inserted {
            if all[carried.identifier] == nil { order.append(carried.identifier) }
            all[carried.identifier, default: []].append(carried)
        }
        let own = Set(entries.compactMap(\.described))
        for identifier in own { described.append(Resource(identifier: identifier, carried: all[identifier] ?? [])) }
        resources = order.filter { !own.contains($0) }.map { Resource(identifier: $0, carried: all[$0] ?? []) }
    }

    /// Number of entries in the bundle.
    var count: Int { resources.count + entries.count }

    /// Its Patients and Devices.
    var identifiers: Set<ServerIdentifier> { Set((resources + described).map(\.identifier)) }

    /// The two halves, the earlier entries first; nil when there is nothing to halve.
    var halves: (BundlePart, BundlePart)? {
        guard entries.count > 1 else { return nil }
        let middle = entries.count / 2
        return (with(Array(entries[..<middle])), with(Array(entries[middle...])))
    }

    /// Two parts without a device in common, each with what it refers to; nil when there is one device only, or when
    /// both would bring a resource that is in `locked`.
    func apart(locked: Set<ServerIdentifier>) -> (BundlePart, BundlePart)? {
        var order: [ServerIdentifier] = []
        for entry in entries where !order.contains(entry.lane) { order.append(entry.lane) }
        let early = Set(order[..<(order.count / 2)])
        let first = with(entries.filter { early.contains($0.lane) })
        let second = with(entries.filter { !early.contains($0.lane) })
        let shared = first.identifiers.intersection(second.identifiers)
        return early.isEmpty || !shared.isDisjoint(with: locked) ? nil : (first, second)
    }

    /// Its Patients and Devices without the entries, and what is sent after them: what a server fails at must not keep
    /// them from the bundles of other devices.
    var trial: (resources: BundlePart, rest: BundlePart) {
        var (resources, rest) = (self, self)
        resources.entries = []
        resources.described = []
        rest.isTried = true
        return (resources, rest)
    }

    /// A bundle of `entries` of this one, which brings what they refer to.
    private func with(_ entries: [DeliveryEntry]) -> BundlePart {
        BundlePart(entries, carriesResources: carriesResources)
    }

    /// What this is for `entries` of it: it has failed as often, and brings no more.
    func only(_ entries: [DeliveryEntry]) -> BundlePart {
        var part = with(entries)
        part.failures = failures
        part.attempts = attempts
        let brought = Set(resources.map(\.identifier))
        part.resources.removeAll { !brought.contains($0.identifier) }
        return part
    }

    /// What is sent again after answers to single entries: `entries`, with those Patients and Devices of theirs that
    /// are `missing`. In a transaction all of them, because its entries refer to each other.
    func rest(_ entries: [DeliveryEntry], missing: Set<ServerIdentifier>, isTransaction: Bool) -> BundlePart? {
        guard !entries.isEmpty else { return nil }
        var rest = with(entries)
        rest.failures = failures + 1
        rest.attempts = attempts
        if !isTransaction { rest.resources.removeAll { !missing.contains($0.identifier) } }
        return rest
    }
}
