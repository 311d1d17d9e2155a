import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Observations that are stored one by one, as the reference system does, on servers that compare less than all.
@Suite struct DeliverySavingTests {
    private typealias Reading = TestRow.Reading

    private func rehearsal(_ rows: [String]) throws -> DeliveryRehearsal {
        let rehearsal = try DeliveryRehearsal(rows, identity: .create) { $0.compatibility = .iomtFHIR }
        rehearsal.server.resources["Device/D1"] = [
            "resourceType": "Device", "id": "D1", "meta": ["versionId": "1"],
            "identifier": [["system": "urn:kymograph:device", "value": "a"]], "patient": ["reference": "Patient/P1"],
        ]
        return rehearsal
    }

    /// A server that takes another Observation for the one that is to be made makes none.
    @Test func whatAServerDoesNotMakeIsNoDelivery() throws {
        let rehearsal = try rehearsal([
            TestRow.transaction([Reading("a", 1, 10)]), TestRow.transaction([Reading("a", 1, 20)]),
        ])
        rehearsal.server.finds = { $1.hasPrefix($0) }
        rehearsal.server.resources["Observation/o10"] = [
            "resourceType": "Observation", "id": "o10", "meta": ["versionId": "1"], "status": "final",
            "identifier": [["system": "urn:kymograph:observation", "value": ".a-10"]],
            "valueQuantity": ["value": 7],
        ]
        rehearsal.run()
        #expect(rehearsal.values == ["a-10": 7] && rehearsal.outbox.isSettled)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.identityAmbiguous, .identityAmbiguous])
        #expect(rehearsal.outbox.receipts.isEmpty)
        #expect(rehearsal.outbox.undeliverable.first?.detail.contains("takes another Observation for") == true)
    }

    /// Texts of other bytes are another content, although Unicode calls them equivalent.
    @Test func contentIsComparedByBytes() throws {
        let rows = ["Bj\\u00F6rn", "Bjo\\u0308rn"].map { text in
            TestRow.transaction([Reading("a", 1)]).replacing(
                #""valueQuantity":{"value":1}"#, with: #""valueString":"\#(text)""#)
        }
        let rehearsal = try rehearsal(rows)
        rehearsal.run()
        let stored = try #require(rehearsal.server.resources.first { $0.key.hasPrefix("Observation/") }?.value)
        let text = try #require(stored["valueString"] as? String)
        #expect(text.utf8.elementsEqual("Bjo\u{308}rn".utf8))
        #expect((stored["meta"] as? [String: String])?["versionId"] == "2")
    }
}
