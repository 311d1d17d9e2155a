import KymographCore

/// The entries of one device, in their order. At most one bundle with any of them is under way.
final class DeviceLane {
    /// What its device waits for.
    enum Phase: Hashable {
        /// For its turn.
        case idle
        /// For the ids of the first entry, which the server is asked for.
        case resolving
        /// For the end of a flight with entries of this device.
        case sending
    }

    /// Whose entries these are.
    let key: ServerIdentifier
    private(set) var phase = Phase.idle
    private var entries: [DeliveryEntry] = []
    private var head = 0

    init(_ key: ServerIdentifier) { self.key = key }

    /// The next entry.
    var first: DeliveryEntry? { head < entries.count ? entries[head] : nil }

    func append(_ entry: DeliveryEntry) { entries.append(entry) }

    func removeFirst() {
        head += 1
        guard head >= 64 && head * 2 >= entries.count || head == entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }

    /// Leaves the phase ``Phase/idle`` for `phase`.
    func enter(_ phase: Phase) {
        assert(self.phase == .idle, "a lane waits for one thing at a time")
        self.phase = phase
    }

    /// Returns to the phase ``Phase/idle``.
    func leave() { phase = .idle }
}
