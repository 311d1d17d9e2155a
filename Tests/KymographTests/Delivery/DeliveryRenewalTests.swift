import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Bundles that wait for a server while a device is given to another patient there.
@Suite struct DeliveryRenewalTests {
    private typealias Reading = TestRow.Reading

    /// What a server does that has surely stored nothing.
    static let outages: [MemoryServer.Step] = [.fail(.unreachable), .fail(.security), .status(503), .status(500)]

    private func rehearsal(
        _ readings: [Reading] = [Reading("a", 1)], _ change: (inout DeliverySettings) -> Void = { _ in }
    ) throws -> DeliveryRehearsal {
        let rehearsal = try DeliveryRehearsal([TestRow.transaction(readings)], identity: .lookup, change)
        register(rehearsal, "P1")
        return rehearsal
    }

    private func register(_ rehearsal: DeliveryRehearsal, device: String = "a", _ patient: String) {
        rehearsal.server.resources["Device/D\(device)"] = [
            "resourceType": "Device", "id": "D\(device)", "meta": ["versionId": "1"],
            "identifier": [["system": "urn:kymograph:device", "value": device]],
            "patient": ["reference": "Patient/\(patient)"],
        ]
    }

    private func subjects(_ rehearsal: DeliveryRehearsal) -> [String] {
        rehearsal.server.resources.filter { $0.key.hasPrefix("Observation/") }.sorted { $0.key < $1.key }.map {
            ($0.value["subject"] as? [String: Any])?["reference"] as? String ?? ""
        }
    }

    /// Patient `P2` gets the device, and the server works again.
    private func handOver(_ rehearsal: DeliveryRehearsal) {
        register(rehearsal, "P2")
        rehearsal.engine.forgetLookups()
        rehearsal.server.otherwise = nil
        rehearsal.run()
    }

    @Test(arguments: outages.indices) func anOutageKeepsNoIdsForLong(outage: Int) throws {
        let rehearsal = try rehearsal()
        rehearsal.server.otherwise = { $0.method == "POST" ? Self.outages[outage] : .pass }
        rehearsal.run(seconds: 60)
        register(rehearsal, "P2")
        rehearsal.run(seconds: 700)
        rehearsal.server.otherwise = nil
        rehearsal.run()
        #expect(subjects(rehearsal) == ["Patient/P2"] && rehearsal.outbox.isSettled)
        #expect(rehearsal.server.searches.count == 2)
        #expect(rehearsal.outbox.receipts.first?.attempts == rehearsal.server.bundles.count)
    }

    @Test func whatWaitsIsAskedForAgainOnDemand() throws {
        let rehearsal = try rehearsal()
        rehearsal.server.otherwise = { $0.method == "POST" ? .status(503) : .pass }
        rehearsal.run(seconds: 30)
        handOver(rehearsal)
        #expect(subjects(rehearsal) == ["Patient/P2"] && rehearsal.outbox.isSettled)
    }

    /// What may have been stored is sent again as it was: it must not go from one patient to another.
    @Test(arguments: [HTTPFailure.Kind.lost, .timeout]) func whatMayBeStoredStaysWhoseItWas(
        kind: HTTPFailure.Kind
    ) throws {
        let rehearsal = try rehearsal()
        rehearsal.server.steps = [.pass, .lose(kind)]
        rehearsal.server.otherwise = { $0.method == "POST" ? .status(503) : .pass }
        rehearsal.run(seconds: 700)
        handOver(rehearsal)
        #expect(subjects(rehearsal) == ["Patient/P1"] && rehearsal.outbox.isSettled)
    }

    /// The same of one entry of a batch, which its server stores although it says that it has failed at it, or is late;
    /// what it has surely not stored goes to whose it is.
    @Test(arguments: [(408, "P1"), (500, "P1"), (502, "P1"), (504, "P1"), (429, "P2"), (501, "P2"), (503, "P2")])
    func anEntryThatMayBeStoredStaysWhoseItWas(status: Int, owner: String) throws {
        let rehearsal = try DeliveryRehearsal([TestRow.batch([Reading("a", 1)])], identity: .lookup)
        register(rehearsal, "P1")
        rehearsal.server.otherwise = { $0.method == "POST" ? .entries([0: status]) : .pass }
        rehearsal.run(seconds: 700)
        handOver(rehearsal)
        #expect(subjects(rehearsal) == ["Patient/\(owner)"] && rehearsal.outbox.isSettled)
    }

    /// A device that is gone takes its entries out of the bundle; the others are delivered, in their order.
    @Test func whatHasNoOwnerAnyMoreLeavesTheBundle() throws {
        let rehearsal = try rehearsal([Reading("a", 1), Reading("b", 1), Reading("a", 2), Reading("b", 2)])
        register(rehearsal, device: "b", "P3")
        rehearsal.server.otherwise = { $0.method == "POST" ? .fail(.unreachable) : .pass }
        rehearsal.run(seconds: 60)
        rehearsal.server.resources["Device/Db"] = nil
        rehearsal.run(seconds: 700)
        rehearsal.server.otherwise = nil
        rehearsal.run()
        #expect(rehearsal.values.keys.sorted() == ["a-1", "a-2"] && rehearsal.outbox.isSettled)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.identityNotFound, .identityNotFound])
        #expect(rehearsal.outbox.undeliverable.map(\.resource).sorted() == ["Observation/b-1", "Observation/b-2"])
    }

    /// What the server fails at is still put aside in the end, although its ids are asked for again and again.
    @Test func whatIsToBlameIsGivenUpAllTheSame() throws {
        let rehearsal = try DeliveryRehearsal.failing(
            (0..<200).map { TestRow.transaction([Reading("a", $0, $0 == 0 ? 999 : 1)]) }
        ) {
            $0.identity = .lookup
            $0.identityMaxAge = 20_000_000_000
        }
        register(rehearsal, "P1")
        for _ in 0..<400 {
            rehearsal.run(seconds: rehearsal.seconds + 10)
            rehearsal.outbox.add(TestRow.transaction([Reading("b", 1)]))
            register(rehearsal, device: "b", "P1")
        }
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.serverFailed])
        #expect(rehearsal.values.count == 200)
    }

    /// Observations that are stored one by one, as the reference system does.
    @Test func whatIsStoredAloneIsAskedForAgainToo() throws {
        let rehearsal = try rehearsal { $0.compatibility = .iomtFHIR }
        rehearsal.server.otherwise = { $0.method == "POST" ? .status(503) : .pass }
        rehearsal.run(seconds: 60)
        register(rehearsal, "P2")
        rehearsal.run(seconds: 700)
        rehearsal.server.otherwise = nil
        rehearsal.run()
        #expect(subjects(rehearsal) == ["Patient/P2"] && rehearsal.outbox.isSettled)
    }
}
