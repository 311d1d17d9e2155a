public import KymographCore

/// Identifier systems of what resources refer to. They tell the gateway from the devices behind it.
public struct ReferenceSystems: Hashable, Sendable {
    /// Of patients.
    public var patient: IdentifierText
    /// Of the Patient that stands for the wearer of a device whose readings name no patient.
    public var deviceSubject: IdentifierText
    /// Of devices.
    public var device: IdentifierText
    /// Of the gateway.
    public var gateway: IdentifierText
    /// Of encounters.
    public var encounter: IdentifierText

    /// Those that `output` writes; with `compatibility: iomt-fhir`, devices have a system only where it was set.
    public init(_ output: ObservationOptions = ObservationOptions(), compatibility: Compatibility = .none) {
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
