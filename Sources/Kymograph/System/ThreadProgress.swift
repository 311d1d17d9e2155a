/// What is known of one thread's work at a moment.
struct ThreadProgress: Sendable {
    /// For messages.
    var name: String
    /// Rounds of its work up to now (``Pulse``); nil when it has ended.
    var rounds: Int?
    /// Whether it waits for room by design: the cause is then elsewhere, and a restart would not help.
    var isWaitingForRoom: Bool
}
