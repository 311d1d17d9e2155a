import KymographCore
import Synchronization

/// Bytes of dead letters that come again, with the times at which they came first: an old value must not replace a
/// newer one because somebody has sent it again. For any thread.
final class ReturningLetters: Sendable {
    /// What is known of a letter that comes again.
    struct Letter: Sendable {
        /// When it came first.
        var time: Instant
        /// What it was rejected for.
        var reason: String
    }

    private struct Payload: Hashable {
        var source: String
        var bytes: [UInt8]
    }

    /// Bytes that never came are forgotten when there are more than these.
    private static let most = 200_000
    private let letters = Mutex<[Payload: [Letter]]>([:])
    private let count = Atomic(0)
    /// Every expected payload is a reason to look at each that comes.
    let attention = PayloadAttention()

    /// Whether nothing is expected.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Expects `bytes` of a `letter` from `source`.
    func expect(_ bytes: [UInt8], from source: String, _ letter: Letter) {
        letters.withLock { letters in
            if letters.count >= ReturningLetters.most { letters.removeAll() }
            letters[Payload(source: source, bytes: bytes), default: []].append(letter)
            note(letters.count)
        }
    }

    /// The letter of `bytes` from `source`, once for each time that they are expected; nil when they are not.
    func letter(of bytes: ByteView, from source: String) -> Letter? {
        let payload = Payload(source: source, bytes: bytes.array)
        return letters.withLock { letters in
            guard var known = letters[payload] else { return nil }
            let letter = known.removeFirst()
            letters[payload] = known.isEmpty ? nil : known
            note(letters.count)
            return letter
        }
    }

    /// Called with the lock held, so that counts follow each other.
    private func note(_ expected: Int) {
        attention.add(expected - count.exchange(expected, ordering: .relaxed))
    }
}
