import FoundationEssentials
package import KymographCore

/// The time of day that does not jump: that of the system at the beginning, and then as a steady clock goes on.
package struct ScheduleClock: Sendable {
    private let began = ContinuousClock.now
    private let first = Instant(nanoseconds: Int64(Date.now.timeIntervalSince1970 * 1e6) * 1_000)

    /// Begins now.
    package init() {}

    /// The present.
    package var now: Instant {
        let passed = (ContinuousClock.now - began).components
        return first.advanced(by: passed.seconds * 1_000_000_000 + passed.attoseconds / 1_000_000_000)
    }
}
