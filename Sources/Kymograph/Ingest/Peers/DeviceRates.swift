import KymographCore
import Synchronization

/// How many readings of each of its devices a peer may bring. For any thread.
final class DeviceRates: Sendable {
    /// Most devices of which is known what they have brought.
    private static let mostDevices = 65_536

    private let rate: PeerRule.Rate
    private let known = Mutex<[[UInt8]: RateLimit]>([:])

    init(_ rate: PeerRule.Rate) { self.rate = rate }

    /// Takes one reading of `device`; false when there is none for it. A device for which there is no place in memory
    /// has none: others could be brought under ever new names otherwise.
    func take(_ device: ByteView) -> Bool {
        let name = device.array
        return known.withLock { known in
            if let limit = known[name] { return limit.take() }
            if known.count >= Self.mostDevices { known = known.filter { !$0.value.isUnused } }
            guard known.count < Self.mostDevices, let limit = RateLimit(rate: rate.perSecond, burst: rate.burst) else {
                return false
            }
            known[name] = limit
            return limit.take()
        }
    }
}
