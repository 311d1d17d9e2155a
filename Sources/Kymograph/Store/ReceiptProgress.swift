import Synchronization

/// Who takes the receipts that wait in the store.
enum ReceiptTaker: String, Sendable, CaseIterable {
    /// The files of a directory.
    case files
    /// Whoever reads a Unix socket.
    case socket

    /// What messages call it: "receipts that wait for …".
    var name: String {
        switch self {
        case .files: "their files"
        case .socket: "the reader of their socket"
        }
    }

    /// What messages say when it takes them again: "… them again".
    var taking: String {
        switch self {
        case .files: "files take"
        case .socket: "the reader of the socket takes"
        }
    }

    /// What is to be done when it takes nothing.
    var remedy: String {
        switch self {
        case .files: "make room where receipts are written"
        case .socket: "start what reads the socket, or take receiptSocket out of the configuration"
        }
    }
}

/// How far one of those who take receipts has come, and whether it takes any. For any thread.
final class ReceiptProgress: Sendable {
    /// Whose it is.
    let taker: ReceiptTaker
    /// How long one attempt may take: a disk that hangs reports no error.
    private static let patience = Duration.seconds(10)

    /// When it had last taken all, or some; nil since it has failed.
    private let last = Mutex<ContinuousClock.Instant?>(.now)
    /// The number of the last line that it has for good.
    private let number: Atomic<Int64>
    /// Lines that were dropped since it has last taken any, and that it lacks.
    private let dropped = Atomic(0)

    init(_ taker: ReceiptTaker, taken: Int64) {
        self.taker = taker
        number = Atomic(taken)
    }

    /// The number of the last line that it has for good.
    var taken: Int64 { number.load(ordering: .acquiring) }

    /// It has all lines through this number for good.
    func take(through number: Int64) { self.number.store(number, ordering: .releasing) }

    /// Lines that it lacks are dropped; whether they are the first of which nothing was said yet.
    func noteDropped(_ count: Int) -> Bool { dropped.add(count, ordering: .relaxed).oldValue == 0 }

    /// How many lines were dropped that it lacks; counts anew.
    func takeDropped() -> Int { dropped.exchange(0, ordering: .relaxed) }

    /// It has taken some, or there was nothing to take.
    func note() { last.withLock { $0 = .now } }

    /// It has failed, or is not there.
    func noteFailure() { last.withLock { $0 = nil } }

    /// Whether it takes nothing.
    var isStuck: Bool { last.withLock { last in last.map { .now - $0 > Self.patience } ?? true } }
}
