import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Whose a reading is, when device and patient do not agree, or a server finds more than was asked for.
@Suite struct DeliveryOwnerTests {
    private typealias Reading = TestRow.Reading
    private static let composed = "Bj\u{F6}rn"
    private static let decomposed = "Bjo\u{308}rn"

    private func rehearsal(
        _ readings: [Reading], _ identity: ResourceIdentityMode = .lookup,
        _ change: (inout DeliverySettings) -> Void = { _ in }
    ) throws -> DeliveryRehearsal {
        try DeliveryRehearsal(readings.map { TestRow.transaction([$0]) }, identity: identity, change)
    }

    private func register(
        _ rehearsal: DeliveryRehearsal, _ type: String, _ id: String, _ value: String,
        _ links: [(name: String, reference: String)] = []
    ) {
        var resource: MemoryServer.Resource = [
            "resourceType": type, "id": id, "meta": ["versionId": "1"],
            "identifier": [["system": "urn:kymograph:\(type.lowercased())", "value": value]],
        ]
        for link in links { resource[link.name] = ["reference": link.reference] }
        rehearsal.server.resources["\(type)/\(id)"] = resource
    }

    private func observation(_ rehearsal: DeliveryRehearsal, _ id: String, _ member: String) -> String? {
        (rehearsal.server.resources["Observation/\(id)"]?[member] as? [String: Any])?["reference"] as? String
    }

    private func refusals(_ rehearsal: DeliveryRehearsal) -> [Rejection] {
        rehearsal.outbox.undeliverable.map(\.reason)
    }

    // MARK: The patient that a reading names

    @Test(arguments: [ResourceIdentityMode.lookup, .lookupWithEncounter])
    func aReadingOfAnotherPatientIsNotFiled(mode: ResourceIdentityMode) throws {
        let rehearsal = try rehearsal([Reading("a", 1, patient: "p2", encounter: "e")], mode)
        register(rehearsal, "Device", "D1", "a", [("patient", "Patient/P1")])
        register(rehearsal, "Patient", "P1", "p1")
        register(rehearsal, "Patient", "P2", "p2")
        register(rehearsal, "Encounter", "E1", "e")
        rehearsal.run()
        #expect(refusals(rehearsal) == [.patientDeviceMismatch] && rehearsal.values.isEmpty)
        let detail = rehearsal.outbox.undeliverable.first?.detail ?? ""
        #expect(detail.contains("Device/D1") && detail.contains("Patient/P1") && detail.contains("Patient/P2"))
    }

    @Test func thePatientThatAReadingNamesIsTheDevices() throws {
        let rehearsal = try rehearsal([Reading("a", 1, patient: "p1"), Reading("a", 2, patient: "nobody")])
        register(rehearsal, "Device", "D1", "a", [("patient", "Patient/P1")])
        register(rehearsal, "Patient", "P1", "p1")
        rehearsal.run()
        #expect(observation(rehearsal, "a-1", "subject") == "Patient/P1")
        #expect(refusals(rehearsal) == [.identityNotFound] && rehearsal.values.count == 1)
    }

    /// The reference system goes by the device alone.
    @Test func theReferenceSystemGoesByTheDevice() throws {
        let rehearsal = try rehearsal([Reading("a", 1, patient: "p2")]) { $0.compatibility = .iomtFHIR }
        register(rehearsal, "Device", "D1", "a", [("patient", "Patient/P1")])
        register(rehearsal, "Patient", "P2", "p2")
        rehearsal.run()
        #expect(refusals(rehearsal).isEmpty && rehearsal.values.count == 1)
    }

    @Test func anEncounterOfAnotherPatientIsAReason() throws {
        let rehearsal = try rehearsal([Reading("a", 1, encounter: "e")])
        register(rehearsal, "Device", "D1", "a", [("patient", "Patient/P1")])
        register(rehearsal, "Encounter", "E1", "e", [("subject", "Patient/P2")])
        rehearsal.run()
        #expect(refusals(rehearsal) == [.patientDeviceMismatch] && rehearsal.values.isEmpty)
    }

    // MARK: Identifiers are bytes

    @Test func canonicallyEquivalentDevicesAreTwo() throws {
        let rehearsal = try rehearsal([Reading(Self.composed, 1), Reading(Self.decomposed, 2)])
        register(rehearsal, "Device", "D1", Self.composed, [("patient", "Patient/P1")])
        register(rehearsal, "Device", "D2", Self.decomposed, [("patient", "Patient/P2")])
        rehearsal.run()
        #expect(observation(rehearsal, "\(Self.composed)-1", "subject") == "Patient/P1")
        #expect(observation(rehearsal, "\(Self.decomposed)-2", "subject") == "Patient/P2")
        #expect(rehearsal.server.searches.count == 2)
    }

    @Test(arguments: [true, false]) func canonicallyEquivalentPatientsAreMadeTwice(isTransaction: Bool) throws {
        let readings = [Reading("a", 1, patient: Self.composed), Reading("b", 2, patient: Self.decomposed)]
        let row = isTransaction ? TestRow.transaction(readings) : TestRow.batch(readings)
        let rehearsal = try DeliveryRehearsal([row], identity: .create)
        rehearsal.run()
        let patients = rehearsal.server.resources.filter { $0.key.hasPrefix("Patient/") }
        #expect(patients.count == 2 && rehearsal.values.count == 2)
        // A batch refers by identifier.
        guard isTransaction else { return }
        let first = try #require(observation(rehearsal, "a-1", "subject"))
        #expect(first != observation(rehearsal, "b-2", "subject"))
        let value = (patients[first]?["identifier"] as? [[String: String]])?.first?["value"] ?? ""
        #expect(value.utf8.elementsEqual(Self.composed.utf8))
    }

    // MARK: What servers find

    @Test func aServerThatIgnoresCaseIsNotTrusted() throws {
        let rehearsal = try rehearsal([Reading("abc-1", 1), Reading("ABC-1", 2)])
        rehearsal.server.finds = { $0.lowercased() == $1.lowercased() }
        register(rehearsal, "Device", "D1", "ABC-1", [("patient", "Patient/A")])
        rehearsal.run()
        #expect(refusals(rehearsal) == [.identityNotFound])
        #expect(rehearsal.values.keys.sorted() == ["ABC-1-2"])
    }

    @Test func aServerThatFindsBeginningsIsNotTrusted() throws {
        let rehearsal = try rehearsal([Reading("bed-1", 1)])
        rehearsal.server.finds = { $1.hasPrefix($0) }
        register(rehearsal, "Device", "D1", "bed-10", [("patient", "Patient/A")])
        register(rehearsal, "Device", "D2", "bed-11", [("patient", "Patient/B")])
        rehearsal.run()
        #expect(refusals(rehearsal) == [.identityNotFound] && rehearsal.values.isEmpty)
    }

    /// The second resource of an identifier is on another page.
    @Test(arguments: [1, 2, 50]) func twoOfOneIdentifierAreAmbiguousOnAnyPages(pageSize: Int) throws {
        let rehearsal = try rehearsal([Reading("bed-1", 1)])
        rehearsal.server.finds = { $1.hasPrefix($0) }
        rehearsal.server.pageSize = pageSize
        register(rehearsal, "Device", "D1", "bed-1", [("patient", "Patient/A")])
        register(rehearsal, "Device", "D2", "bed-10", [("patient", "Patient/B")])
        register(rehearsal, "Device", "D9", "bed-1", [("patient", "Patient/C")])
        rehearsal.run()
        #expect(refusals(rehearsal) == [.identityAmbiguous] && rehearsal.values.isEmpty)
    }

    @Test func theRightOneIsFoundOnTheLastPage() throws {
        let rehearsal = try rehearsal([Reading("bed-1", 1)])
        rehearsal.server.finds = { $1.hasPrefix($0) }
        rehearsal.server.pageSize = 1
        register(rehearsal, "Device", "D1", "bed-10", [("patient", "Patient/A")])
        register(rehearsal, "Device", "D2", "bed-1", [("patient", "Patient/B")])
        rehearsal.run()
        #expect(observation(rehearsal, "bed-1-1", "subject") == "Patient/B")
    }

    /// A search that does not end says nothing of whose the device is.
    @Test func aSearchOfTooManyPagesIsAmbiguous() throws {
        let rehearsal = try rehearsal([Reading("bed-1", 1)])
        rehearsal.server.finds = { $1.hasPrefix($0) }
        rehearsal.server.pageSize = 1
        register(rehearsal, "Device", "D0", "bed-1", [("patient", "Patient/A")])
        for number in 10..<60 { register(rehearsal, "Device", "D\(number)", "bed-1\(number)") }
        rehearsal.run()
        #expect(refusals(rehearsal) == [.identityAmbiguous] && rehearsal.values.isEmpty)
    }
}
