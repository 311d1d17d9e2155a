/// An identifier system as bytes: plain for digests, and escaped for JSON.
struct IdentifierSystem {
    let plain: [UInt8]
    let escaped: [UInt8]

    init(_ text: String) {
        plain = Array(text.utf8)
        escaped = Array(JSONText.quoted(text).utf8.dropFirst().dropLast())
    }
}

/// The identifier systems of a run.
struct IdentifierSystems {
    let patient: IdentifierSystem
    let deviceSubject: IdentifierSystem
    let device: IdentifierSystem
    let encounter: IdentifierSystem
    let observation: IdentifierSystem
    let resource: IdentifierSystem
    /// The gateway.
    let gateway: ResourceIdentifier
    /// The version of FHIR that references to these are written in.
    let version: FHIRVersion

    init(_ options: ObservationOptions) {
        patient = IdentifierSystem(options.patientSystem)
        deviceSubject = IdentifierSystem(options.deviceSubjectSystem)
        device = IdentifierSystem(options.deviceSystem)
        encounter = IdentifierSystem(options.encounterSystem)
        observation = IdentifierSystem(options.observationSystem)
        resource = IdentifierSystem(options.resourceSystem)
        gateway = ResourceIdentifier(
            system: IdentifierSystem(options.gatewaySystem), value: Array(options.gateway.utf8))
        version = options.version
    }

    /// Who the readings of `series` are about: its patient, or the Patient that stands for the device's wearer.
    func subject(of series: borrowing SeriesIdentity) -> ResourceIdentifier {
        if let patient = series.patient, !patient.isEmpty {
            return ResourceIdentifier(system: self.patient, value: patient)
        }
        return ResourceIdentifier(system: deviceSubject, value: series.device)
    }

    /// What took the readings of `series`.
    func device(of series: borrowing SeriesIdentity) -> ResourceIdentifier {
        ResourceIdentifier(system: device, value: series.device)
    }
}

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

/// An identifier of a Patient, Device or Encounter.
struct ResourceIdentifier {
    let system: IdentifierSystem
    let value: [UInt8]
}

extension ByteWriter {
    /// Writes `{"system":…,"value":…}`, without a system when that is empty; what stands for a long value, if there is
    /// a `digest` for it.
    mutating func append(_ identifier: ResourceIdentifier, _ digest: Digest256?) {
        appendHead(of: identifier.system)
        appendReferred(identifier.value, digest)
        append("\"}")
    }

    /// Writes the value of an identifier that refers to a resource, within quotes.
    mutating func appendReferred(_ value: [UInt8], _ digest: Digest256?) {
        value.withByteView { value in
            guard let digest, LongIdentifier.isLong(value) else { return appendJSON(value) }
            appendDigest(of: value, digest)
        }
    }

    /// Writes an identifier up to its value.
    mutating func appendHead(of system: IdentifierSystem) {
        append("{")
        if !system.plain.isEmpty {
            append("\"system\":\"")
            append(system.escaped)
            append("\",")
        }
        append("\"value\":\"")
    }
}
