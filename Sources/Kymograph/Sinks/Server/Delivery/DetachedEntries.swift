/// Entries that the server fails at again and again, and that their devices do not wait for any more.
struct DetachedEntries {
    /// Most entries that are detached while the server takes nothing: an outage of the whole server must not spread
    /// all that waits over requests of single entries.
    static let mostUnproved = 8

    private var targets: Set<IdentifierText> = []
    /// What they are: runs with other ways of writing name one target by several URLs. And the members of panels that
    /// are deleted, which servers keep as long as the panel refers to them.
    private var identifiers: Set<ServerIdentifier> = []
    /// How much the server had taken when an entry was detached last, and how many were since.
    private var taken = 0
    private var unproved = 0

    /// Whether `entry` must wait: it changes what one that is detached changes, or refers to that.
    func holdsUp(_ entry: DeliveryEntry) -> Bool {
        !targets.isEmpty
            && (targets.contains(entry.target) || identifiers.contains(entry.identifier)
                || !entry.isDeleted && entry.members.contains { targets.contains($0.target) })
    }

    /// Whether another one may be detached now that the server has taken so much.
    func hasRoom(taken: Int) -> Bool { taken > self.taken || unproved < Self.mostUnproved }

    /// Detaches `entry`.
    mutating func insert(_ entry: DeliveryEntry, taken: Int) {
        if taken > self.taken { unproved = 0 }
        self.taken = taken
        unproved += 1
        targets.insert(entry.target)
        identifiers.formUnion(Self.held(by: entry))
    }

    /// Notes that nothing waits for `entry` any more.
    mutating func remove(_ entry: DeliveryEntry) {
        targets.remove(entry.target)
        identifiers.subtract(Self.held(by: entry))
    }

    private static func held(by entry: DeliveryEntry) -> [ServerIdentifier] {
        [entry.identifier] + (entry.isDeleted ? entry.members.map(\.identifier) : [])
    }
}
