import Synchronization

/// Bytes of unfinished requests or messages that all connections of one source hold together. For any thread.
package final class HeldBytes: Sendable {
    /// Most of them. What comes in one piece needs none.
    private static let most = 64 << 20
    /// Most bytes of bodies whose senders are not known before their end.
    private static let mostUnproven = 16 << 20

    private let bytes = Atomic(0)
    private let unproven = Atomic(0)

    /// Nothing is held yet.
    init() {}

    /// Whether connections hold too much.
    var isExhausted: Bool { bytes.load(ordering: .relaxed) > Self.most }

    /// Whether bodies hold too much whose senders are not known yet.
    var isExhaustedByStrangers: Bool { unproven.load(ordering: .relaxed) > Self.mostUnproven }

    /// Notes that a connection holds `count` bytes more, or fewer, and of these so many of an unknown sender.
    func hold(_ count: Int, unproven strangers: Int = 0) {
        bytes.add(count, ordering: .relaxed)
        if strangers != 0 { unproven.add(strangers, ordering: .relaxed) }
    }
}
