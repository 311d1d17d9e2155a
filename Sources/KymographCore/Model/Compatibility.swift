/// Whose rules a mapping follows where the reference system has quirks (mapping dialect, section 10).
package enum Compatibility: String, CaseIterable, Sendable {
    /// Our own: quirks that lose or falsify readings are fixed.
    case none
    /// Those of microsoft/iomt-fhir, so that identities and values match what an existing FHIR server already holds.
    case iomtFHIR = "iomt-fhir"
}

extension Compatibility {
    /// Identifier system of the Observations of microsoft/iomt-fhir, and code system of its types and values.
    package static let iomtFHIRSystem = "https://azure.microsoft.com/en-us/services/iomt-fhir-connector/"
}
