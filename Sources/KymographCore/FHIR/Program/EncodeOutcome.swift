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

/// What an Observation does not say of its readings.
package struct ObservationLosses: Hashable, Sendable {
    /// Readings with a text in the place of a number (`NaN`), beside others whose numbers are in the Observation.
    package var passedOver = 0
    /// Values, components and statistics that could not be written, beside others that were; they have a
    /// `dataAbsentReason`.
    package var unwritten: Int { unwrittenValues.total }
    /// The same, by reason.
    package var unwrittenValues = UnwrittenValues()
    /// Observations that have not all tags of their readings, since those have more than
    /// ``ReadingTags/mostWritten``.
    package var cutTags = 0

    /// Nothing lost.
    package init() {}

    /// Adds what others do not say.
    package mutating func add(_ other: ObservationLosses) {
        passedOver += other.passedOver
        unwrittenValues.add(other.unwrittenValues)
        cutTags += other.cutTags
    }
}
