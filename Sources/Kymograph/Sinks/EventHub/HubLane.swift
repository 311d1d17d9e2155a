import KymographCore

/// The events of one partition key, in their order: at most one request with any of them is under way.
final class HubLane {
    /// What it is found by.
    let name: IdentifierText
    /// The partition key; nil where requests have none.
    let key: IdentifierText?
    /// Whether a request is under way, or waits to be sent again.
    var isSending = false
    private var events = Backlog<EventMessage>()

    init(_ name: IdentifierText, key: IdentifierText?) { (self.name, self.key) = (name, key) }

    /// Whether nothing waits.
    var isEmpty: Bool { events.isEmpty }

    /// Adds an event at the end.
    func append(_ event: EventMessage) { events.append(event) }

    /// Takes out the next events that are together within `limit`, one at least.
    func take(_ limit: BundleLimit) -> [EventMessage] {
        var (taken, bytes): ([EventMessage], Int) = ([], HubRequest.frame)
        while taken.count < limit.entries, let event = events.first {
            bytes += event.size
            guard taken.isEmpty || bytes <= limit.bytes else { break }
            taken.append(event)
            events.removeFirst()
        }
        return taken
    }
}

/// The lanes of all events that wait, and their turn.
struct HubLanes {
    private let partitioning: EventPartitioning
    /// Without keys, events are distributed over so many lanes by their device.
    private let count: Int
    private var lanes: [IdentifierText: HubLane] = [:]
    /// Those without a request under way that have events, in the order in which they got them.
    private var ready: [HubLane] = []
    private var head = 0

    init(_ settings: HubSettings) { (partitioning, count) = (settings.partitioning, max(1, settings.connections)) }

    /// Whether a lane may send.
    var hasReady: Bool { head < ready.count }

    /// Puts `event` into its lane.
    mutating func append(_ event: EventMessage) {
        let name = name(of: event)
        let lane = lanes[name] ?? HubLane(name, key: partitioning == .device ? name : nil)
        lanes[name] = lane
        if lane.isEmpty, !lane.isSending { ready.append(lane) }
        lane.append(event)
    }

    private func name(of event: EventMessage) -> IdentifierText {
        guard partitioning == .none else { return event.partitionKey }
        return IdentifierText("\(event.key.utf8.reduce(5_381) { ($0 &* 33 &+ Int($1)) & 0xFFFF_FFFF } % count)")
    }

    /// The lane whose turn it is; it does not come again before it is released.
    mutating func next() -> HubLane? {
        guard hasReady else { return nil }
        let lane = ready[head]
        head += 1
        if head >= 64, head * 2 >= ready.count {
            ready.removeFirst(head)
            head = 0
        }
        lane.isSending = true
        return lane
    }

    /// Lets `lane` go on, or forgets it when it is empty.
    mutating func release(_ lane: HubLane) {
        lane.isSending = false
        if lane.isEmpty { lanes[lane.name] = nil } else { ready.append(lane) }
    }
}
