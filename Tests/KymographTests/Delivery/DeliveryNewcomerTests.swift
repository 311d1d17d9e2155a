import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Patients and Devices that bundles bring, on servers whose search finds more than was asked for.
@Suite struct DeliveryNewcomerTests {
    private typealias Reading = TestRow.Reading

    private func rehearsal(
        _ rows: [String], _ finds: @escaping (_ asked: String, _ own: String) -> Bool = { $0 == $1 }
    ) throws -> DeliveryRehearsal {
        let rehearsal = try DeliveryRehearsal(rows, identity: .create, checks: true)
        rehearsal.server.finds = finds
        return rehearsal
    }

    private static func ignoringCase(_ asked: String, _ own: String) -> Bool { asked.lowercased() == own.lowercased() }
    private static func byBeginning(_ asked: String, _ own: String) -> Bool { own.hasPrefix(asked) }

    private func register(_ rehearsal: DeliveryRehearsal, _ type: String, _ id: String, _ value: String) {
        rehearsal.server.resources["\(type)/\(id)"] = [
            "resourceType": type, "id": id, "meta": ["versionId": "1"],
            "identifier": [["system": "urn:kymograph:\(type.lowercased())", "value": value]],
        ]
    }

    private func refusals(_ rehearsal: DeliveryRehearsal) -> [String] {
        rehearsal.outbox.undeliverable.map { "\($0.resource) \($0.reason.name)" }
    }

    private func link(_ rehearsal: DeliveryRehearsal, _ id: String, _ member: String) -> String? {
        (rehearsal.server.resources["Observation/\(id)"]?[member] as? [String: Any])?["reference"] as? String
    }

    @Test(arguments: [true, false]) func aServerThatIgnoresCaseLinksNobodyElse(isTransaction: Bool) throws {
        let readings = [
            Reading("abc-1", 1, patient: "p"), Reading("x", 2, patient: "MARY"), Reading("x", 3, patient: "p"),
        ]
        let rehearsal = try rehearsal([TestRow.row(readings, isTransaction)], Self.ignoringCase)
        register(rehearsal, "Device", "D1", "ABC-1")
        register(rehearsal, "Patient", "P1", "mary")
        rehearsal.run()
        #expect(
            refusals(rehearsal).sorted()
                == ["Observation/abc-1-1 identityAmbiguous", "Observation/x-2 identityAmbiguous"])
        #expect(rehearsal.values.keys.sorted() == ["x-3"] && rehearsal.outbox.isSettled)
        let detail = rehearsal.outbox.undeliverable.first?.detail ?? ""
        #expect(detail.contains("takes another"), "\(detail)")
        // Nothing was made of what was put aside.
        let types = rehearsal.server.resources.keys.map { $0.split(separator: "/")[0] }
        #expect(types.count { $0 == "Device" } == 2 && types.count { $0 == "Patient" } == 2)
    }

    /// An Observation that the server has is delivered, whatever a later search finds for its Patient, which it had no
    /// room for at first, and whatever it answers to the same once more.
    @Test(arguments: [200, 422]) func whatIsStoredIsNotPutAside(later: Int) throws {
        let rehearsal = try rehearsal([TestRow.batch([Reading("a", 1, patient: "p")])])
        // Places: Patient, Device, a-1.
        rehearsal.server.otherwise = { $0.method == "POST" ? .entries([0: 503]) : .pass }
        rehearsal.run(seconds: 30)
        #expect(rehearsal.values == ["a-1": 1] && !rehearsal.outbox.isSettled)
        register(rehearsal, "Patient", "P1", "p")
        register(rehearsal, "Patient", "P2", "p")
        rehearsal.engine.forgetLookups()
        rehearsal.server.otherwise = { $0.method == "POST" && later != 200 ? .entries([1: later]) : .pass }
        rehearsal.run(seconds: 7_200)
        #expect(rehearsal.outbox.isSettled)
        #expect(refusals(rehearsal).filter { $0.hasPrefix("Observation") }.isEmpty, "\(refusals(rehearsal))")
        let receipts = rehearsal.outbox.receipts.filter { $0.resource == "Observation/a-1" }
        // It was there when the batch was sent again.
        #expect(receipts.map(\.status) == [200])
    }

    /// The foreign ones are on any page.
    @Test(arguments: [1, 2, 50]) func aServerThatFindsBeginningsLinksNobodyElse(pageSize: Int) throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("bed-1", 1)])], Self.byBeginning)
        rehearsal.server.pageSize = pageSize
        register(rehearsal, "Device", "D0", "bed-1")
        register(rehearsal, "Device", "D1", "bed-10")
        rehearsal.run()
        #expect(refusals(rehearsal) == ["Observation/bed-1-1 identityAmbiguous"] && rehearsal.values.isEmpty)
    }

    @Test func whatIsThereIsLinked() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("abc-1", 1, patient: "p")])], Self.ignoringCase)
        register(rehearsal, "Device", "D1", "abc-1")
        register(rehearsal, "Patient", "P1", "p")
        rehearsal.run()
        #expect(link(rehearsal, "abc-1-1", "device") == "Device/D1")
        #expect(link(rehearsal, "abc-1-1", "subject") == "Patient/P1")
    }

    /// Two that the server takes for one are both new to it, in one row or in two, whoever comes first.
    @Test(arguments: [("abc-1", "ABC-1"), ("bed-10", "bed-1")], [true, false]) func ofTwoNewOnesOneIsMade(
        devices: (String, String), isOneRow: Bool
    ) throws {
        let readings = [
            Reading(devices.0, 1, patient: "p"), Reading(devices.1, 2, patient: "q"),
            Reading(devices.0, 3, patient: "p"), Reading(devices.1, 4, patient: "q"),
        ]
        let rows = isOneRow ? [TestRow.transaction(readings)] : readings.map { TestRow.transaction([$0]) }
        let rehearsal = try rehearsal(rows) { Self.ignoringCase($0, $1) || Self.byBeginning($0, $1) }
        rehearsal.run()
        #expect(rehearsal.values.keys.sorted() == ["\(devices.0)-1", "\(devices.0)-3"])
        #expect(
            refusals(rehearsal)
                == ["Observation/\(devices.1)-2 identityAmbiguous", "Observation/\(devices.1)-4 identityAmbiguous"])
        #expect(link(rehearsal, "\(devices.0)-1", "device") == link(rehearsal, "\(devices.0)-3", "device"))
    }

    /// On a server that compares all, names that look alike are as many devices.
    @Test func aServerThatComparesAllGetsAll() throws {
        let devices = ["abc-1", "ABC-1", "abc-10", "abc-100", "Bj\u{F6}rn", "Bjorn"]
        let rehearsal = try rehearsal([TestRow.transaction(devices.enumerated().map { Reading($1, $0) })])
        rehearsal.run()
        #expect(rehearsal.values.count == 6 && rehearsal.outbox.undeliverable.isEmpty)
        #expect(rehearsal.server.resources.keys.count { $0.hasPrefix("Device/") } == 6)
    }

    /// One search for each, and another one when its answer has aged.
    @Test func asksOncePerIdentifierAndAge() throws {
        let rehearsal = try rehearsal((1...30).map { TestRow.transaction([Reading("a", $0, patient: "p")]) })
        rehearsal.run()
        #expect(rehearsal.server.searches.count == 2 && rehearsal.values.count == 30)
        #expect(rehearsal.engine.status.lookups == 2)
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 31, patient: "p"), Reading("b", 32, patient: "p")]))
        rehearsal.run()
        #expect(rehearsal.server.searches.count == 3)
        rehearsal.time.advance(seconds: 601)
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 33, patient: "p")]))
        rehearsal.run()
        #expect(rehearsal.server.searches.count == 5)
        rehearsal.engine.forgetLookups()
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 34, patient: "p")]))
        rehearsal.run()
        #expect(rehearsal.server.searches.count == 7 && rehearsal.values.count == 34)
    }

    /// A device that is gone, while somebody registers another one that the server takes for it.
    @Test func anotherOneIsSeenInTime() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("abc-1", 1, patient: "p")])], Self.ignoringCase)
        rehearsal.run()
        let device = try #require(link(rehearsal, "abc-1-1", "device"))
        rehearsal.server.resources[device] = nil
        register(rehearsal, "Device", "D9", "ABC-1")
        rehearsal.time.advance(seconds: 601)
        rehearsal.outbox.add(TestRow.transaction([Reading("abc-1", 2, patient: "p")]))
        rehearsal.run()
        #expect(refusals(rehearsal) == ["Observation/abc-1-2 identityAmbiguous"])
    }

    /// While a bundle waits for the server, somebody registers a device that it takes for the bundle's.
    @Test func anotherOneIsSeenDuringAnOutage() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("abc-1", 1, patient: "p")])], Self.ignoringCase)
        rehearsal.server.otherwise = { $0.method == "POST" ? .fail(.unreachable) : .pass }
        rehearsal.run(seconds: 60)
        register(rehearsal, "Device", "D9", "ABC-1")
        rehearsal.run(seconds: 700)
        rehearsal.server.otherwise = nil
        rehearsal.run()
        #expect(refusals(rehearsal) == ["Observation/abc-1-1 identityAmbiguous"] && rehearsal.values.isEmpty)
    }

    /// In an outage, the request that would close the circuit is taken back, because the server is to be searched
    /// again: nothing is under way, and the search is sent at once. The thread asks for the status after every turn.
    @Test func theStatusCanBeReadWhileASearchIsRepeatedInAnOutage() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1, patient: "p")])])
        rehearsal.server.otherwise = { $0.method == "POST" ? .fail(.unreachable) : .pass }
        var attempts: [Instant?] = []
        while rehearsal.seconds < 700 {
            rehearsal.turn()
            let status = rehearsal.engine.status
            if status.circuit == .halfOpen, status.inFlight == 0 {
                attempts.append(status.nextAttempt)
                #expect(status.nextAttempt == rehearsal.time.now)
            }
            let wake = try #require(rehearsal.engine.nextWake)
            rehearsal.time.advance(to: max(wake, rehearsal.time.now.advanced(by: 1)))
        }
        #expect(!attempts.isEmpty)
    }

    @Test func searchesThatFailAreRepeated() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1, patient: "p")])])
        rehearsal.server.steps = [.status(503), .fail(.timeout), .cut, .status(429)]
        rehearsal.run()
        #expect(rehearsal.values.count == 1 && rehearsal.outbox.undeliverable.isEmpty)
    }

    /// A description of a Device is a conditional update: it would change another one.
    @Test func aDescriptionChangesNoOtherDevice() throws {
        var row = ReferringRow()
        row.describe("abc-1", serial: "7")
        let rehearsal = try rehearsal([row.text], Self.ignoringCase)
        register(rehearsal, "Device", "D1", "ABC-1")
        rehearsal.run()
        #expect(rehearsal.server.resources["Device/D1"]?["serialNumber"] == nil)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.identityAmbiguous])
    }
}
