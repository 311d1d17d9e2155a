import KymographCore

/// Whom a reading is about, as it names them.
struct IdentityQuery: Hashable, Sendable {
    var device: ServerIdentifier?
    var patient: ServerIdentifier?
    var encounter: ServerIdentifier?
    var gateway: ServerIdentifier?
    /// Whether the resource is about a Patient, so that the Device must have one.
    var needsPatient = true
}

/// The ids that a server has for them.
struct ResolvedIdentity: Hashable, Sendable {
    var device: IdentifierText?
    var patient: IdentifierText?
    var encounter: IdentifierText?
    var gateway: IdentifierText?

    /// The id of the resource of this type; of Devices, that of the reading's.
    func id(of type: String) -> IdentifierText? {
        switch type {
        case "Device": device
        case "Patient": patient
        case "Encounter": encounter
        default: nil
        }
    }
}

/// When the server was asked for the ids of a reading.
struct LookupMark {
    var asked: Instant
    /// How often all answers had been forgotten by then.
    var generation: Int
}

/// Why a server's ids cannot be had, for good.
struct IdentityFailure: Error, Hashable, Sendable {
    /// The reason.
    var reason: Rejection
    /// Type of the resource that it is about.
    var resource: String
    /// What is wrong.
    var message: String

    static func notFound(_ identifier: ServerIdentifier) -> IdentityFailure {
        IdentityFailure(
            reason: .identityNotFound, resource: identifier.type,
            message: "the server has no \(identifier.type) with the identifier \(identifier.text)")
    }

    static func ambiguous(_ identifier: ServerIdentifier) -> IdentityFailure {
        IdentityFailure(
            reason: .identityAmbiguous, resource: identifier.type,
            message: "the server has several resources of type \(identifier.type) with the identifier "
                + identifier.text)
    }

    /// The server finds resources of other identifiers, and would take one of them for the one that is asked for.
    static func foreign(_ identifier: ServerIdentifier) -> IdentityFailure {
        IdentityFailure(
            reason: .identityAmbiguous, resource: identifier.type,
            message: "the server takes another \(identifier.type) for the one with the identifier "
                + "\(identifier.text): its search finds identifiers that are not equal")
    }

    /// The reading is about another patient than its Device.
    static func mismatch(device: IdentifierText?, owner: IdentifierText, patient: IdentifierText) -> IdentityFailure {
        IdentityFailure(
            reason: .patientDeviceMismatch, resource: "Device",
            message: "Device/\(device ?? "") belongs to Patient/\(owner), the reading is about Patient/\(patient)")
    }

    /// The reading is about another patient than its Encounter.
    static func mismatch(
        encounter: IdentifierText, owner: IdentifierText, patient: IdentifierText
    ) -> IdentityFailure {
        IdentityFailure(
            reason: .patientDeviceMismatch, resource: "Encounter",
            message: "Encounter/\(encounter) is of Patient/\(owner), the reading is about Patient/\(patient)")
    }

    static func notDefined(_ type: String, _ message: String) -> IdentityFailure {
        IdentityFailure(reason: .identityNotDefined, resource: type, message: message)
    }
}

extension ServerIdentifier {
    /// As people write it.
    var text: String { system.isEmpty ? value.text : "\(system)|\(value)" }

    /// The query of a search for it.
    var query: String { IdentifierSearch.query(system: system.text, value: value.text) }
}
