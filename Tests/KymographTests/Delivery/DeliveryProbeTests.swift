import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// What a server says about itself decides what it gets.
@Suite struct DeliveryProbeTests {
    private typealias Reading = TestRow.Reading
    private let row = TestRow.transaction([TestRow.Reading("a", 1, 10, encounter: "e")])

    @Test func saysWhatItFound() throws {
        let rehearsal = try DeliveryRehearsal([row])
        #expect(rehearsal.engine.status.circuit == .probing)
        rehearsal.run()
        #expect(
            rehearsal.engine.status.verdict
                == "http://server/fhir: FHIR 4.0.1, Memory 1; transactions; updates by id")
    }

    @Test func refusesAnotherVersion() throws {
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.server.version = "5.0.0"
        rehearsal.run(seconds: 50)
        #expect(rehearsal.engine.status.circuit == .refused && rehearsal.server.bundles.isEmpty)
        #expect(
            rehearsal.engine.status.verdict
                == "http://server/fhir is FHIR R5 (5.0.0), the output is R4: set output.fhirVersion to R5, or take "
                + "another server")
        // Somebody mends the server.
        rehearsal.server.version = "4.3.0"
        rehearsal.run(seconds: 100)
        #expect(rehearsal.outbox.isSettled && rehearsal.engine.status.circuit == .closed)
    }

    @Test func refusesWhatIsNoServer() throws {
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.server.version = ""
        rehearsal.run(seconds: 50)
        #expect(rehearsal.engine.status.verdict.contains("is it the base URL of the server?"))
        let other = try DeliveryRehearsal([row])
        other.server.interactions = []
        other.run(seconds: 50)
        #expect(other.engine.status.verdict.contains("neither transactions nor batches"))
        #expect(other.server.bundles.isEmpty)
    }

    @Test func updatesByIdentifierWhereIDsAreTheServers() throws {
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.server.updateCreate = false
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 1, 20)]))
        rehearsal.run()
        let entries = rehearsal.server.bundles.map(DeliveryRehearsal.entries).joined()
        #expect(entries.contains("PUT Observation?identifier=urn:kymograph:observation%7C.a-1"))
        #expect(!String(decoding: rehearsal.server.bundles[0].body, as: UTF8.self).contains(#""id":"#))
        #expect(rehearsal.values == ["a-1": 20])
        // The receipt names what we call it, and says where it is.
        let receipt = try #require(rehearsal.outbox.receipts.first { $0.resource == "Observation/a-1" })
        #expect(receipt.location.hasPrefix("Observation/") && receipt.location != receipt.resource)
    }

    @Test func settingsStandAgainstTheStatement() throws {
        let rehearsal = try DeliveryRehearsal([row]) { $0.updateCreate = false }
        rehearsal.run()
        #expect(DeliveryRehearsal.entries(rehearsal.server.bundles[0]).last?.hasPrefix("PUT Observation?") == true)
    }

    @Test func sendsBatchesWhereThereAreNoTransactions() throws {
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.server.interactions = ["batch"]
        rehearsal.run()
        let body = String(decoding: rehearsal.server.bundles[0].body, as: UTF8.self)
        #expect(!body.contains("urn:uuid:") && !body.contains("fullUrl") && body.contains(#""type":"batch""#))
        let observation = try #require(rehearsal.server.resources["Observation/a-1"])
        let subject = try #require(observation["subject"] as? [String: Any])
        #expect(subject["type"] as? String == "Patient")
        #expect((subject["identifier"] as? [String: String])?["value"] == "a")
        #expect((observation["encounter"] as? [String: Any])?["identifier"] != nil)
        #expect(rehearsal.server.resources.count == 3 && rehearsal.outbox.isSettled)
    }

    @Test func versionThreeHasNoTypeInReferences() throws {
        let rehearsal = try DeliveryRehearsal([row]) { $0.version = .stu3 }
        rehearsal.server.version = "3.0.2"
        rehearsal.server.interactions = ["batch"]
        rehearsal.run()
        let observation = try #require(rehearsal.server.resources["Observation/a-1"])
        #expect((observation["subject"] as? [String: Any])?["type"] == nil)
        #expect(rehearsal.server.bundles[0].headers[0].value == "application/fhir+json; fhirVersion=3.0")
    }

    @Test func waitsForAServerThatIsNotThereYet() throws {
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.authorizer.failure = AuthorizationFailure(isRetriable: true, "not yet")
        rehearsal.run(seconds: 300)
        #expect(rehearsal.server.requests.isEmpty && rehearsal.engine.status.lastError == "not yet")
        rehearsal.authorizer.failure = nil
        rehearsal.run(seconds: 600)
        #expect(rehearsal.outbox.isSettled)
    }
}
