import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Patients, Devices and Encounters that must be on the server already.
@Suite struct DeliveryIdentityTests {
    private typealias Reading = TestRow.Reading

    private func rehearsal(
        _ rows: [String], _ identity: ResourceIdentityMode = .lookup,
        _ change: (inout DeliverySettings) -> Void = { _ in }
    ) throws -> DeliveryRehearsal {
        let rehearsal = try DeliveryRehearsal(rows, identity: identity, change)
        register(rehearsal, "Device", "D1", "a", patient: "Patient/P1")
        register(rehearsal, "Encounter", "E1", "e")
        return rehearsal
    }

    private func register(
        _ rehearsal: DeliveryRehearsal, _ type: String, _ id: String, _ value: String, patient: String? = nil
    ) {
        var resource: MemoryServer.Resource = [
            "resourceType": type, "id": id, "meta": ["versionId": "1"],
            "identifier": [["system": "urn:kymograph:\(type.lowercased())", "value": value]],
        ]
        if let patient { resource["patient"] = ["reference": patient] }
        rehearsal.server.resources["\(type)/\(id)"] = resource
    }

    private func reference(_ rehearsal: DeliveryRehearsal, _ id: String, _ member: String) -> String? {
        (rehearsal.server.resources["Observation/\(id)"]?[member] as? [String: Any])?["reference"] as? String
    }

    @Test(arguments: [true, false]) func refersToWhatTheServerHas(isTransaction: Bool) throws {
        let readings = [Reading("a", 1, encounter: "e"), Reading("a", 2)]
        let rehearsal = try rehearsal([isTransaction ? TestRow.transaction(readings) : TestRow.batch(readings)])
        rehearsal.run()
        #expect(reference(rehearsal, "a-1", "subject") == "Patient/P1")
        #expect(reference(rehearsal, "a-1", "device") == "Device/D1")
        #expect(reference(rehearsal, "a-1", "encounter") == "Encounter/E1")
        #expect(
            reference(rehearsal, "a-2", "subject") == "Patient/P1" && reference(rehearsal, "a-2", "encounter") == nil)
        // No Patient or Device was sent or made.
        let sent = rehearsal.server.bundles.map(DeliveryRehearsal.entries).joined()
        #expect(sent.allSatisfy { $0.contains("Observation") })
        #expect(rehearsal.server.resources.count == 4 && rehearsal.outbox.isSettled)
    }

    @Test func asksOncePerDevicePatientAndEncounter() throws {
        let rehearsal = try rehearsal((1...30).map { TestRow.transaction([Reading("a", $0)]) }) { $0.maxEntries = 4 }
        rehearsal.run()
        #expect(rehearsal.server.searches == ["http://server/fhir/Device?identifier=urn:kymograph:device%7Ca"])
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 31, encounter: "e")]))
        rehearsal.run()
        #expect(rehearsal.server.searches.count == 3, "another encounter is asked for at once")
        register(rehearsal, "Patient", "P1", "p")
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 32, patient: "p")]))
        rehearsal.run()
        #expect(rehearsal.server.searches.count == 5, "a patient is asked for, and the device with it")
        #expect(rehearsal.values.count == 32)
    }

    /// A device that sends all the time is seen to be another patient's within `identityMaxAge`.
    @Test func aDeviceOfAnotherPatientIsSeen() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1)])])
        rehearsal.run()
        register(rehearsal, "Device", "D1", "a", patient: "Patient/P2")
        for minute in 1...10 {
            rehearsal.time.advance(seconds: 60)
            rehearsal.outbox.add(TestRow.transaction([Reading("a", 1 + minute)]))
            rehearsal.run()
        }
        #expect(reference(rehearsal, "a-10", "subject") == "Patient/P1")
        #expect(reference(rehearsal, "a-11", "subject") == "Patient/P2")
        #expect(rehearsal.server.searches.count == 2)
    }

    /// An operator does not wait: what is known is forgotten on demand.
    @Test func lookupsAreForgottenOnDemand() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1)])])
        rehearsal.run()
        register(rehearsal, "Device", "D1", "a", patient: "Patient/P2")
        rehearsal.engine.forgetLookups()
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 2)]))
        rehearsal.run()
        #expect(reference(rehearsal, "a-2", "subject") == "Patient/P2")
    }

    // MARK: Answers on their way

    /// The server is asked for the encounter when the device's patient is known, and answers late.
    private func held() throws -> DeliveryRehearsal {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1, encounter: "e")])])
        rehearsal.server.steps = [.pass, .hold]
        rehearsal.run()
        try #require(rehearsal.server.held.count == 1)
        return rehearsal
    }

    /// An answer to what was asked before an operator had the answers forgotten is of then.
    @Test func anAnswerOnItsWayIsForgottenToo() throws {
        let rehearsal = try held()
        register(rehearsal, "Device", "D1", "a", patient: "Patient/P2")
        rehearsal.engine.forgetLookups()
        rehearsal.server.answerHeld(0)
        rehearsal.run()
        #expect(reference(rehearsal, "a-1", "subject") == "Patient/P2")
    }

    @Test func anAnswerIsAsOldAsTheQuestion() throws {
        let rehearsal = try held()
        rehearsal.time.advance(seconds: 540)
        rehearsal.server.answerHeld(0)
        rehearsal.run()
        #expect(reference(rehearsal, "a-1", "subject") == "Patient/P1")
        #expect(rehearsal.engine.status.oldestLookupAge == Int64(540_000_000_000))
        register(rehearsal, "Device", "D1", "a", patient: "Patient/P2")
        rehearsal.time.advance(seconds: 120)
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 2, encounter: "e")]))
        rehearsal.run()
        #expect(reference(rehearsal, "a-2", "subject") == "Patient/P2")
    }

    @Test func saysWhatIsMissing() throws {
        let rehearsal = try rehearsal([
            TestRow.transaction([Reading("nobody", 1), Reading("nobody", 2), Reading("a", 1, encounter: "other")]),
            TestRow.transaction([Reading("b", 1), Reading("c", 1), Reading("a", 2)]),
        ])
        register(rehearsal, "Device", "D2", "b")
        register(rehearsal, "Device", "D3", "c", patient: "Patient/P1")
        register(rehearsal, "Device", "D4", "c", patient: "Patient/P1")
        rehearsal.run()
        let aside = rehearsal.outbox.undeliverable.sorted { $0.resource < $1.resource }
        #expect(
            aside.map { "\($0.resource) \($0.reason.name)" } == [
                "Observation/a-1 identityNotFound", "Observation/b-1 identityNotFound",
                "Observation/c-1 identityAmbiguous", "Observation/nobody-1 identityNotFound",
                "Observation/nobody-2 identityNotFound",
            ])
        #expect(aside[0].detail == "the server has no Encounter with the identifier urn:kymograph:encounter|other")
        #expect(aside[1].detail == "Device/D2 refers to no Patient: set its patient on the server")
        #expect(rehearsal.values.keys.sorted() == ["a-2"] && rehearsal.outbox.isSettled)
        #expect(rehearsal.engine.status.undeliverableReasons.text == "5 (identityAmbiguous 1, identityNotFound 4)")
        #expect(rehearsal.server.searches.count { $0.hasSuffix("nobody") } == 1)
        // Somebody registers the device: what was put aside can be sent.
        register(rehearsal, "Device", "D5", "nobody", patient: "Patient/P2")
        rehearsal.time.advance(seconds: 60)
        for entry in aside where entry.resource.contains("nobody") { rehearsal.outbox.add(entry.bytes) }
        rehearsal.run()
        #expect(reference(rehearsal, "nobody-2", "subject") == "Patient/P2")
    }

    @Test func anEncounterCanBeDemanded() throws {
        let rehearsal = try rehearsal(
            [TestRow.transaction([Reading("a", 1), Reading("a", 2, encounter: "e")])], .lookupWithEncounter)
        rehearsal.run()
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.identityNotDefined])
        #expect(rehearsal.values.keys.sorted() == ["a-2"] && rehearsal.outbox.isSettled)
    }

    @Test func searchesThatFailAreRepeated() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1)])])
        rehearsal.server.steps = [.status(503), .fail(.timeout), .cut, .status(429)]
        rehearsal.run()
        #expect(rehearsal.values.count == 1 && rehearsal.outbox.undeliverable.isEmpty)
        #expect(rehearsal.server.searches.count == 5)
    }

    @Test func theCacheIsBounded() {
        var cache = IdentityCache(lifetime: 600 * 1_000_000_000)
        let now = Instant(seconds: 1_000_000)
        func query(_ number: Int) -> IdentityQuery {
            IdentityQuery(device: ServerIdentifier(type: "Device", system: "", value: "\(number)"))
        }
        for number in 0..<cache.capacity {
            let identity = ResolvedIdentity(device: IdentifierText("\(number)"))
            cache.keep(.success(identity), of: query(number), asked: now, now: now)
        }
        let later = now.advanced(by: 1_000_000_000)
        #expect(cache.find(query(0), now: later) != nil)
        cache.keep(.success(ResolvedIdentity(device: "x")), of: query(-1), asked: later, now: later)
        #expect(cache.count <= cache.capacity)
        #expect(cache.find(query(-1), now: later) != nil)
    }

    @Test func answersAgeFromWhenTheyWereAskedFor() {
        var cache = IdentityCache(lifetime: 600 * 1_000_000_000)
        let made = Instant(seconds: 1_000_000)
        let query = IdentityQuery(device: ServerIdentifier(type: "Device", system: "", value: "a"))
        cache.keep(.success(ResolvedIdentity(device: "1")), of: query, asked: made, now: made)
        // Use does not make an answer younger.
        for minute in 0..<10 {
            let now = made.advanced(by: Int64(minute) * 60 * 1_000_000_000)
            #expect(cache.find(query, now: now) != nil)
            #expect(cache.oldest(now: now) == made)
        }
        #expect(cache.find(query, now: made.advanced(by: 600 * 1_000_000_000)) == nil)
        #expect(cache.oldest(now: made.advanced(by: 600 * 1_000_000_000)) == nil)
    }

    // MARK: As the reference system

    private func compatible(_ rows: [String]) throws -> DeliveryRehearsal {
        try rehearsal(rows, .create) { $0.compatibility = .iomtFHIR }
    }

    @Test func makesWhatIsMissingUnderDigests() throws {
        let rehearsal = try compatible([TestRow.transaction([Reading("new", 1, 10, patient: "p")])])
        rehearsal.run()
        let patient = Digest256.openSSL.resourceID(system: "urn:kymograph:patient", value: "p")
        let device = Digest256.openSSL.resourceID(system: "urn:kymograph:device", value: "new")
        #expect(rehearsal.server.resources["Patient/\(patient)"] != nil)
        let made = try #require(rehearsal.server.resources["Device/\(device)"])
        #expect((made["patient"] as? [String: String])?["reference"] == "Patient/\(patient)")
        #expect(rehearsal.values == ["new-1": 10] && rehearsal.outbox.isSettled)
    }

    @Test func mergesIntoWhatTheServerHolds() throws {
        let rehearsal = try compatible([TestRow.transaction([Reading("a", 1, 10)])])
        rehearsal.run()
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 1, 20)]))
        rehearsal.run()
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 1, 20)]))
        rehearsal.run()
        let observations = rehearsal.server.resources.filter { $0.key.hasPrefix("Observation/") }
        #expect(observations.count == 1 && rehearsal.values == ["a-1": 20])
        #expect(observations.first?.value["status"] as? String == "amended")
        #expect((observations.first?.value["meta"] as? [String: String])?["versionId"] == "2")
        #expect(rehearsal.outbox.receipts.count == 3 && rehearsal.outbox.isSettled)
    }

    /// What was never final is not amended: it is merged and stays preliminary, until one comes that is final, also
    /// with the same values.
    @Test(arguments: [(30, "final"), (20, "final"), (30, "amended"), (20, "amended")])
    func whatIsPreliminaryStaysSo(last: Int, status: String) throws {
        func row(_ value: Int, _ status: String) -> String {
            TestRow.transaction([Reading("a", 1, value)]).replacing("\"final\"", with: "\"\(status)\"")
        }
        let rehearsal = try compatible([row(10, "preliminary")])
        let steps = [
            (20, "preliminary", "preliminary"), (last, status, status), (last, status, status),
            (40, "final", "amended"),
        ]
        for (value, status, expected) in steps {
            rehearsal.run()
            rehearsal.outbox.add(row(value, status))
            rehearsal.run()
            let observations = rehearsal.server.resources.filter { $0.key.hasPrefix("Observation/") }
            #expect(observations.count == 1 && rehearsal.values == ["a-1": value])
            #expect(observations.first?.value["status"] as? String == expected)
        }
    }

    @Test func aLostAnswerMakesNoSecondObservation() throws {
        let rehearsal = try compatible([TestRow.transaction([Reading("a", 1, 10)])])
        // Search of the device, search of the Observation, its creation.
        rehearsal.server.steps = [.pass, .pass, .lose(.lost)]
        rehearsal.run()
        #expect(rehearsal.server.resources.count == 3 && rehearsal.outbox.isSettled)
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 1, 20)]))
        rehearsal.server.steps = [.lose(.timeout)]
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 20] && rehearsal.outbox.isSettled)
        #expect(rehearsal.server.resources.count == 3)
    }

    @Test func aMissingPatientIsAReason() throws {
        let rehearsal = try compatible([TestRow.transaction([Reading("new", 1)])])
        rehearsal.run()
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.identityNotDefined])
        #expect(rehearsal.server.resources.count == 2)
    }

    @Test func namesOfModes() {
        for name in ["Create", "create", "R4DeviceAndPatientCreateIdentityService"] {
            #expect(ResourceIdentityMode(name: name) == .create)
        }
        for name in ["Lookup", "lookup", "R4DeviceAndPatientLookupIdentityService"] {
            #expect(ResourceIdentityMode(name: name) == .lookup)
        }
        for name in ["LookupWithEncounter", "R4DeviceAndPatientWithEncounterLookupIdentityService"] {
            #expect(ResourceIdentityMode(name: name) == .lookupWithEncounter)
        }
        #expect(ResourceIdentityMode(name: "") == nil && ResourceIdentityMode(name: "guess") == nil)
    }
}
