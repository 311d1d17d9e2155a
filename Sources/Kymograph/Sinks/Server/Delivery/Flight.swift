import KymographCore

/// What a bundle has to bring to the server besides the entries that are delivered for their own sake.
struct BundlePart {
    /// A Patient or Device, with all entries for it in the rows that the bundle's entries come from.
    struct Resource {
        var identifier: ServerIdentifier
        var carried: [CarriedResource]
    }

    /// Patients and Devices, first in the bundle.
    var resources: [Resource]
    /// The entries.
    var entries: [RowEntry]
    /// How often parts of this were sent again because single entries failed.
    var failures = 0
    /// How often its Patients and Devices were sent.
    var attempts = 0

    /// Whether its Patients and Devices were sent without the entries.
    private(set) var isTried = false

    /// Whether Patients and Devices come along.
    fileprivate let carriesResources: Bool

    /// A bundle of `entries`, with everything that they refer to if `carriesResources`.
    init(_ entries: [RowEntry], carriesResources: Bool) {
        self.entries = entries
        self.carriesResources = carriesResources
        resources = []
        guard carriesResources else { return }
        var places: [ServerIdentifier: Int] = [:]
        var seen: Set<ObjectIdentifier> = []
        for carried in entries.flatMap(\.carried) where seen.insert(ObjectIdentifier(carried)).inserted {
            if let place = places[carried.identifier] {
                resources[place].carried.append(carried)
            } else {
                places[carried.identifier] = resources.count
                resources.append(Resource(identifier: carried.identifier, carried: [carried]))
            }
        }
    }

    /// Its Patients and Devices without the entries, and what is sent after them: what a server fails at must not keep
    /// them from the bundles of other devices.
    var trial: (resources: BundlePart, rest: BundlePart) {
        var (resources, rest) = (self, self)
        resources.entries = []
        rest.isTried = true
        return (resources, rest)
    }

    /// Number of entries in the bundle.
    var count: Int { resources.count + entries.count }

    /// The two halves, the earlier entries first; nil when there is nothing to halve.
    var halves: (BundlePart, BundlePart)? {
        guard entries.count > 1 else { return nil }
        let middle = entries.count / 2
        return (
            BundlePart(Array(entries[..<middle]), carriesResources: carriesResources),
            BundlePart(Array(entries[middle...]), carriesResources: carriesResources)
        )
    }
}

extension BundlePart {
    /// Two parts without a device in common, each with what it refers to; nil when there is one device only, or when
    /// both would bring a resource that is in `locked`.
    func apart(locked: Set<ServerIdentifier>) -> (BundlePart, BundlePart)? {
        var order: [ServerIdentifier] = []
        for entry in entries where !order.contains(entry.lane) { order.append(entry.lane) }
        let early = Set(order[..<(order.count / 2)])
        let first = BundlePart(entries.filter { early.contains($0.lane) }, carriesResources: carriesResources)
        let second = BundlePart(entries.filter { !early.contains($0.lane) }, carriesResources: carriesResources)
        let shared = first.identifiers.intersection(second.identifiers)
        return early.isEmpty || !shared.isDisjoint(with: locked) ? nil : (first, second)
    }

    /// Its Patients and Devices.
    var identifiers: Set<ServerIdentifier> { Set(resources.map(\.identifier)) }
}

/// A bundle on its way, which may have to be sent in parts. Its devices send nothing else meanwhile.
final class Flight {
    /// What is still to be delivered; the last part is the next.
    var parts: [BundlePart]
    /// Lanes of its devices.
    var lanes: [DeviceLane]
    /// Patients and Devices that no other bundle may ask the server to make meanwhile.
    var locked: Set<ServerIdentifier>
    /// Whether the server has failed at it.
    var isDoubtful = false

    init(_ part: BundlePart, lanes: [DeviceLane], locked: Set<ServerIdentifier>) {
        parts = [part]
        self.lanes = lanes
        self.locked = locked
    }
}
