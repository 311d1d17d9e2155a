import KymographCore

/// The entries of a bundle that is being composed, with what comes along.
struct BundleDraft {
    /// Bytes of a bundle without entries, about.
    private static let frame = 64

    private(set) var entries: [DeliveryEntry] = []
    /// Lanes that entries were taken of.
    private(set) var lanes: [DeviceLane] = []
    private var targets: Set<IdentifierText> = []
    /// What comes along, and what the entries themselves describe.
    private var resources: Set<ServerIdentifier> = []
    private var described: Set<ServerIdentifier> = []
    private var bytes = Self.frame
    private let carriesResources: Bool

    /// An empty one, which brings what its entries refer to if `carriesResources`.
    init(carriesResources: Bool) { self.carriesResources = carriesResources }

    /// The Patients and Devices that the bundle asks the server to create.
    var brought: Set<ServerIdentifier> { carriesResources ? resources.union(described) : [] }

    /// Whether `entry` may be in one bundle with the others: all go as a transaction or none, and each changes another
    /// resource.
    func accepts(_ entry: DeliveryEntry) -> Bool {
        let isSameKind = entries.first.map { $0.isTransaction == entry.isTransaction } ?? true
        return isSameKind && !targets.contains(entry.target)
    }

    /// Whether there is room for `entry` and what it brings; there always is for the first.
    func hasRoom(for entry: DeliveryEntry, _ limit: BundleLimit) -> Bool {
        if entries.isEmpty { return true }
        let new = newResources(entry)
        let count = entries.count + resources.count + 1 + new.count
        let bytes = bytes + entry.size + new.reduce(0) { $0 + $1.size }
        return count <= limit.entries && bytes <= limit.bytes
    }

    private func newResources(_ entry: DeliveryEntry) -> [CarriedResource] {
        guard carriesResources else { return [] }
        return entry.carried.filter { !resources.contains($0.identifier) && !described.contains($0.identifier) }
    }

    /// Adds `entry` of `lane`, which sends nothing else from here on.
    mutating func add(_ entry: DeliveryEntry, of lane: DeviceLane) {
        for resource in newResources(entry) {
            resources.insert(resource.identifier)
            bytes += resource.size
        }
        if let described = entry.described { self.described.insert(described) }
        entries.append(entry)
        targets.insert(entry.target)
        bytes += entry.size
        guard lane.phase != .sending else { return }
        lane.enter(.sending)
        lanes.append(lane)
    }
}
