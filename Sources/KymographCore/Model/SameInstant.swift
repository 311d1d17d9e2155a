/// What becomes of readings of one series, without an id, that have the same time and start and say different things.
/// Those that say the same are one reading.
package enum SameInstant: String, Sendable, BitwiseCopyable, CaseIterable {
    /// They become one reading, value by value: of two values the later received stays. Only types that a former
    /// version has stored have it.
    case merge
    /// Each is a reading. One that has values of other names only, or nothing but some of the values of another, is a
    /// part of that.
    case keep
    /// The one that was received last stays, as a whole.
    case latest
    /// The one that was received first stays, as a whole.
    case reject

    /// What a FHIR template can ask for.
    package static let choices: [SameInstant] = [.keep, .latest, .reject]

    /// What holds where the FHIR template does not say.
    package static func usual(_ grouping: Grouping, _ compatibility: Compatibility) -> SameInstant {
        // Of measurements of one time the reference keeps one, as a whole: the one that it ingested last.
        if compatibility == .iomtFHIR { return .latest }
        return grouping == .instance ? .latest : .keep
    }
}
