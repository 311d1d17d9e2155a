import Foundation
import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// References arrive wherever they are in a resource, and with what they refer to.
@Suite struct DeliveryReferenceTests {
    private typealias Resource = MemoryServer.Resource

    private func rehearsal(
        _ identity: ResourceIdentityMode = .create, _ change: (inout DeliverySettings) -> Void = { _ in },
        rows: (inout ReferringRow) -> Void...
    ) throws -> DeliveryRehearsal {
        var texts: [String] = []
        for fill in rows {
            var row = ReferringRow()
            fill(&row)
            texts.append(row.text)
        }
        return try DeliveryRehearsal(texts, identity: identity, change)
    }

    /// The one resource of a type with this value as identifier.
    private func stored(_ rehearsal: DeliveryRehearsal, _ type: String, _ value: String) throws -> Resource {
        let found = rehearsal.server.resources.filter { key, resource in
            let identifiers = resource["identifier"] as? [[String: String]] ?? []
            return key.hasPrefix("\(type)/") && identifiers.contains { $0["value"] == value }
        }
        #expect(found.count == 1, "\(type) \(value)")
        return try #require(found.first?.value)
    }

    private func text(_ resource: Resource) -> String {
        let data = try? JSONSerialization.data(
            withJSONObject: resource, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// Halved to the last entry, a bundle has what its entries point to, and Devices keep what was said of them.
    @Test(arguments: [4, 5, 9]) func entriesKeepWhatTheyReferTo(largest: Int) throws {
        let rehearsal = try rehearsal(
            rows: { row in
                row.describe("a", serial: "S1")
                for number in 1...5 { row.administer("a", number) }
                for number in 1...5 { row.tell("b", number) }
            },
            { row in
                row.tell("a", 9)
                row.flag("p", 9)
            },
            { row in
                row.describe("a", serial: "S2")
                row.administer("a", 10)
            })
        rehearsal.server.largestBundle = largest
        rehearsal.run(seconds: 60)
        #expect(rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty)
        #expect(try stored(rehearsal, "Device", "a")["serialNumber"] as? String == "S2")
        let all = rehearsal.server.resources.values.map(text).joined()
        #expect(!all.contains("urn:uuid:") && !all.contains("missing"))
        #expect(rehearsal.server.resources.keys.count { $0.hasPrefix("MedicationAdministration/") } == 6)
        #expect(rehearsal.server.resources.keys.count { $0.hasPrefix("Device/") } == 3)
        let device = try #require(try stored(rehearsal, "Device", "a")["id"] as? String)
        let given = text(try stored(rehearsal, "MedicationAdministration", "a-3"))
        #expect(given.contains(#""device":[{"reference":"Device/\#(device)"}]"#))
        // A receipt for each entry of each row, and no more.
        let receipts = rehearsal.outbox.receipts.map { "\($0.row) \($0.resource)" }
        #expect(receipts.count == Set(receipts).count)
        #expect(receipts.count { $0.contains("Device?identifier=urn:kymograph:device%7Ca") } == 2)
    }

    /// A server without transactions gets references by identifier everywhere, with what else they say.
    @Test(arguments: [FHIRVersion.r4, .stu3]) func batchesReferByIdentifier(version: FHIRVersion) throws {
        let rehearsal = try rehearsal(
            .create, { $0.version = version },
            rows: { row in
                row.describe("a", serial: "S1")
                row.administer("a", 1)
                row.tell("a", 2)
            })
        rehearsal.server.version = version == .stu3 ? "3.0.2" : "4.0.1"
        rehearsal.server.interactions = ["batch"]
        rehearsal.run(seconds: 60)
        #expect(rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty)
        let sent = rehearsal.server.bundles.map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(!sent.contains("urn:uuid:"))
        let type = version == .stu3 ? "" : #","type":"Device""#
        let told = text(try stored(rehearsal, "Communication", "a-m2"))
        let named = #""identifier":{"system":"urn:kymograph:device","value":"a"}\#(type)"#
        #expect(told.contains(#""sender":{"display":"of the ward",\#(named)}"#))
        #expect(told.contains(#""valueReference":{"identifier":{"system":"\#(ReferringRow.gatewaySystem)""#))
        let given = text(try stored(rehearsal, "MedicationAdministration", "a-1"))
        #expect(given.contains(#""device":[{\#(named)}]"#))
        #expect(try stored(rehearsal, "Device", "a")["serialNumber"] as? String == "S1")
        #expect(rehearsal.server.resources.count == 6)
    }

    /// What a server says against a description neither keeps the readings away nor leaves them without Device.
    @Test(arguments: [true, false]) func aDescriptionThatIsRefused(isTransaction: Bool) throws {
        var row = ReferringRow(isTransaction: isTransaction)
        row.describe("a", serial: "S1")
        for number in 1...3 { row.administer("a", number) }
        let rehearsal = try DeliveryRehearsal([row.text])
        rehearsal.server.refusal = { $0["serialNumber"] == nil ? nil : (422, "invariant") }
        rehearsal.run(seconds: 60)
        #expect(rehearsal.outbox.isSettled)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.serverRefused])
        #expect(rehearsal.server.resources.keys.count { $0.hasPrefix("MedicationAdministration/") } == 3)
        #expect(try stored(rehearsal, "Device", "a")["serialNumber"] == nil)
        // Sent again, it is the Device that is there.
        rehearsal.server.refusal = { _ in nil }
        for entry in rehearsal.outbox.undeliverable { rehearsal.outbox.add(entry.bytes) }
        rehearsal.run(seconds: 60)
        #expect(try stored(rehearsal, "Device", "a")["serialNumber"] as? String == "S1")
    }

    @Test func idsAreAskedForByType() throws {
        let rehearsal = try rehearsal(rows: { row in
            row.administer("a", 1)
            row.tell("a", 2)
        })
        // The server says it of Observations only.
        rehearsal.run(seconds: 60)
        let entries = rehearsal.server.bundles.map(DeliveryRehearsal.entries).joined()
        #expect(entries.contains("PUT MedicationAdministration?identifier=urn:kymograph:resource%7Ca-1"))
        #expect(entries.contains("PUT Communication?identifier=urn:kymograph:resource%7Ca-m2"))
        #expect(rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty)
        _ = try stored(rehearsal, "MedicationAdministration", "a-1")
    }

    // MARK: Registered devices

    private func register(
        _ rehearsal: DeliveryRehearsal, _ type: String, _ id: String, _ system: String, _ value: String,
        patient: String? = nil
    ) {
        var resource: Resource = [
            "resourceType": type, "id": id, "meta": ["versionId": "1"], "note": "of the server",
            "identifier": [["system": system, "value": value]],
        ]
        if let patient { resource["patient"] = ["reference": "Patient/\(patient)"] }
        rehearsal.server.resources["\(type)/\(id)"] = resource
    }

    private func registerAll(_ rehearsal: DeliveryRehearsal) {
        register(rehearsal, "Device", "D1", "urn:kymograph:device", "a", patient: "P1")
        register(rehearsal, "Device", "G1", ReferringRow.gatewaySystem, "gate")
        register(rehearsal, "Patient", "P1", "urn:kymograph:patient", "p")
        register(rehearsal, "Patient", "P2", "urn:kymograph:patient", "q")
    }

    @Test(arguments: [true, false]) func everyReferenceIsToWhatIsRegistered(isTransaction: Bool) throws {
        var row = ReferringRow(isTransaction: isTransaction)
        row.administer("a", 1)
        row.tell("a", 2)
        row.flag("q", 3)
        row.flag("nobody", 4)
        let rehearsal = try DeliveryRehearsal([row.text], identity: .lookup)
        registerAll(rehearsal)
        rehearsal.run(seconds: 60)
        #expect(rehearsal.outbox.isSettled)
        #expect(
            rehearsal.outbox.undeliverable.map { "\($0.resource) \($0.reason)" } == ["Flag/nobody-4 identityNotFound"])
        let given = text(try stored(rehearsal, "MedicationAdministration", "a-1"))
        #expect(given.contains(#""device":[{"reference":"Device/D1"}]"#))
        #expect(given.contains(#""subject":{"reference":"Patient/P1"}"#))
        let told = text(try stored(rehearsal, "Communication", "a-m2"))
        #expect(told.contains(#""sender":{"display":"of the ward","reference":"Device/D1"}"#))
        #expect(told.contains(#""valueReference":{"reference":"Device/G1"}"#))
        #expect(told.contains(#""reason":[{"reference":{"reference":"Device/D1"}}]"#))
        #expect(text(try stored(rehearsal, "Flag", "q-3")).contains(#""subject":{"reference":"Patient/P2"}"#))
        #expect(rehearsal.server.resources.count == 7)
    }

    /// A description is added to the registered Device: whose it is stays, also when somebody else writes meanwhile.
    @Test func aDescriptionKeepsWhatTheServerSays() throws {
        let rehearsal = try rehearsal(
            .lookup,
            rows: { row in
                row.describe("a", serial: "S1")
                row.administer("a", 1)
                row.describe("stranger", serial: "S9")
            })
        registerAll(rehearsal)
        rehearsal.run(seconds: 60)
        #expect(rehearsal.outbox.isSettled)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.identityNotFound])
        let device = try stored(rehearsal, "Device", "a")
        #expect(device["serialNumber"] as? String == "S1" && device["note"] as? String == "of the server")
        #expect((device["patient"] as? [String: String])?["reference"] == "Patient/P1")
        // The server gives the device to another patient; the next description does not take it back.
        register(rehearsal, "Device", "D1", "urn:kymograph:device", "a", patient: "P7")
        var row = ReferringRow()
        row.describe("a", serial: "S2")
        rehearsal.outbox.add(row.text)
        rehearsal.server.steps = [.pass, .status(412)]
        rehearsal.run(seconds: 120)
        let later = try stored(rehearsal, "Device", "a")
        #expect((later["patient"] as? [String: String])?["reference"] == "Patient/P7")
        #expect(later["serialNumber"] as? String == "S2" && rehearsal.outbox.isSettled)
    }

    @Test func encountersAreDemandedOfWhatIsAboutPatients() throws {
        let rehearsal = try rehearsal(
            .lookupWithEncounter,
            rows: { row in
                row.describe("a", serial: "S1")
                row.administer("a", 1)
            })
        registerAll(rehearsal)
        rehearsal.run(seconds: 60)
        #expect(rehearsal.outbox.undeliverable.map(\.resource) == ["MedicationAdministration/a-1"])
        #expect(try stored(rehearsal, "Device", "a")["serialNumber"] as? String == "S1")
    }

    // MARK: As the reference system

    @Test func otherResourcesAreReplacedAndNotAmended() throws {
        let rehearsal = try rehearsal(
            .create, { $0.compatibility = .iomtFHIR },
            rows: { row in
                row.describe("b", serial: "S1")
                row.administer("b", 1, status: "in-progress")
            },
            { row in
                row.administer("b", 1)
                row.flag("p", 2)
            })
        rehearsal.run(seconds: 60)
        #expect(rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty)
        #expect(try stored(rehearsal, "MedicationAdministration", "b-1")["status"] as? String == "completed")
        #expect(try stored(rehearsal, "Flag", "p-2")["status"] as? String == "active")
        let device = try stored(rehearsal, "Device", "b")
        #expect(device["serialNumber"] as? String == "S1")
        let patient = try stored(rehearsal, "Patient", "p")["id"] as? String ?? ""
        #expect((device["patient"] as? [String: String])?["reference"] == "Patient/\(patient)")
    }
}
