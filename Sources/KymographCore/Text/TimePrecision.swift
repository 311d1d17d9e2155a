/// How many digits of a second's fraction FHIR times say at most (`output.timePrecision`).
///
/// Digits beyond are cut off, never rounded, so that no reading moves into the next second. Identities always have the
/// full time.
package enum TimePrecision: String, Sendable, CaseIterable {
    /// As many as the source wrote, up to nanoseconds; 3, 6 or 9 where their number is not known, as in epochs.
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

    /// The form of a time that is cut to so few digits.
    @inline(__always)
    func cut(_ form: TimeForm) -> TimeForm {
        let most =
            switch self {
            case .source: 9
            case .milli: 3
            case .micro: 6
            }
        guard form.digits > most else { return form }
        return TimeForm(offsetMinutes: form.offsetMinutes, digits: most)
    }

    private static func cut(_ instant: Instant, _ step: Int64) -> Instant {
        let rest = instant.nanoseconds % step
        return instant.advanced(by: rest < 0 ? -rest - step : -rest)
    }
}
