import Synchronization

/// Waits for the outcome of a reload.
final class ReloadTicket: Sendable {
    private let outcome = Mutex<Bool?>(nil)

    /// Notes the outcome.
    func settle(isTaken: Bool) { outcome.withLock { $0 = isTaken } }

    /// The outcome, as soon as there is one; nil when there is none after so long.
    func wait(milliseconds: Int) -> Bool? {
        for _ in 0..<max(1, milliseconds / 5) {
            if let outcome = outcome.withLock({ $0 }) { return outcome }
            Wait.milliseconds(5)
        }
        return outcome.withLock { $0 }
    }
}
