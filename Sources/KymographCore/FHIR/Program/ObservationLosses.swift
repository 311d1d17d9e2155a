/// What an Observation does not say of its readings.
package struct ObservationLosses: Hashable, Sendable {
    /// Readings with a text in the place of a number (`NaN`), beside others whose numbers are in the Observation.
    package var passedOver = 0
    /// Values, components and statistics that could not be written, beside others that were; they have a
    /// `dataAbsentReason`.
    package var unwritten = 0

    /// Nothing lost.
    package init() {}
}
