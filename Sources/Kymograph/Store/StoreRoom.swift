import Synchronization

/// How much room a store has, and uses. For any thread.
final class StoreRoom: Sendable {
    private let limits: Mutex<StoreSettings>
    private let usedBytes = Atomic<Int>(0)
    private let full = Atomic(false)

    /// As much as `settings` say.
    init(_ settings: StoreSettings) { limits = Mutex(settings) }

    /// What it may use at present.
    var settings: StoreSettings { limits.withLock { $0 } }

    /// Goes by the limits of `new` from here on.
    func follow(_ new: StoreSettings) { limits.withLock { $0.takeLimits(of: new) } }

    /// Whether nothing can be committed, since the disk or ``StoreSettings/maxBytes`` is full.
    var isFull: Bool { full.load(ordering: .relaxed) }

    /// Notes whether nothing can be committed.
    func note(isFull: Bool) { full.store(isFull, ordering: .relaxed) }

    /// How much of ``StoreSettings/maxBytes`` is in use, as of the last commits.
    var fill: StoreFill { StoreFill(bytes: usedBytes.load(ordering: .relaxed), limit: settings.maxBytes) }

    /// Notes how much is in use.
    func noteUsed(bytes: Int) { usedBytes.store(bytes, ordering: .relaxed) }
}
