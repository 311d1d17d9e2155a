/// The time of a running lane. Of the lane's thread.
final class LaneClock {
    /// How long a lane waits before it asks the kernel for drops again, and for clients that it could not take.
    static let idleMilliseconds: Int32 = 250

    /// When the lane last did what is due now and then.
    private(set) var lastIdle = ContinuousClock.now

    /// What has gone by since then, if it is due again.
    func pass() -> (now: ContinuousClock.Instant, passed: Duration)? {
        let now = ContinuousClock.now
        let passed = now - lastIdle
        guard passed >= .milliseconds(Int64(LaneClock.idleMilliseconds)) else { return nil }
        lastIdle = now
        return (now, passed)
    }
}
