/// How many digits of a second's fraction FHIR times say at most (`output.timePrecision`).
///
/// Digits beyond are cut off, never rounded, so that no reading moves into the next second. Identities always have the
/// full time.
public enum TimePrecision: String, Sendable, CaseIterable {
    /// As many as the time has, up to nanoseconds: 3, 6 or 9 digits.
    case source
    /// Milliseconds.
    case milli
    /// Microseconds, which is the most that some servers take.
    case micro

    /// The last instant with so few digits that is not after `instant`.
    @inline(__always)
    func cut(_ instant: Instant) -> Instant {
        switch self {
        case .source: instant
        case .milli: TimePrecision.cut(instant, 1_000_000)
        case .micro: TimePrecision.cut(instant, 1_000)
        }
    }

    private static func cut(_ instant: Instant, _ step: Int64) -> Instant {
        let rest = instant.nanoseconds % step
        return instant.advanced(by: rest < 0 ? -rest - step : -rest)
    }
}
