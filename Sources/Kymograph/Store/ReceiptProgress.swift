import Synchronization

/// Whether files take the receipts that wait for them. For any thread.
final class ReceiptProgress: Sendable {
    /// How long one attempt may take: a disk that hangs reports no error.
    private static let patience = Duration.seconds(10)

    /// When files had last taken all, or some; nil since they have failed.
    private let last = Mutex<ContinuousClock.Instant?>(.now)

    /// Files have taken some, or there was nothing to take.
    func note() { last.withLock { $0 = .now } }

    /// Files have failed.
    func noteFailure() { last.withLock { $0 = nil } }

    /// Whether files take nothing.
    var areStuck: Bool { last.withLock { last in last.map { .now - $0 > Self.patience } ?? true } }
}
