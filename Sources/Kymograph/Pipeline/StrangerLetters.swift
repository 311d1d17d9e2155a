import KymographCore
import Synchronization

/// Which dead letters a lane keeps of datagrams that nothing shows to be of whom they name (``Rejection/isUnproven``):
/// whoever reaches the port could fill the disk otherwise. All of them are counted.
final class StrangerLetters: Sendable {
    /// Bytes of letters of one source that are kept a second, and at once: 86 MiB a day.
    private static let (rate, burst) = (1_024, 1 << 20)
    /// What a letter takes besides its bytes, about.
    private static let overhead = 256

    private let limits = Mutex<[Int: RateLimit]>([:])

    /// Whether to keep a letter with `bytes`. What has come before is kept already.
    func keeps(_ reason: Rejection, _ bytes: ByteView, source: Int) -> Bool {
        guard reason != .sequenceRepeated else { return false }
        return limits.withLock { limits in
            if limits[source] == nil { limits[source] = RateLimit(rate: Self.rate, burst: Self.burst) }
            return limits[source]?.take(bytes.count + Self.overhead) ?? true
        }
    }
}
