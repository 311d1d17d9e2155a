import KymographCore

/// The entries of one device, in their order. At most one bundle with any of them is under way.
final class DeviceLane {
    /// Whose entries these are.
    let key: ServerIdentifier
    private var entries: [DeliveryEntry] = []
    private var head = 0
    /// Whether a bundle with entries of this device is under way, or waits to be sent again.
    var isBusy = false
    /// Whether the server is being asked for the ids of the first entry.
    var isResolving = false

    init(_ key: ServerIdentifier) { self.key = key }

    /// The next entry.
    var first: DeliveryEntry? { head < entries.count ? entries[head] : nil }

    /// Whether entries of this lane may be taken.
    var isReady: Bool { !isBusy && !isResolving && first != nil }

    func append(_ entry: DeliveryEntry) { entries.append(entry) }

    func removeFirst() {
        head += 1
        guard head >= 64 && head * 2 >= entries.count || head == entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }
}
