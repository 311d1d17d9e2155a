import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Panels, whose members are entries of the same row: what they say of them holds on the server, or is said by
/// identifier.
@Suite struct DeliveryPanelTests {
    /// A row with three members and their panel, as the bundle writer makes them.
    private func row(byID: Bool, isTransaction: Bool = true, version: FHIRVersion = .r4) -> String {
        let subject = #""subject":{"reference":"urn:uuid:p"},"device":{"reference":"urn:uuid:d"}"#
        let members = (1...3).map { isTransaction ? reference($0, byID: byID) : identifier($0) }
        let panel =
            version == .stu3
            ? "\"related\":[\(members.map { "{\"type\":\"has-member\",\"target\":\($0)}" }.joined(separator: ","))]"
            : "\"hasMember\":[\(members.joined(separator: ","))]"
        var entries = [resource("Patient", "p"), resource("Device", "d")]
        for number in 1...4 {
            let content = number < 4 ? "\"valueQuantity\":{\"value\":\(number)}" : panel
            let id = byID ? "\"id\":\"m\(number)\"," : ""
            let request =
                byID
                ? "{\"method\":\"PUT\",\"url\":\"Observation/m\(number)\"}"
                : "{\"method\":\"POST\",\"url\":\"Observation\",\"ifNoneExist\":\"identifier=urn:o|\(number)\"}"
            let fullURL = byID ? "" : "\"fullUrl\":\"urn:uuid:m\(number)\","
            entries.append(
                """
                {\(fullURL)"resource":{"resourceType":"Observation",\(id)"identifier":[{"system":"urn:o",\
                "value":"\(number)"}],"status":"final",\(subject),\(content)},"request":\(request)}
                """)
        }
        let type = isTransaction ? "transaction" : "batch"
        return "{\"resourceType\":\"Bundle\",\"type\":\"\(type)\",\"entry\":[\(entries.joined(separator: ","))]}\n"
    }

    private func reference(_ number: Int, byID: Bool) -> String {
        "{\"reference\":\"\(byID ? "Observation/m" : "urn:uuid:m")\(number)\"}"
    }

    private func identifier(_ number: Int) -> String {
        "{\"identifier\":{\"system\":\"urn:o\",\"value\":\"\(number)\"}}"
    }

    private func resource(_ type: String, _ name: String) -> String {
        """
        {"fullUrl":"urn:uuid:\(name)","resource":{"resourceType":"\(type)","identifier":[{"system":"urn:s",\
        "value":"\(name)"}]},"request":{"method":"POST","url":"\(type)","ifNoneExist":"identifier=urn:s|\(name)"}}
        """
    }

    /// What the panel on the server says of its members: their numbers, and whether by reference.
    private func members(_ rehearsal: DeliveryRehearsal) throws -> [(number: String, isReference: Bool)] {
        let observations = rehearsal.server.resources.filter { $0.key.hasPrefix("Observation/") }
        let panel = try #require(observations.values.first { $0["hasMember"] != nil || $0["related"] != nil })
        let list = try #require((panel["hasMember"] ?? panel["related"]) as? [[String: Any]])
        return try list.map { element in
            let member = element["target"] as? [String: Any] ?? element
            if let reference = member["reference"] as? String {
                let target = try #require(observations[reference], "\(reference)")
                return (number(of: target), true)
            }
            return ((member["identifier"] as? [String: String])?["value"] ?? "", false)
        }
    }

    private func number(of observation: [String: Any]) -> String {
        (observation["identifier"] as? [[String: String]])?.first?["value"] ?? ""
    }

    private func expectMembers(_ rehearsal: DeliveryRehearsal, areReferences: Bool) throws {
        let members = try members(rehearsal)
        #expect(members.map(\.number) == ["1", "2", "3"])
        #expect(members.allSatisfy { $0.isReference == areReferences }, "\(members)")
        #expect(rehearsal.outbox.undeliverable.isEmpty && rehearsal.outbox.isSettled)
    }

    @Test(arguments: [true, false], [FHIRVersion.r4, .stu3])
    func refersToWhatIsInTheBundle(byID: Bool, version: FHIRVersion) throws {
        let rehearsal = try DeliveryRehearsal([row(byID: byID, version: version)]) { $0.version = version }
        rehearsal.server.version = version == .r4 ? "4.0.1" : "3.0.2"
        rehearsal.run()
        try expectMembers(rehearsal, areReferences: true)
        #expect(rehearsal.server.bundles.count == 1)
    }

    /// In smaller bundles, an id is still that of the member, and a `fullUrl` is no more in the bundle.
    @Test(arguments: [true, false], [FHIRVersion.r4, .stu3])
    func refersToOtherBundles(byID: Bool, version: FHIRVersion) throws {
        let rehearsal = try DeliveryRehearsal([row(byID: byID, version: version)]) {
            $0.maxEntries = 4
            $0.version = version
        }
        rehearsal.server.version = version == .r4 ? "4.0.1" : "3.0.2"
        rehearsal.run()
        try expectMembers(rehearsal, areReferences: byID)
        #expect(rehearsal.server.bundles.count == 2)
    }

    @Test func bisectionLeavesTheOthers() throws {
        let rehearsal = try DeliveryRehearsal([row(byID: false)])
        rehearsal.server.refusal = { self.number(of: $0) == "2" ? (422, "invariant") : nil }
        rehearsal.run()
        #expect(try members(rehearsal).map(\.isReference) == [false, false, false])
        #expect(rehearsal.outbox.undeliverable.count == 1)
        #expect(rehearsal.server.resources.keys.count { $0.hasPrefix("Observation/") } == 3)
    }

    /// Where the server gives the ids, or takes no transactions, those of the row are nobody's.
    @Test func serversWithIdsOfTheirOwn() throws {
        let rehearsal = try DeliveryRehearsal([row(byID: true)])
        rehearsal.server.updateCreate = false
        rehearsal.run()
        try expectMembers(rehearsal, areReferences: false)
    }

    @Test(arguments: [true, false]) func serversWithoutTransactions(byID: Bool) throws {
        let rehearsal = try DeliveryRehearsal([row(byID: byID)])
        rehearsal.server.interactions = ["batch"]
        rehearsal.run()
        try expectMembers(rehearsal, areReferences: false)
    }

    @Test func batchesStayAsTheyAre() throws {
        let rehearsal = try DeliveryRehearsal([row(byID: true, isTransaction: false)])
        rehearsal.run()
        try expectMembers(rehearsal, areReferences: false)
    }

    @Test(arguments: [true, false]) func resourcesThatMustBeThere(byID: Bool) throws {
        let rehearsal = try DeliveryRehearsal([row(byID: byID)], identity: .lookup)
        for (type, name) in [("Patient", "p"), ("Device", "d")] {
            rehearsal.server.resources["\(type)/\(name)"] = [
                "resourceType": type, "id": name, "meta": ["versionId": "1"],
                "identifier": [["system": "urn:s", "value": name]], "patient": ["reference": "Patient/p"],
            ]
        }
        rehearsal.run()
        try expectMembers(rehearsal, areReferences: byID)
    }

    /// Servers do not delete what others refer to: the panel goes before its members, also when the device goes on
    /// without the panel.
    @Test(arguments: [true, false], [0, 40]) func deletedBeforeTheirMembers(isTransaction: Bool, failures: Int) throws {
        let row = row(byID: true, isTransaction: isTransaction)
        let rehearsal = try DeliveryRehearsal([row]) { $0.deletesEmptied = true }
        rehearsal.server.keepsReferred = true
        rehearsal.run()
        var left = failures
        rehearsal.server.otherwise = { request in
            guard request.method == "DELETE", left > 0 else { return .pass }
            left -= 1
            return .status(500)
        }
        #expect(rehearsal.server.resources.count == 6)
        rehearsal.outbox.add(
            row.replacing("\"final\"", with: "\"entered-in-error\"").replacing(/,"valueQuantity":\{[^}]*\}/, with: ""))
        rehearsal.run()
        #expect(rehearsal.server.resources.count == 2 && rehearsal.outbox.undeliverable.isEmpty)
        #expect(rehearsal.engine.status.deleted == 4 && left == 0)
    }

    /// What is put aside can be sent again as it is.
    @Test func deadLettersOfPanels() throws {
        let rehearsal = try DeliveryRehearsal([row(byID: false)])
        rehearsal.server.refusal = { $0["hasMember"] == nil ? nil : (422, "invariant") }
        rehearsal.run()
        let letter = try #require(rehearsal.outbox.undeliverable.first)
        let text = String(decoding: BundleText.of(letter.bytes), as: UTF8.self)
        #expect(!text.contains("urn:uuid:m") && text.contains(#""value":"3"}"#), "\(text)")
        let again = try DeliveryRehearsal([text])
        again.run()
        #expect(try members(again).map(\.number) == ["1", "2", "3"])
    }
}
