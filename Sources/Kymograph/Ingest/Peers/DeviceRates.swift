import KymographCore
import Synchronization

/// How many readings of each of its devices a peer may bring. For any thread.
final class DeviceRates: Sendable {
    /// Most devices of which is known what they have brought.
    private static let mostDevices = 65_536

    /// How often those are looked for that can be forgotten, at most: each look is at all of them.
    private static let interval = Duration.seconds(1)

    private struct State {
        var known: [[UInt8]: RateLimit] = [:]
        var swept: ContinuousClock.Instant?

        /// Forgets devices that have rested for long enough.
        mutating func sweep() {
            let now = ContinuousClock.now
            if let swept, now - swept < interval { return }
            swept = now
            known = known.filter { !$0.value.isUnused }
        }
    }

    private let rate: PeerRule.Rate
    private let state = Mutex(State())

    init(_ rate: PeerRule.Rate) { self.rate = rate }

    /// Takes one reading of `device`; false when there is none for it. A device for which there is no place in memory
    /// has none: others could be brought under ever new names otherwise.
    func take(_ device: ByteView) -> Bool {
        let name = device.array
        return state.withLock { state in
            if let limit = state.known[name] { return limit.take() }
            if state.known.count >= Self.mostDevices { state.sweep() }
            guard state.known.count < Self.mostDevices,
                let limit = RateLimit(rate: rate.perSecond, burst: rate.burst)
            else { return false }
            state.known[name] = limit
            return limit.take()
        }
    }
}
