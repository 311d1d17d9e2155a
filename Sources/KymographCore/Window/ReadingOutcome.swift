/// What became of one reading. Every reading has exactly one outcome: the conservation ledger adds them up.
public enum ReadingOutcome: Equatable, Sendable {
    /// It brought something new to its window.
    case accepted
    /// Its window already has all of its values at its instant.
    case duplicate
    /// Its window has another value at its instant; the later received of the two is kept. What was received first is
    /// ``WindowMachine/superseded``.
    case conflict
    /// It has taken the place of another reading, which is no longer in any window: see
    /// ``WindowMachine/superseded``.
    case replaced
    /// It is not in any window.
    case rejected(Rejection)
}
