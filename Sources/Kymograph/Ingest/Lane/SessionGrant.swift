import Synchronization

/// Whether a broker keeps what comes while there is no connection. For any thread.
final class SessionGrant: Sendable {
    private let state = Mutex<Bool?>(nil)

    /// By what it has granted last; nil before that.
    var keeps: Bool? { state.withLock { $0 } }

    /// Notes what it has granted.
    func note(_ keeps: Bool?) { state.withLock { $0 = keeps } }
}
