import Synchronization

/// How many reasons there are to look at each payload by itself before it is mapped: letters that are expected back,
/// and taps that show payloads. For any thread.
final class PayloadAttention: Sendable {
    private let reasons = Atomic(0)

    /// Whether there is no reason: one relaxed load for each payload.
    @inline(__always)
    var isNone: Bool { reasons.load(ordering: .relaxed) == 0 }

    /// Adds `count` reasons; a negative number takes them back.
    func add(_ count: Int) { reasons.add(count, ordering: .relaxed) }
}
