/// Identifiers as microsoft/iomt-fhir has them.
extension IdentifierSystems {
    /// The systems of the reference: Patients and Encounters have none and Devices none unless it is configured. Ours
    /// are used where they were set.
    static func reference(_ options: ObservationOptions) -> IdentifierSystems {
        let defaults = ObservationOptions()
        var own = options
        own.observationSystem = Compatibility.iomtFHIRSystem
        if own.patientSystem == defaults.patientSystem { own.patientSystem = "" }
        if own.deviceSystem == defaults.deviceSystem { own.deviceSystem = "" }
        if own.encounterSystem == defaults.encounterSystem { own.encounterSystem = "" }
        return IdentifierSystems(own)
    }
}
