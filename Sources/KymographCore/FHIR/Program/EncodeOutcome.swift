/// What became of a window's content.
public enum EncodeOutcome: Hashable, Sendable {
    /// The Observation was written. `condensedValues` readings are not in it on their own, because another one of
    /// theirs shares the grid slot (SampledData with a fixed period, by the template's collision policy).
    case written(condensedValues: Int)
    /// There is nothing to write: `missingValue` when no value of the template is in any reading, `noFHIRTemplate`,
    /// `inexactNumber` when a sum or mean does not fit 18 digits, `valueTooLong` when a series has too many samples.
    case skipped(Rejection)
}
