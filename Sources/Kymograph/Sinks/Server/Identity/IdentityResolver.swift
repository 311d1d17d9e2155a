import KymographCore
import KymographTemplates

/// Finds the ids of a reading's Device, Patient and Encounter on a server (mapping dialect, section 7).
///
/// ``ResourceIdentityMode/create`` is the reference system's: what is missing is made under ids that are the SHA-256
/// of `system_value`. The encounter is looked up in every mode (quirk 23).
final class IdentityResolver {
    typealias Completion = (Result<ResolvedIdentity, IdentityFailure>) -> Void

    private let mode: ResourceIdentityMode
    private let compatibility: Compatibility
    private let server: any ResourceServer
    private let digest: Digest256

    /// With ``Compatibility/iomtFHIR``, a reading is about its Device's Patient whatever patient it names.
    init(
        _ mode: ResourceIdentityMode, server: any ResourceServer, compatibility: Compatibility = .none,
        digest: Digest256 = .openSSL
    ) {
        self.mode = mode
        self.compatibility = compatibility
        self.server = server
        self.digest = digest
    }

    /// Resolves `query`.
    func resolve(_ query: IdentityQuery, completion: @escaping Completion) {
        if mode == .lookupWithEncounter, query.needsPatient, query.encounter == nil {
            return completion(
                .failure(.notDefined("Encounter", "the reading names no encounter, which lookupWithEncounter needs")))
        }
        resolvePerson(query) { [self] result in
            confirmPatient(query, result) { result in
                self.withGateway(query, result) { self.withEncounter(query, $0, completion) }
            }
        }
    }

    /// Sees to it that the patient that the reading names is the Device's: the server may know the device for another
    /// one, and then nobody can tell whose reading it is.
    private func confirmPatient(
        _ query: IdentityQuery, _ result: Result<ResolvedIdentity, IdentityFailure>, _ completion: @escaping Completion
    ) {
        guard compatibility == .none, query.device != nil, let patient = query.patient,
            case .success(let identity) = result, let owner = identity.patient
        else { return completion(result) }
        findOne(patient) { found in
            completion(
                found.flatMap { node in
                    guard let id = node.identifierText("id") else { return .failure(.notFound(patient)) }
                    return id == owner
                        ? result : .failure(.mismatch(device: identity.device, owner: owner, patient: id))
                })
        }
    }

    /// Finds or makes Device and Patient.
    private func resolvePerson(_ query: IdentityQuery, _ completion: @escaping Completion) {
        guard let device = query.device else {
            guard let patient = query.patient else { return completion(.success(ResolvedIdentity())) }
            return require(patient) { completion($0.map { ResolvedIdentity(patient: $0) }) }
        }
        lookUp(device, needsPatient: query.needsPatient) { [self] result in
            guard case .failure(let failure) = result, mode == .create, failure.reason == .identityNotFound
            else { return completion(result) }
            make(device, query, completion)
        }
    }

    /// The id of what must be there, or is made in the mode ``ResourceIdentityMode/create``.
    private func require(
        _ identifier: ServerIdentifier, _ completion: @escaping (Result<IdentifierText, IdentityFailure>) -> Void
    ) {
        let finish: (Result<JSONNode, IdentityFailure>) -> Void = { found in
            completion(
                found.flatMap { node in
                    node.identifierText("id").map { .success($0) } ?? .failure(.notFound(identifier))
                })
        }
        mode == .create ? ensure(identifier, adding: nil, finish) : findOne(identifier, finish)
    }

    private func withGateway(
        _ query: IdentityQuery, _ result: Result<ResolvedIdentity, IdentityFailure>, _ completion: @escaping Completion
    ) {
        guard case .success(var identity) = result, let gateway = query.gateway else { return completion(result) }
        require(gateway) { found in
            completion(
                found.map {
                    identity.gateway = $0
                    return identity
                })
        }
    }

    // MARK: Lookup

    /// Finds the Device and, through it, the Patient.
    private func lookUp(_ identifier: ServerIdentifier, needsPatient: Bool, _ completion: @escaping Completion) {
        findOne(identifier) { found in
            completion(
                found.flatMap { device in
                    let patient = Self.patient(of: device)
                    if needsPatient, patient == nil {
                        let name = "Device/\(device.child("id")?.string ?? "")"
                        return .failure(
                            IdentityFailure(
                                reason: .identityNotFound, resource: "Patient",
                                message: "\(name) refers to no Patient: set its patient on the server"))
                    }
                    guard let id = device.identifierText("id") else { return .failure(.notFound(identifier)) }
                    return .success(ResolvedIdentity(device: id, patient: patient))
                })
        }
    }

    private func withEncounter(
        _ query: IdentityQuery, _ result: Result<ResolvedIdentity, IdentityFailure>, _ completion: @escaping Completion
    ) {
        guard case .success(var identity) = result, let encounter = query.encounter else { return completion(result) }
        findOne(encounter) { [compatibility] found in
            completion(
                found.flatMap { node in
                    guard let id = node.identifierText("id") else { return .failure(.notFound(encounter)) }
                    identity.encounter = id
                    guard compatibility == .none, let owner = node.patient("subject") ?? node.patient("patient"),
                        let patient = identity.patient, owner != patient
                    else { return .success(identity) }
                    return .failure(.mismatch(encounter: id, owner: owner, patient: patient))
                })
        }
    }

    /// The id of the Patient that a Device refers to.
    private static func patient(of device: JSONNode) -> IdentifierText? { device.patient("patient") }

    /// The resource of an identifier, of which there must be one.
    private func findOne(
        _ identifier: ServerIdentifier, _ completion: @escaping (Result<JSONNode, IdentityFailure>) -> Void
    ) {
        find(identifier) { result in
            completion(result.flatMap { $0.map { .success($0) } ?? .failure(.notFound(identifier)) })
        }
    }

    /// The resource of an identifier, if there is one.
    private func find(
        _ identifier: ServerIdentifier, _ completion: @escaping (Result<JSONNode?, IdentityFailure>) -> Void
    ) {
        server.search(identifier) { result in
            switch result {
            case .failure(let refusal): completion(.failure(Self.failure(refusal, identifier.type)))
            case .success(let found):
                completion(found.count > 1 ? .failure(.ambiguous(identifier)) : .success(found.first))
            }
        }
    }

    private static func failure(_ refusal: ServerRefusal, _ type: String) -> IdentityFailure {
        IdentityFailure(reason: refusal.reason, resource: type, message: refusal.message)
    }

    // MARK: Create

    private func make(_ device: ServerIdentifier, _ query: IdentityQuery, _ completion: @escaping Completion) {
        guard query.needsPatient else {
            return require(device) { completion($0.map { ResolvedIdentity(device: $0) }) }
        }
        guard let patient = query.patient, !patient.value.isBlank else {
            return completion(
                .failure(.notDefined("Patient", "the reading names no patient, and its Device has none on the server")))
        }
        ensure(patient, adding: nil) { [self] result in
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success(let found):
                makeDevice(device, patient: found.identifierText("id") ?? "", completion)
            }
        }
    }

    private func makeDevice(_ device: ServerIdentifier, patient: IdentifierText, _ completion: @escaping Completion) {
        let reference = JSONNode(
            position: .start,
            value: .object([.init(name: "reference", position: .start, node: .text("Patient/\(patient)"))]))
        ensure(device, adding: ("patient", reference)) { [self] result in
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success(let found): link(found, reference, patient: patient, completion)
            }
        }
    }

    /// Gives a Device without patient its Patient, and refuses one of another Patient.
    private func link(
        _ device: JSONNode, _ reference: JSONNode, patient: IdentifierText, _ completion: @escaping Completion
    ) {
        let id = device.identifierText("id") ?? ""
        let identity = ResolvedIdentity(device: id, patient: patient)
        guard let existing = device.child("patient")?.child("reference")?.string else {
            let version = device.child("meta")?.child("versionId")?.string.map { "W/\"\($0)\"" }
            return server.update(device.with("patient", reference), version: version) { result in
                completion(result.map { _ in identity }.mapError { Self.failure($0, "Device") })
            }
        }
        guard device.patient("patient") == patient else {
            return completion(
                .failure(
                    IdentityFailure(
                        reason: .patientDeviceMismatch, resource: "Device",
                        message: "Device/\(id) belongs to \(existing), the reading is about Patient/\(patient)")))
        }
        completion(.success(identity))
    }

    /// The resource of an identifier; made with the member `extra` when the server has none.
    func ensure(
        _ identifier: ServerIdentifier, adding extra: (name: String, node: JSONNode)?,
        _ completion: @escaping (Result<JSONNode, IdentityFailure>) -> Void
    ) {
        find(identifier) { [self] result in
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success(let found?): completion(.success(found))
            case .success(nil):
                var resource = newResource(identifier)
                if let extra { resource = resource.with(extra.name, extra.node) }
                server.update(resource, version: nil) { result in
                    completion(result.map { _ in resource }.mapError { Self.failure($0, identifier.type) })
                }
            }
        }
    }

    private func newResource(_ identifier: ServerIdentifier) -> JSONNode {
        let empty = JSONNode(position: .start, value: .object([]))
        let system = identifier.system.isEmpty ? empty : empty.with("system", .text(identifier.system.text))
        let list = JSONNode(position: .start, value: .array([system.with("value", .text(identifier.value.text))]))
        let id = digest.resourceID(system: identifier.system.text, value: identifier.value.text)
        return empty.with("resourceType", .text(identifier.type)).with("id", .text(id)).with("identifier", list)
    }
}

extension JSONNode {
    /// The identifier in the member called `name`.
    fileprivate func identifierText(_ name: String) -> IdentifierText? {
        child(name)?.string.map { IdentifierText($0) }
    }

    /// The id of the Patient that the Reference in the member called `name` names.
    fileprivate func patient(_ name: String) -> IdentifierText? {
        let reference = child(name)?.child("reference")?.string
        return reference.flatMap { ResourceReference.id(of: $0, type: "Patient") }.map { IdentifierText($0) }
    }
}
