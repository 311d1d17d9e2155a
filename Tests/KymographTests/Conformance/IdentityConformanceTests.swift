import Foundation
import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore
@testable import KymographTemplates

/// The reference system's own unit tests of resolving identities and of saving on a server, run here. None differs.
@Suite struct IdentityConformanceTests {
    private static let operations: Set<String> = [
        "resolve_identity", "resolve_identity_cached", "save", "ensure_resource", "reference_id",
    ]

    @Test(.enabled(if: ValidationCase.root != nil, "needs the shared folder; set KYMO_SHARED"))
    func resolvesAndSavesAsTheReference() throws {
        let root = try #require(ValidationCase.root)
        let text = Files.read(root.appendingPathComponent("conformance/cases.json").path)
        let cases = try #require(JSONNode.answer(text)?.elements)
        var count = 0
        for node in cases {
            guard node.child("kind")?.string == "fhir", let operation = node.child("op")?.string,
                Self.operations.contains(operation)
            else { continue }
            count += 1
            var check = IdentityConformanceCheck(node)
            try check.run(operation)
            #expect(check.differences.isEmpty, "\(check.id): \(check.differences.joined(separator: "; "))")
        }
        print("conformance of identities: \(count) run, none differs")
        #expect(count == 38)
    }
}

/// Runs one case and notes how the outcome differs.
private struct IdentityConformanceCheck {
    let id: String
    private let template: JSONNode?
    private let input: JSONNode?
    private let expected: JSONNode
    private(set) var differences: [String] = []

    init(_ node: JSONNode) {
        id = node.child("id")?.string ?? ""
        template = node.child("template")
        input = node.child("input")
        expected = node.child("expected") ?? JSONNode(position: .start, value: .null)
    }

    mutating func run(_ operation: String) throws {
        switch operation {
        case "resolve_identity": resolve()
        case "resolve_identity_cached": try resolveTwice()
        case "ensure_resource": ensure()
        case "reference_id": referenceID()
        default: try save()
        }
    }

    private mutating func expect(_ condition: Bool, _ what: String) {
        if !condition { differences.append(what) }
    }

    // MARK: Identities

    private mutating func resolve() {
        guard let name = template?.child("mode")?.string else {
            return compare(ResolvedIdentity())
        }
        guard let mode = ResourceIdentityMode(name: name), let device = input?.child("DeviceId")?.string else {
            return expect(false, "a mode and a device expected")
        }
        let server = played()
        let system = template?.child("DefaultDeviceIdentifierSystem")?.string ?? ""
        let query = IdentityQuery(
            device: ServerIdentifier(type: "Device", system: system, value: device),
            patient: named("Patient", "PatientId"), encounter: named("Encounter", "EncounterId"))
        var result: Result<ResolvedIdentity, IdentityFailure>?
        IdentityResolver(mode, server: server, compatibility: .iomtFHIR).resolve(query) { result = $0 }
        switch result {
        case .success(let identity): compare(identity)
        case .failure(let failure): compare(failure)
        case nil: expect(false, "an answer expected")
        }
        if let searches = texts("searches") { expect(server.searches == searches, "found \(server.searches)") }
        if let created = texts("created") { expect(server.stored == created, "found \(server.stored)") }
    }

    private func texts(_ name: String) -> [String]? { expected.child(name)?.elements?.compactMap(\.string) }

    private func named(_ type: String, _ member: String) -> ServerIdentifier? {
        input?.child(member)?.string.map { ServerIdentifier(type: type, system: "", value: $0) }
    }

    /// The server of the case. Their lookup is a mock that fails; here the first search finds what makes it fail.
    private func played() -> ScriptedResources {
        let server = ScriptedResources()
        let described = input?.child("server")
        for type in ["Device", "Patient", "Encounter"] {
            if let resource = described?.child(type) { server.found[type] = [Self.resource(resource, type)] }
        }
        switch described?.child("lookup_error")?.string {
        case "device-missing": server.foundFirst["Device"] = []
        case "patient-missing": server.foundFirst["Device"] = [Self.resource(.text(""), "Device")]
        default: break
        }
        return server
    }

    private static func resource(_ described: JSONNode, _ type: String) -> JSONNode {
        var resource = JSONNode(position: .start, value: .object([])).with("resourceType", .text(type))
        if let id = described.child("id") { resource = resource.with("id", id) }
        if let patient = described.child("patient") {
            let empty = JSONNode(position: .start, value: .object([]))
            resource = resource.with("patient", empty.with("reference", patient))
        }
        return resource
    }

    private static func id(_ ids: JSONNode?, _ name: String) -> IdentifierText? {
        (ids?.child(name)?.string).map { IdentifierText($0) }
    }

    private mutating func compare(_ identity: ResolvedIdentity) {
        for member in expected.child("ids")?.members ?? [] {
            let found = identity.id(of: member.name)
            expect(found?.text == member.node.string, "\(member.name): found \(found ?? "none")")
        }
        expect(expected.child("error") == nil, "an error expected, found \(identity)")
    }

    private mutating func compare(_ failure: IdentityFailure) {
        let reasons: [String: Rejection] = [
            "FhirResourceNotFound": .identityNotFound, "MultipleResourceFound": .identityAmbiguous,
            "ResourceIdentityNotDefined": .identityNotDefined, "PatientDeviceMismatch": .patientDeviceMismatch,
        ]
        let error = expected.child("error")
        expect(reasons[error?.child("kind")?.string ?? ""] == failure.reason, "found \(failure)")
        if let resource = error?.child("resource")?.string {
            expect(resource == failure.resource, "\(resource) expected, found \(failure)")
        }
    }

    /// Readings of devices called as the keys: each device that is not cached costs one search.
    private mutating func resolveTwice() throws {
        let rehearsal = try DeliveryRehearsal(identity: .lookup)
        for (window, key) in (input?.child("cache_keys")?.elements ?? []).enumerated() {
            rehearsal.server.resources["Device/\(key.string ?? "")"] = [
                "resourceType": "Device", "id": "1", "patient": ["reference": "Patient/1"],
                "identifier": [["system": "urn:kymograph:device", "value": key.string ?? ""]],
            ]
            rehearsal.outbox.add(TestRow.transaction([TestRow.Reading(key.string ?? "", window)]))
            rehearsal.run()
        }
        let calls = expected.child("backend_calls")?.jsonText
        expect("\(rehearsal.server.searches.count)" == calls, "found \(rehearsal.server.searches)")
        expect(rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty, "all delivered expected")
    }

    private mutating func ensure() {
        let server = ScriptedResources()
        if input?.child("found")?.jsonText == "true" {
            server.found["Patient"] = [Self.resource(.text(""), "Patient")]
        }
        var result: Result<JSONNode, IdentityFailure>?
        IdentityResolver(.create, server: server).ensure(
            ServerIdentifier(type: "Patient", system: "", value: "p"), adding: ("active", .text("set"))
        ) { result = $0 }
        let isSet = server.updates.contains { $0.child("active") != nil }
        expect("\(isSet)" == expected.child("setter_called")?.jsonText, "set: found \(isSet)")
        guard case .success(let resource) = result else { return expect(false, "a resource expected") }
        expect(resource.child("resourceType")?.string == "Patient", "found \(resource.jsonText)")
    }

    private mutating func referenceID() {
        let reference = input?.child("reference")?.string ?? ""
        let found = ResourceReference.id(of: reference, type: input?.child("type")?.string ?? "")
        expect(found == expected.child("id")?.string, "found \(found ?? "none")")
    }

    // MARK: Saving

    private mutating func save() throws {
        if input?.child("ids") != nil { return saveReferences() }
        if input?.child("observation_groups") != nil { return try saveGroups() }
        let server = ScriptedResources()
        let cache = CountingCache()
        let identifier = ServerIdentifier(type: "Observation", system: "test", value: "test")
        let existing = Self.resource(.text(""), "Observation").with("id", .text("old")).with("status", .text("final"))
        if input?.child("server")?.string == "found" { server.found["Observation"] = [existing] }
        let isCached = input?.child("cache")?.string == "hit"
        if isCached { cache.set(existing, for: identifier) }
        server.firstUpdate = input?.child("first_update")?.string.flatMap { Int($0) }
        let differs = input?.child("merged_differs")?.jsonText == "true"
        var merges = 0
        let saver = ResourceSaver(server: server, cache: cache) { existing, _ in
            merges += 1
            return differs ? existing.with("note", .text("merged")) : existing
        }
        var result: Result<ResourceSaver.Saved, IdentityFailure>?
        saver.save(existing.without(["id"]), identifier) { result = $0 }
        guard case .success(let saved) = result else { return expect(false, "found \(String(describing: result))") }
        let counts = [
            "merges": merges, "updates": server.updates.count, "cache_removed": cache.removals,
            "cache_set": cache.settings - (isCached ? 1 : 0),
        ]
        for (name, count) in counts {
            guard let wanted = expected.child(name)?.jsonText else { continue }
            expect("\(count)" == wanted, "\(name): \(wanted) expected, found \(count)")
        }
        expect(saved.operation.rawValue == expected.child("operation")?.string, "found \(saved.operation)")
        if let status = expected.child("status")?.string {
            expect(server.updates.last?.child("status")?.string == status, "status \(status) expected")
        }
    }

    private mutating func saveGroups() throws {
        let count = Int(input?.child("observation_groups")?.jsonText ?? "") ?? 0
        let readings = (1...max(1, count)).map { TestRow.Reading("a", $0) }
        let rehearsal = try DeliveryRehearsal([TestRow.transaction(readings)], identity: .lookup) {
            $0.compatibility = .iomtFHIR
        }
        rehearsal.server.resources["Device/1"] = [
            "resourceType": "Device", "id": "1", "patient": ["reference": "Patient/1"],
            "identifier": [["system": "urn:kymograph:device", "value": "a"]],
        ]
        rehearsal.run()
        let resolutions = rehearsal.server.searches.count { $0.contains("/Device?") }
        let saves = rehearsal.server.requests.count { $0.method == "POST" && $0.url.hasSuffix("/Observation") }
        expect("\(resolutions)" == expected.child("identity_resolutions")?.jsonText, "resolved \(resolutions) times")
        expect("\(saves)" == expected.child("saves")?.jsonText, "saved \(saves) times")
    }

    private mutating func saveReferences() {
        let ids = input?.child("ids")
        let identifier = input?.child("identifier")?.jsonText ?? ""
        let row = TestRow.batch([TestRow.Reading("a", 1, encounter: "e")]).replacing(
            #""identifier":[{"system":"urn:kymograph:observation","value":".a-1"}]"#,
            with: #""identifier":[\#(identifier)]"#)
        let body = FormerBundle.block(of: Array(row.utf8)) ?? []
        let entries = DeliveryBlock(OutboxRow(number: 1, body: body))?.entries(includesUnreferred: false)
        guard let entry = entries?.first else { return expect(false, "an entry expected") }
        var assembly = EntryAssembly()
        assembly.references = .literal(
            ResolvedIdentity(
                device: Self.id(ids, "Device"), patient: Self.id(ids, "Patient"),
                encounter: Self.id(ids, "Encounter")))
        var text = ByteWriter()
        assembly.writeResource(entry, into: &text)
        let observation = JSONNode.answer(text.view.array)
        for member in expected.child("observation")?.members ?? [] {
            let found = observation?.child(member.name)
            if let reference = member.node.string {
                expect(found?.child("reference")?.string == reference, "\(reference) expected")
            } else {
                expect(found?.sortedText == member.node.sortedText, "\(member.node.jsonText) expected")
            }
        }
    }
}
