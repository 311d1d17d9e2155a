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
    var device: String?
    var patient: String?
    var encounter: String?
    var gateway: String?

    /// The id of the resource of this type; of Devices, that of the reading's.
    func id(of type: String) -> String? {
        switch type {
        case "Device": device
        case "Patient": patient
        case "Encounter": encounter
        default: nil
        }
    }
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

    static func notDefined(_ type: String, _ message: String) -> IdentityFailure {
        IdentityFailure(reason: .identityNotDefined, resource: type, message: message)
    }
}

extension ServerIdentifier {
    /// As searches write it.
    var text: String { system.isEmpty ? value : "\(system)|\(value)" }
}
