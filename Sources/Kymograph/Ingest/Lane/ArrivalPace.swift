import KymographCore

/// Decides when a lane lets datagrams gather before it looks for more.
///
/// Being woken costs a thread as much as receiving a dozen datagrams does. Where a short rest finds many, the lane
/// takes one when it has emptied its sockets; where they are rarer it waits for the first, which then loses no time.
struct ArrivalPace {
    /// Datagrams that a rest must find for it to be worth it.
    private static let least: Int64 = 10
    /// Nanoseconds over which datagrams are counted before they say how many a rest will find.
    private static let span: Int64 = 1_000_000
    /// Datagrams that took longer than this to come are not dense.
    private static let longestSpan: Int64 = 1_000_000_000
    /// What the kernel charges a socket for a datagram besides its bytes, at most.
    private static let overhead: Int64 = 1_024

    /// Most nanoseconds of a rest; 0 for none.
    private let longestRest: Int64
    /// Bytes of the smallest receive buffer, of which a rest must not fill much.
    private let bufferBytes: Int64
    private var begun = Instant.distantPast
    private var datagrams: Int64 = 0
    private var bytes: Int64 = 0
    /// Nanoseconds to rest when the sockets are empty; 0 for not at all.
    private(set) var rest: Int64 = 0

    /// Rests of at most `longestRest` nanoseconds, at sockets of which the smallest buffer has `bufferBytes`.
    init(longestRest: Int64, bufferBytes: Int) {
        self.longestRest = longestRest
        self.bufferBytes = Int64(bufferBytes)
    }

    /// Notes a batch of `datagrams` with `bytes` in all that was received at `now`.
    mutating func note(_ datagrams: Int, bytes: Int, at now: Instant) {
        self.datagrams += Int64(datagrams)
        self.bytes += Int64(bytes)
        let passed = now.nanoseconds &- begun.nanoseconds
        guard passed < 0 || passed >= ArrivalPace.span else { return }
        rest = (1..<ArrivalPace.longestSpan).contains(passed) ? rest(after: passed) : 0
        begun = now
        self.datagrams = 0
        self.bytes = 0
    }

    /// As long as allowed, while no more than an eighth of the buffer fills; none when that is too short to find many.
    private func rest(after passed: Int64) -> Int64 {
        let charge = bytes + datagrams * ArrivalPace.overhead
        guard charge > 0 else { return 0 }
        let filling = Double(bufferBytes / 8) * Double(passed) / Double(charge)
        let rest = Int64(min(Double(longestRest), filling))
        return datagrams * rest >= ArrivalPace.least * passed ? rest : 0
    }
}
