import Synchronization

/// What other threads tell the thread that delivers.
final class DeliveryInbox: Sendable {
    /// What happened.
    enum Event: Sendable {
        /// A request of this number may be sent, with this `Authorization`.
        case authorized(Int, Result<String?, AuthorizationFailure>)
        /// A request of this number was answered, or not.
        case answered(Int, Result<HTTPResponse, HTTPFailure>)
    }

    private let events = Mutex<[Event]>([])
    private let bell: Doorbell
    private let ending = Atomic(false)
    private let ceasing = Atomic(false)

    init() throws(SystemError) { bell = try Doorbell() }

    /// ``Doorbell/descriptor``.
    var descriptor: Int32 { bell.descriptor }

    /// Leaves a message, from any thread.
    func post(_ event: Event) {
        events.withLock { $0.append(event) }
        bell.ring()
    }

    /// Wakes the owner.
    func wake() { bell.ring() }

    /// Whether the owner is to end at once, and waits for nothing more.
    var isEnding: Bool { ending.load(ordering: .relaxed) }

    /// Has the owner end at once.
    func end() {
        ending.store(true, ordering: .relaxed)
        bell.ring()
    }

    /// Whether the owner is to begin nothing more.
    var isCeasing: Bool { ceasing.load(ordering: .relaxed) }

    /// Has the owner begin nothing more.
    func cease() {
        ceasing.store(true, ordering: .relaxed)
        bell.ring()
    }

    /// All messages so far, in order.
    func take() -> [Event] {
        events.withLock { events in
            let all = events
            events.removeAll(keepingCapacity: true)
            return all
        }
    }

    /// Whether a message waits.
    var hasEvents: Bool { events.withLock { !$0.isEmpty } }

    /// Sleeps until a message comes, or `milliseconds` passed, unless `isUrgent` says so.
    func sleep(milliseconds: Int32, unless isUrgent: () -> Bool) {
        bell.sleep(milliseconds: milliseconds) { isUrgent() || hasEvents }
    }
}
