package import KymographCore

/// Time that moves only when a test says so.
package struct VirtualClock: Sendable {
    /// The present.
    package private(set) var now: Instant

    /// Starts at `start`.
    package init(start: Instant) {
        now = start
    }

    /// Lets `nanoseconds` (not negative) pass.
    package mutating func advance(by nanoseconds: Int64) {
        precondition(nanoseconds >= 0, "time does not run backwards")
        now = now.advanced(by: nanoseconds)
    }

    /// Moves on to `instant`; stays when that has passed already.
    package mutating func advance(to instant: Instant) {
        now = max(now, instant)
    }
}
