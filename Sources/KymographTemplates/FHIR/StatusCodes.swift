import KymographCore

/// The codes that `status` of a resource can have in a version of FHIR: each binding is required, so that a server
/// refuses all others. Source: the value sets of STU3 3.0.2, R4 4.0.1 and R5 5.0.0; R4B is R4 here.
enum StatusCodes {
    /// The codes of the `status` of `type`, or nil when the type is not known.
    static func of(_ type: String, _ version: FHIRVersion) -> [String]? {
        switch type {
        case "Device": words(active) + ["unknown"]
        case "Flag": words(active)
        case "Observation":
            words("registered preliminary final amended corrected cancelled entered-in-error unknown")
        case "MedicationAdministration":
            words(administration) + (version == .stu3 ? [] : ["not-done"])
        case "Communication": words(version == .stu3 ? formerEvent : event)
        default: nil
        }
    }

    private static let active = "active inactive entered-in-error"
    private static let administration = "in-progress on-hold completed entered-in-error stopped unknown"
    private static let event = "preparation in-progress not-done on-hold stopped completed entered-in-error unknown"
    /// `event-status` of STU3.
    private static let formerEvent = "preparation in-progress suspended aborted completed entered-in-error unknown"

    private static func words(_ text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    }
}
