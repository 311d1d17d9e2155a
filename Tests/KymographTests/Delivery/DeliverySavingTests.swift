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

    /// What a server answers to an update of what it does not have, instead of making it.
    private func refuseToMake(_ rehearsal: DeliveryRehearsal, _ status: Int, _ body: String) {
        rehearsal.server.otherwise = { [unowned server = rehearsal.server] request in
            let key = request.url.replacing("http://server/fhir/", with: "")
            let isRefused = request.method == "PUT" && server.resources[key] == nil
            return isRefused ? .status(status, [], body) : .pass
        }
    }

    private static let outcome = #"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"deleted"}]}"#

    /// An Observation that somebody deletes on the server is made anew by its next version.
    @Test(arguments: [404, 410]) func whatWasDeletedIsMadeAgain(status: Int) throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1, 10)])])
        rehearsal.run()
        let key = try #require(rehearsal.server.resources.keys.first { $0.hasPrefix("Observation/") })
        rehearsal.server.resources[key] = nil
        refuseToMake(rehearsal, status, Self.outcome)
        for value in [20, 30] {
            rehearsal.outbox.add(TestRow.transaction([Reading("a", 1, value)]))
            rehearsal.run(seconds: rehearsal.seconds + 60)
            #expect(rehearsal.values == ["a-1": value] && rehearsal.outbox.isSettled)
        }
        // One for the former id, and one for the new one.
        #expect(rehearsal.server.requests.count { $0.method == "PUT" } == 2)
        #expect(rehearsal.outbox.undeliverable.isEmpty && rehearsal.server.resources[key] == nil)
    }

    /// Nothing is made on the word of a proxy, or of a server that goes on to find what it says is gone.
    @Test(arguments: ["", outcome]) func whatIsFoundIsNotMadeAgain(body: String) throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1, 10)])])
        rehearsal.run()
        rehearsal.server.otherwise = { $0.method == "PUT" ? .status(404, [], body) : .pass }
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 1, 20)]))
        rehearsal.run(seconds: rehearsal.seconds + 1_800)
        #expect(rehearsal.values == ["a-1": 10] && !rehearsal.outbox.isSettled)
        #expect(rehearsal.server.requests.count { $0.method == "POST" } == 1)
        rehearsal.server.otherwise = nil
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 20] && rehearsal.outbox.isSettled)
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
