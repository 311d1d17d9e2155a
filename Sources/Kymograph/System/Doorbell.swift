import CKymographLinux
import Synchronization

/// Wakes one sleeping thread. Ringing costs an atomic load while the thread is awake.
final class Doorbell: Sendable {
    private let event: Descriptor
    private let isAsleep = Atomic(false)

    init() throws(SystemError) {
        let raw = kymo_event_create()
        guard raw >= 0 else { throw SystemError(-raw, "create", "an event for waking a thread") }
        event = Descriptor(raw)
    }

    /// The event: what writes the eight bytes of a 1 to it wakes the owner, too.
    var descriptor: Int32 { event.raw }

    /// Wakes the owner if it sleeps. What was stored before is visible to it.
    func ring() {
        // The fence orders "work published" before "is it asleep?"; the owner does the opposite in ``sleep``. Without
        // it both could miss each other.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        guard isAsleep.load(ordering: .relaxed) else { return }
        if isAsleep.exchange(false, ordering: .relaxed) { _ = kymo_event_raise(event.raw) }
    }

    /// Sleeps until it is rung, or `milliseconds` passed; not at all when `hasWork` says so after the bell is armed.
    func sleep(milliseconds: Int32, unless hasWork: () -> Bool) {
        isAsleep.store(true, ordering: .relaxed)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if !hasWork() { _ = kymo_event_wait(event.raw, milliseconds) }
        isAsleep.store(false, ordering: .relaxed)
    }
}
