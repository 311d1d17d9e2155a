/// A serial line that is not there.
struct LostLine {
    /// The longest time between two attempts to open it.
    private static let longestWait = Duration.seconds(5)
    private static let firstWait = Duration.milliseconds(250)

    private var due: ContinuousClock.Instant
    private var wait = LostLine.firstWait
    /// Whether the operator knows why it cannot be opened.
    var isTold = false

    /// A line that was found missing at `now`.
    init(at now: ContinuousClock.Instant) { due = now + LostLine.firstWait }

    /// Whether it is time for an attempt.
    func isDue(_ now: ContinuousClock.Instant) -> Bool { now >= due }

    /// Waits longer after an attempt that failed.
    mutating func postpone(_ now: ContinuousClock.Instant) {
        wait = min(wait * 2, LostLine.longestWait)
        due = now + wait
    }
}
