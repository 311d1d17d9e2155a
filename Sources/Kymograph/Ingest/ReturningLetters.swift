import KymographCore
import Synchronization

/// Bytes of dead letters that come again, with the times at which they came first: an old value must not replace a
/// newer one because somebody has sent it again. For any thread.
final class ReturningLetters: Sendable {
    private struct Payload: Hashable {
        var source: String
        var bytes: [UInt8]
    }

    /// Bytes that never came are forgotten when there are more than these.
    private static let most = 200_000
    private let times = Mutex<[Payload: [Instant]]>([:])
    private let count = Atomic(0)
    /// Every expected payload is a reason to look at each that comes.
    let attention = PayloadAttention()

    /// Whether nothing is expected.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Expects `bytes` of a letter from `source`, which came first at `time`.
    func expect(_ bytes: [UInt8], from source: String, firstAt time: Instant) {
        times.withLock { times in
            if times.count >= ReturningLetters.most { times.removeAll() }
            times[Payload(source: source, bytes: bytes), default: []].append(time)
            note(times.count)
        }
    }

    /// When `bytes` came from `source` first, once for each time that they are expected; nil when they are not.
    func time(of bytes: ByteView, from source: String) -> Instant? {
        let payload = Payload(source: source, bytes: bytes.array)
        return times.withLock { times in
            guard var known = times[payload] else { return nil }
            let time = known.removeFirst()
            times[payload] = known.isEmpty ? nil : known
            note(times.count)
            return time
        }
    }

    /// Called with the lock held, so that counts follow each other.
    private func note(_ expected: Int) {
        attention.add(expected - count.exchange(expected, ordering: .relaxed))
    }
}
