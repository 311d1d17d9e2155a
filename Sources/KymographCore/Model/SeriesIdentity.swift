/// Whose readings of what: the structured key that windows are grouped by.
///
/// The reference system joins these with hyphens, which collides (`a-b`+`c` and `a`+`b-c`; quirk 14 of the mapping
/// dialect): here they stay apart.
package struct SeriesIdentity: Hashable, Sendable {
    /// Index into the pipeline's ``MeasurementType``s.
    package var type: Int
    /// Device identifier, UTF-8, never empty.
    package var device: [UInt8]
    /// Patient identifier, or nil when the reading names none.
    package var patient: [UInt8]?
    /// Encounter identifier, or nil.
    package var encounter: [UInt8]?
    /// Correlation id, or nil.
    package var correlation: [UInt8]?

    /// Makes an identity.
    package init(
        type: Int, device: [UInt8], patient: [UInt8]? = nil, encounter: [UInt8]? = nil, correlation: [UInt8]? = nil
    ) {
        self.type = type
        self.device = device
        self.patient = patient
        self.encounter = encounter
        self.correlation = correlation
    }
}
