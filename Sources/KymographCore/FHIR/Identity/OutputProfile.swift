/// The implementation guide whose profiles Observations follow besides those of FHIR itself.
package enum OutputProfile: String, Sendable, CaseIterable {
    /// None.
    case none
    /// HL7 Personal Health Devices (`http://hl7.org/fhir/uv/phd`), which is of FHIR R4.
    case phd
}
