/// What an Observation does not say of its readings.
public struct ObservationLosses: Hashable, Sendable {
    /// Readings with a text in the place of a number (`NaN`), beside others whose numbers are in the Observation.
    public var passedOver = 0
    /// Values, components and statistics that could not be written, beside others that were; they have a
    /// `dataAbsentReason`.
    public var unwritten = 0

    /// Nothing lost.
    public init() {}
}
