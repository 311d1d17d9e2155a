/// A stream that is not there, such as a serial line that is unplugged.
struct LostStream {
    /// The longest time between two attempts to open it.
    private static let longestWait = Duration.seconds(5)
    private static let firstWait = Duration.milliseconds(250)

    private var due: ContinuousClock.Instant
    private var wait = LostStream.firstWait
    /// Whether the operator knows why it cannot be opened.
    var isTold = false

    /// A stream that was found missing at `now`.
    init(at now: ContinuousClock.Instant) { due = now + LostStream.firstWait }

    /// Whether it is time for an attempt.
    func isDue(_ now: ContinuousClock.Instant) -> Bool { now >= due }

    /// Waits longer after an attempt that failed.
    mutating func postpone(_ now: ContinuousClock.Instant) {
        wait = min(wait * 2, LostStream.longestWait)
        due = now + wait
    }
}
