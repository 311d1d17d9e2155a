import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Observations that were an error, on a server that is to delete them.
@Suite struct DeliveryDeletionTests {
    private typealias Reading = TestRow.Reading

    private func rehearsal(
        _ rows: [String] = [], identity: ResourceIdentityMode = .create,
        _ change: (inout DeliverySettings) -> Void = { _ in }
    ) throws -> DeliveryRehearsal {
        try DeliveryRehearsal(rows, identity: identity) {
            $0.deletesEmptied = true
            change(&$0)
        }
    }

    /// Methods and URLs of the entries of all bundles, and of single requests that write.
    private func writes(_ rehearsal: DeliveryRehearsal) -> [String] {
        rehearsal.server.requests.filter { $0.method != "GET" }.flatMap { request in
            request.url.hasSuffix("/fhir")
                ? DeliveryRehearsal.entries(request)
                : ["\(request.method) \(request.url.replacing("http://server/fhir/", with: ""))"]
        }
    }

    private func deletions(_ rehearsal: DeliveryRehearsal) -> [String] {
        writes(rehearsal).filter { $0.hasPrefix("DELETE") }
    }

    private func receipts(_ rehearsal: DeliveryRehearsal) -> [String] {
        rehearsal.outbox.receipts.filter(\.isDeleted).map { "\($0.resource) \($0.status)" }
    }

    @Test(arguments: [true, false]) func whatTheServerHas(isTransaction: Bool) throws {
        let rehearsal = try rehearsal([TestRow.row([Reading("a", 1, 10), Reading("b", 1, 20)], isTransaction)])
        rehearsal.run()
        let before = rehearsal.engine.status.delivered
        rehearsal.outbox.add(TestRow.errors([Reading("a", 1), Reading("c", 1)], isTransaction))
        rehearsal.run()
        #expect(rehearsal.values == ["b-1": 20] && rehearsal.outbox.isSettled)
        // Nobody is made in order to delete what is of them.
        #expect(writes(rehearsal).last == "DELETE Observation/a-1" && deletions(rehearsal).count == 1)
        #expect(rehearsal.server.resources.count == 5)
        #expect(Set(receipts(rehearsal)) == ["Observation/a-1 204", "Observation/c-1 404"])
        #expect(rehearsal.engine.status.deleted == 2 && rehearsal.engine.status.delivered == before)
        #expect(rehearsal.outbox.undeliverable.isEmpty)
    }

    @Test func othersKeepThemAsErrors() throws {
        let rehearsal = try DeliveryRehearsal([
            TestRow.transaction([Reading("a", 1, 10)]), TestRow.errors([Reading("a", 1)]),
        ])
        rehearsal.run()
        let stored = try #require(rehearsal.server.resources["Observation/a-1"])
        #expect(stored["status"] as? String == "entered-in-error" && stored["valueQuantity"] == nil)
        #expect(deletions(rehearsal).isEmpty && receipts(rehearsal).isEmpty)
        #expect(rehearsal.engine.status.deleted == 0)
    }

    /// Whatever has come of a window when all of it is sent at once: what came last is there.
    @Test(arguments: [true, false], [true, false]) func theLastVersionCounts(isTransaction: Bool, byID: Bool) throws {
        let rehearsal = try rehearsal([
            TestRow.row([Reading("a", 1, 10), Reading("a", 2, 10)], isTransaction),
            TestRow.errors([Reading("a", 1), Reading("a", 3)], isTransaction),
            TestRow.row([Reading("a", 1, 20), Reading("a", 3, 30)], isTransaction),
            TestRow.errors([Reading("a", 2), Reading("a", 3)], isTransaction),
        ])
        rehearsal.server.updateCreate = byID
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 20] && rehearsal.outbox.isSettled)
        #expect(rehearsal.outbox.undeliverable.isEmpty && rehearsal.engine.status.deleted == 4)
    }

    /// Runs with other ways of writing name a window by other URLs: one bundle must not have both.
    @Test func otherNamesOfOneWindow() throws {
        let rehearsal = try rehearsal([
            TestRow.transaction([Reading("a", 1, 10)]).conditionallyUpdated, TestRow.errors([Reading("a", 1)]),
        ]) { $0.updateCreate = true }
        rehearsal.server.resources["Observation/a-1"] = [
            "resourceType": "Observation", "id": "a-1", "identifier": [Self.identifier(".a-1")],
        ]
        rehearsal.run()
        #expect(rehearsal.values.isEmpty && deletions(rehearsal) == ["DELETE Observation/a-1"])
    }

    private static func identifier(_ value: String) -> [String: String] {
        ["system": "urn:kymograph:observation", "value": value]
    }

    // MARK: Ids of the server

    @Test func byTheServersID() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1, 10), Reading("b", 1, 20)])])
        rehearsal.server.updateCreate = false
        rehearsal.run()
        let key = try #require(rehearsal.server.resources.first { "\($0.value)".contains(".a-1") }?.key)
        rehearsal.outbox.add(TestRow.errors([Reading("a", 1), Reading("a", 2)]))
        rehearsal.run()
        // Never by a condition, of which the server decides what it means.
        #expect(rehearsal.values == ["b-1": 20] && deletions(rehearsal) == ["DELETE \(key)"])
        #expect(receipts(rehearsal) == ["Observation/a-1 204", "Observation/a-2 404"])
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 1, 30)]))
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 30, "b-1": 20])
    }

    /// Servers whose search ignores case, or goes by beginnings.
    @Test(arguments: [true, false]) func nothingElseIsDeleted(ignoresCase: Bool) throws {
        let rehearsal = try rehearsal()
        rehearsal.server.updateCreate = false
        rehearsal.server.finds = ignoresCase ? { $0.lowercased() == $1.lowercased() } : { $1.hasPrefix($0) }
        for (id, value, system) in [
            ("1", ".A-1", "urn:kymograph:observation"), ("2", ".a-10", "urn:kymograph:observation"), ("3", ".a-1", "x"),
        ] {
            rehearsal.server.resources["Observation/\(id)"] = [
                "resourceType": "Observation", "id": id, "identifier": [["system": system, "value": value]],
            ]
        }
        rehearsal.outbox.add(TestRow.errors([Reading("a", 1)]))
        rehearsal.run()
        #expect(rehearsal.server.resources.count == 3 && deletions(rehearsal).isEmpty)
        #expect(receipts(rehearsal) == ["Observation/a-1 404"])
    }

    @Test func ofSeveralNoneIsDeleted() throws {
        let rehearsal = try rehearsal([TestRow.errors([Reading("a", 1)])])
        rehearsal.server.updateCreate = false
        for id in ["1", "2"] {
            rehearsal.server.resources["Observation/\(id)"] = [
                "resourceType": "Observation", "id": id, "identifier": [Self.identifier(".a-1")],
            ]
        }
        rehearsal.run()
        #expect(rehearsal.server.resources.count == 2 && deletions(rehearsal).isEmpty && rehearsal.outbox.isSettled)
        let letter = try #require(rehearsal.outbox.undeliverable.first)
        #expect(letter.reason == .identityAmbiguous && letter.detail.contains("several resources of type Observation"))
        // When the server has merged them, the letter is sent again, and still deletes.
        rehearsal.server.resources["Observation/2"] = nil
        rehearsal.outbox.add(letter.bytes)
        rehearsal.run()
        #expect(rehearsal.server.resources.isEmpty && deletions(rehearsal) == ["DELETE Observation/1"])
    }

    /// An id that would name something else in a URL.
    @Test(arguments: ["../Patient/1", "a/b", "1?x=1", "..", ""]) func anIDThatIsNone(id: String) throws {
        let rehearsal = try rehearsal([TestRow.errors([Reading("a", 1)])])
        rehearsal.server.updateCreate = false
        rehearsal.server.resources["Observation/1"] = [
            "resourceType": "Observation", "id": id, "identifier": [Self.identifier(".a-1")],
        ]
        rehearsal.run()
        #expect(deletions(rehearsal).isEmpty && rehearsal.outbox.undeliverable.map(\.reason) == [.serverRefused])
    }

    // MARK: Answers

    /// Somebody else has deleted or changed it since the search: the server is searched again, and nothing is deleted
    /// that has changed.
    @Test(arguments: [404, 410, 412], [true, false]) func changedMeanwhile(status: Int, isGone: Bool) throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1, 10)])])
        rehearsal.run()
        let server = rehearsal.server
        server.otherwise = { [unowned server] request in
            guard request.method == "DELETE" else { return .pass }
            server.otherwise = nil
            if isGone { server.resources["Observation/a-1"] = nil }
            return .status(status, [], Self.outcome)
        }
        rehearsal.outbox.add(TestRow.errors([Reading("a", 1)]))
        rehearsal.run()
        #expect(rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty && rehearsal.values.isEmpty)
        #expect(receipts(rehearsal) == ["Observation/a-1 \(isGone ? 404 : 204)"])
        #expect(server.searches.count == 2 && deletions(rehearsal).count == (isGone ? 1 : 2))
    }

    /// The version that the search has found is deleted, and no other one.
    @Test func onlyTheVersionThatWasFound() throws {
        let rehearsal = try rehearsal([TestRow.errors([Reading("a", 1)])])
        rehearsal.server.resources["Observation/1"] = [
            "resourceType": "Observation", "id": "1", "meta": ["versionId": "7"],
            "identifier": [Self.identifier(".a-1")],
        ]
        rehearsal.run()
        let deletion = try #require(rehearsal.server.requests.last { $0.method == "DELETE" })
        #expect(deletion.headers.contains { $0.name == "If-Match" && $0.value == "W/\"7\"" })
        let search = try #require(rehearsal.server.requests.last { $0.url.contains("Observation?") })
        #expect(search.headers.contains { $0.name == "Cache-Control" && $0.value == "no-cache" })
    }

    /// The server fails, and is set up again from a copy: the id is another Observation's by then.
    @Test func theIDIsAnothers() throws {
        let rehearsal = try rehearsal()
        let server = rehearsal.server
        func observation(_ id: String, _ value: String) -> [String: Any] {
            ["resourceType": "Observation", "id": id, "identifier": [Self.identifier(value)]]
        }
        server.resources["Observation/1"] = observation("1", ".a-1")
        server.otherwise = { [unowned server] request in
            guard request.method == "DELETE" else { return .pass }
            server.otherwise = nil
            server.resources = [
                "Observation/1": observation("1", ".b-1"), "Observation/2": observation("2", ".a-1"),
            ]
            return .status(503)
        }
        rehearsal.outbox.add(TestRow.errors([Reading("a", 1)]))
        rehearsal.run()
        #expect(Set(server.resources.keys) == ["Observation/1"])
        #expect(deletions(rehearsal) == ["DELETE Observation/1", "DELETE Observation/2"])
    }

    /// What a search does not find says nothing of the server: others do not go on for that when all is refused.
    @Test func nothingFoundIsNothingTaken() throws {
        let rehearsal = try rehearsal([TestRow.errors((1...20).map { Reading("a", $0) })])
        rehearsal.server.otherwise = { request in
            request.method == "GET" ? .pass : .status(400, [], "<html>not here</html>")
        }
        rehearsal.outbox.add(TestRow.transaction([Reading("b", 1, 10)]))
        rehearsal.run(seconds: 60)
        #expect(rehearsal.engine.status.deleted == 20 && rehearsal.engine.channel.taken == 0)
    }

    private static let outcome =
        #"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"not-found"}]}"#

    /// A page of a proxy says nothing of what the server has.
    @Test(arguments: [true, false]) func aProxysPageIsNotBelieved(byID: Bool) throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1, 10)])])
        rehearsal.server.updateCreate = byID
        rehearsal.run()
        rehearsal.server.otherwise = { request in
            request.method == "GET" ? .pass : .status(404, [], "<html>no such page</html>")
        }
        rehearsal.outbox.add(TestRow.errors([Reading("a", 1)]))
        rehearsal.run(seconds: 120)
        #expect(receipts(rehearsal).isEmpty && !rehearsal.outbox.isSettled && rehearsal.values == ["a-1": 10])
        rehearsal.server.otherwise = nil
        rehearsal.run()
        #expect(rehearsal.values.isEmpty && rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty)
    }

    /// A lost answer, and one that says later, are no reason to leave it.
    @Test(arguments: [true, false], [true, false]) func sentAgain(isTransaction: Bool, byID: Bool) throws {
        let rehearsal = try rehearsal([TestRow.row([Reading("a", 1, 10)], isTransaction)])
        rehearsal.server.updateCreate = byID
        rehearsal.run()
        var faults: [MemoryServer.Step] = [
            .status(503), .fail(.timeout), .status(500), .fail(.unreachable), .lose(.lost),
        ]
        rehearsal.server.otherwise = { request in
            request.method == "GET" || faults.isEmpty ? .pass : faults.removeFirst()
        }
        rehearsal.outbox.add(TestRow.errors([Reading("a", 1)], isTransaction))
        rehearsal.run()
        #expect(rehearsal.values.isEmpty && rehearsal.outbox.isSettled && rehearsal.outbox.undeliverable.isEmpty)
        #expect(receipts(rehearsal).count == 1 && faults.isEmpty)
        #expect(rehearsal.server.searches.count >= 5, "before each attempt")
    }

    /// The server says no: it is told, with the server's words, and others go on.
    @Test(arguments: [true, false], [true, false]) func refused(isTransaction: Bool, byID: Bool) throws {
        let rehearsal = try rehearsal([TestRow.row([Reading("a", 1, 10), Reading("a", 2, 10)], isTransaction)])
        rehearsal.server.updateCreate = byID
        rehearsal.run()
        rehearsal.server.keeps = { "\($0)".contains(".a-1") }
        rehearsal.outbox.add(TestRow.errors([Reading("a", 1), Reading("a", 2)], isTransaction))
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 10] && rehearsal.outbox.isSettled)
        let letter = try #require(rehearsal.outbox.undeliverable.first)
        #expect(rehearsal.outbox.undeliverable.count == 1 && letter.reason == .serverRefused)
        #expect(letter.detail.hasPrefix("409 conflict: not taken") && letter.resource == "Observation/a-1")
        // Sent again when nothing refers to it any more.
        rehearsal.server.keeps = { _ in false }
        rehearsal.outbox.add(letter.bytes)
        rehearsal.run()
        #expect(rehearsal.values.isEmpty)
    }

    @Test func programsHearOfIt() {
        var receipt = DeliveryReceipt(
            row: 1, resource: "Observation/a-1", status: 204, location: "", version: "", attempts: 1)
        receipt.isDeleted = true
        var settlement = Settlement(sink: "s", through: 1)
        settlement.receipts = [receipt]
        let reports = DeliveryReport.all(of: settlement)
        #expect(reports.map(\.outcome) == [.deleted] && reports.map(\.resource) == ["Observation/a-1"])
    }

    // MARK: Whom it is about

    /// What is deleted needs neither its Patient nor its Device: nobody is asked for them.
    @Test func withoutLookups() throws {
        let rehearsal = try rehearsal(
            [TestRow.errors([Reading("a", 1, patient: "p", encounter: "e")])], identity: .lookup)
        rehearsal.server.resources["Observation/a-1"] = [
            "resourceType": "Observation", "id": "a-1", "identifier": [Self.identifier(".a-1")],
        ]
        rehearsal.run()
        #expect(rehearsal.server.resources.isEmpty)
        #expect(rehearsal.server.searches.allSatisfy { $0.contains("Observation?") })
        #expect(receipts(rehearsal) == ["Observation/a-1 204"])
    }

    /// Where it is only created, a window that was emptied and filled again is created again.
    @Test func whereNothingIsUpdated() throws {
        let rows = [
            TestRow.transaction([Reading("a", 1, 10)]), TestRow.errors([Reading("a", 1)]),
            TestRow.transaction([Reading("a", 1, 20)]),
        ]
        let rehearsal = try rehearsal(rows.map(\.conditionallyCreated))
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 20] && deletions(rehearsal).count == 1)
        #expect(rehearsal.outbox.receipts.allSatisfy { !$0.isLacking } && rehearsal.outbox.isSettled)
    }

    // MARK: What servers can do

    @Test func aServerThatCannot() throws {
        let rehearsal = try rehearsal([TestRow.transaction([Reading("a", 1)])])
        rehearsal.server.observationInteractions = ["create", "update", "search-type"]
        rehearsal.run(seconds: 50)
        #expect(rehearsal.engine.status.circuit == .refused && rehearsal.server.bundles.isEmpty)
        #expect(
            rehearsal.engine.status.verdict
                == "http://server/fhir states no delete interaction for Observation: set emptied of this server to "
                + "entered-in-error, or have the server allow it")
        rehearsal.server.observationInteractions = ["create", "update", "search-type", "delete"]
        rehearsal.run(seconds: 200)
        #expect(rehearsal.outbox.isSettled && rehearsal.engine.status.circuit == .closed)
        let other = try DeliveryRehearsal([TestRow.transaction([Reading("a", 1)])])
        other.server.observationInteractions = ["create"]
        other.run(seconds: 50)
        #expect(other.outbox.isSettled, "nobody wants anything deleted")
    }
}

extension TestRow {
    /// A bundle that says that the windows of `readings` were an error.
    static func errors(_ readings: [Reading], _ isTransaction: Bool = true) -> String {
        row(readings, isTransaction).replacing(#""status":"final""#, with: #""status":"entered-in-error""#)
            .replacing(/,"valueQuantity":\{"value":\d+\}/, with: "")
    }
}

extension String {
    /// The bundle with conditional updates.
    fileprivate var conditionallyUpdated: String {
        replacing(/"id":"([^"]+)",/, with: "").replacing(/"PUT","url":"Observation\/([^"]+)"/) {
            "\"PUT\",\"url\":\"Observation?identifier=urn:kymograph:observation%7C.\($0.1)\""
        }
    }

    /// The bundle with conditional creates.
    fileprivate var conditionallyCreated: String {
        replacing(/"id":"([^"]+)",/, with: "").replacing(/"PUT","url":"Observation\/([^"]+)"/) {
            "\"POST\",\"url\":\"Observation\",\"ifNoneExist\":\"identifier=urn:kymograph:observation|.\($0.1)\""
        }
    }
}
