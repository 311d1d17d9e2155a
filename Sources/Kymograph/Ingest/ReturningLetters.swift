import KymographCore
import Synchronization

/// Bytes of dead letters that come again, with the times at which they came first: an old value must not replace a
/// newer one because somebody has sent it again. For any thread.
final class ReturningLetters: Sendable {
    /// A letter whose bytes are expected.
    struct Letter: Hashable, Sendable {
        /// When its bytes came first.
        var time: Instant
        /// Nanoseconds by which its readings were stamped later.
        var lead: Int64 = 0
        /// Its number in the store; nil where the ledger is not to count on what comes of it.
        var number: Int64?
    }

    private struct Payload: Hashable {
        var source: IdentifierText
        var bytes: [UInt8]
    }

    private struct State {
        var letters: [Payload: [Letter]] = [:]
        /// When all of them are forgotten; nil for never.
        var end: ContinuousClock.Instant?
        var patience: Duration?

        mutating func renew() { end = patience.map { ContinuousClock.now + $0 } }
    }

    /// Bytes that never came are forgotten when there are more than these.
    private static let most = 200_000
    private let state = Mutex(State())
    private let count = Atomic(0)
    /// Every expected payload is a reason to look at each that comes.
    let attention = PayloadAttention()

    /// Whether nothing is expected.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Expects `bytes` of a letter from `source`. With `patience`, all is forgotten when none of them has come for so
    /// long: a datagram that was lost must not be taken for a later one with the same bytes.
    func expect(_ bytes: [UInt8], of letter: Letter, from source: String, for patience: Duration?) {
        state.withLock { state in
            if state.letters.count >= ReturningLetters.most { state.letters.removeAll() }
            state.letters[Payload(source: IdentifierText(source), bytes: bytes), default: []].append(letter)
            state.patience = patience
            state.renew()
            note(state.letters.count)
        }
    }

    /// The letter that `bytes` from `source` are of, once for each time that they are expected; nil when they are not.
    func take(_ bytes: ByteView, from source: String) -> Letter? {
        let payload = Payload(source: IdentifierText(source), bytes: bytes.array)
        return state.withLock { state in
            if let end = state.end, ContinuousClock.now > end { state.letters.removeAll() }
            defer { note(state.letters.count) }
            guard var known = state.letters[payload] else { return nil }
            let letter = known.removeFirst()
            state.letters[payload] = known.isEmpty ? nil : known
            state.renew()
            return letter
        }
    }

    /// Called with the lock held, so that counts follow each other.
    private func note(_ expected: Int) {
        attention.add(expected - count.exchange(expected, ordering: .relaxed))
    }
}
