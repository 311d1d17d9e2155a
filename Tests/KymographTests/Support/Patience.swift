import Glibc

/// Waits for what another thread does, never for a fixed time.
enum Patience {
    /// Whether `condition` came to hold within `seconds`.
    static func until(seconds: Double = 20, _ condition: () -> Bool) -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        while !condition() {
            guard clock.now < deadline else { return false }
            usleep(2_000)
        }
        return true
    }
}
