package import KymographCore

/// Identifier systems of what resources refer to. They tell the gateway from the devices behind it.
package struct ReferenceSystems: Hashable, Sendable {
    /// Of patients.
    package var patient: IdentifierText
    /// Of the Patient that stands for the wearer of a device whose readings name no patient.
    package var deviceSubject: IdentifierText
    /// Of devices.
    package var device: IdentifierText
    /// Of the gateway.
    package var gateway: IdentifierText
    /// Of encounters.
    package var encounter: IdentifierText

    /// Those that `output` writes; with `compatibility: iomt-fhir`, devices have a system only where it was set.
    package init(_ output: ObservationOptions = ObservationOptions(), compatibility: Compatibility = .none) {
        patient = IdentifierText(output.patientSystem)
        deviceSubject = IdentifierText(output.deviceSubjectSystem)
        device = IdentifierText(output.deviceSystem)
        gateway = IdentifierText(output.gatewaySystem)
        encounter = IdentifierText(output.encounterSystem)
        if compatibility == .iomtFHIR, device == IdentifierText(ObservationOptions().deviceSystem) { device = "" }
    }

    /// Whether `identifier` is the gateway's.
    func isGateway(_ identifier: ServerIdentifier) -> Bool {
        identifier.type == "Device" && identifier.system == gateway && gateway != device
    }
}
