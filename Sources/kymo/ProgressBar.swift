import Glibc

/// A bar with the time left, on standard error, when that is a terminal; silent otherwise.
struct ProgressBar {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let clock = ContinuousClock()
    private let began: ContinuousClock.Instant
    private var drawn: ContinuousClock.Instant
    private let width = 32

    init() {
        began = clock.now
        drawn = began
    }

    /// Shows that `fraction` (0…1) of the work is done, at most five times a second.
    mutating func show(_ fraction: Double, label: @autoclosure () -> String) {
        guard isTerminal else { return }
        let now = clock.now
        guard drawn.duration(to: now) >= .milliseconds(200) else { return }
        drawn = now
        let done = min(max(fraction, 0), 1)
        let filled = Int(done * Double(width))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        StandardError.draw("\r\(bar) \(Int(done * 100)) %  \(label())  \(timeLeft(done, now: now))\u{1B}[K")
    }

    /// Clears the line.
    func finish() {
        if isTerminal { StandardError.draw("\r\u{1B}[K") }
    }

    private func timeLeft(_ done: Double, now: ContinuousClock.Instant) -> String {
        guard done > 0.005 else { return "" }
        let elapsed = began.duration(to: now) / .seconds(1)
        return "\(TimeText.of(elapsed * (1 - done) / done)) left"
    }
}
