/// What became of a window's content.
package enum EncodeOutcome: Hashable, Sendable {
    /// The Observation was written. Its series have `condensedValues` values less than readings, as readings share a
    /// grid slot (SampledData with a fixed period, by the template's collision policy). n readings of one slot count
    /// n - 1, whatever the policy; n where their mean or sum does not fit 18 digits, which leaves `E`.
    case written(condensedValues: Int)
    /// There is nothing to write: `missingValue` when no value of the template is in any reading, `noFHIRTemplate`,
    /// and where no other value can be written, `inexactNumber` when a sum or mean does not fit 18 digits,
    /// `valueTooLong` when a series has too many samples, `invalidValue` when no reading has a value of its type.
    case skipped(Rejection)
}
