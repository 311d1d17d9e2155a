import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore
import TrialSupport

/// What a server will not take is found, put aside with its reason, and can be sent again; the rest arrives once.
@Suite struct DeliveryRefusalTests {
    private typealias Reading = TestRow.Reading

    /// Rows of random readings, of which those with a value above 900 are bad.
    private static func rows(seed: UInt64, isTransaction: Bool) -> (rows: [String], good: Set<String>, bad: Set<String>)
    {
        var random = SeededGenerator(seed: seed)
        var rows: [String] = []
        var good: Set<String> = []
        var bad: Set<String> = []
        var number = 0
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let readings = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                number += 1
                let isBad = Int.random(in: 0...9, using: &random) == 0
                let reading = Reading("d\(Int.random(in: 1...4, using: &random))", number, isBad ? 901 : 1)
                if isBad { bad.insert(reading.id) } else { good.insert(reading.id) }
                return reading
            }
            rows.append(isTransaction ? TestRow.transaction(readings) : TestRow.batch(readings))
        }
        return (rows, good, bad)
    }

    private static func isBad(_ resource: MemoryServer.Resource) -> Bool {
        ((resource["valueQuantity"] as? [String: Any])?["value"] as? Int ?? 0) > 900
    }

    /// Bundles with bad entries anywhere.
    @Test(arguments: [true, false]) func badEntriesAreIsolated(isTransaction: Bool) throws {
        for seed in Trials.seeds(tenthOf: 250) {
            let (rows, good, bad) = Self.rows(seed: seed, isTransaction: isTransaction)
            let rehearsal = try DeliveryRehearsal(rows, seed: seed)
            rehearsal.server.refusal = { Self.isBad($0) ? (422, "invariant") : nil }
            rehearsal.run(seconds: 60)
            #expect(Set(rehearsal.values.keys) == good, "seed \(seed)")
            let aside = rehearsal.outbox.undeliverable
            #expect(Set(aside.map { String($0.resource.dropFirst("Observation/".count)) }) == bad, "seed \(seed)")
            #expect(aside.count == bad.count && aside.allSatisfy { $0.reason == .serverRefused })
            #expect(aside.allSatisfy { $0.detail == "422 invariant: not taken: invariant" && $0.attempts >= 1 })
            #expect(rehearsal.outbox.isSettled)
            let observations = rehearsal.outbox.receipts.filter { $0.resource.hasPrefix("Observation") }
            #expect(observations.count == good.count && observations.allSatisfy { $0.version == "W/\"1\"" })
        }
    }

    @Test(arguments: [true, false]) func whatWasPutAsideCanBeSentAgain(isTransaction: Bool) throws {
        let trials = (UInt64(1)...100).lazy.map { Self.rows(seed: $0, isTransaction: isTransaction) }
        let (rows, good, bad) = try #require(trials.first { $0.bad.count > 2 })
        let rehearsal = try DeliveryRehearsal(rows)
        rehearsal.server.refusal = { Self.isBad($0) ? (422, "invariant") : nil }
        rehearsal.run()
        rehearsal.server.refusal = { _ in nil }
        for entry in rehearsal.outbox.undeliverable { rehearsal.outbox.add(entry.bytes) }
        rehearsal.run()
        #expect(Set(rehearsal.values.keys) == good.union(bad) && rehearsal.outbox.isSettled)
        #expect(rehearsal.server.resources.keys.count { $0.hasPrefix("Device/") } <= 4)
    }

    @Test func findsOneAmongManyWithFewRequests() throws {
        let readings = (1...64).map { Reading("d\($0 % 8)", $0, $0 == 37 ? 901 : 1) }
        let rehearsal = try DeliveryRehearsal([TestRow.transaction(readings)])
        rehearsal.server.refusal = { Self.isBad($0) ? (400, "invariant") : nil }
        rehearsal.run()
        #expect(rehearsal.values.count == 63)
        #expect(rehearsal.server.bundles.count <= 1 + 2 * 6)
    }

    @Test func onlyWhatMayWorkIsSentAgain() throws {
        let row = TestRow.batch([Reading("a", 1), Reading("a", 2), Reading("a", 3)])
        let rehearsal = try DeliveryRehearsal([row])
        // Places: Patient, Device, a-1, a-2, a-3.
        rehearsal.server.steps = [.entries([2: 503, 4: 400]), .entries([0: 429])]
        rehearsal.run()
        #expect(rehearsal.server.bundles.map { DeliveryRehearsal.entries($0).count } == [5, 1, 1])
        #expect(Set(rehearsal.values.keys) == ["a-1", "a-2"])
        #expect(rehearsal.outbox.undeliverable.map(\.resource) == ["Observation/a-3"])
        #expect(rehearsal.outbox.isSettled)
    }

    @Test func aRowWaitsForItsPatient() throws {
        let rehearsal = try DeliveryRehearsal([TestRow.batch([Reading("a", 1)])])
        rehearsal.server.steps = [.entries([0: 503]), .hold]
        rehearsal.run()
        #expect(!rehearsal.outbox.isSettled && rehearsal.server.held.count == 1)
        rehearsal.server.answerHeld(0)
        rehearsal.turn()
        #expect(rehearsal.outbox.isSettled && rehearsal.server.resources.count == 3)
    }

    /// One letter tells of a Patient or Device that is refused with each batch, until the answer is another one; all
    /// are counted.
    @Test func refusedResourcesAreToldOfOnce() throws {
        let rehearsal = try DeliveryRehearsal()
        var window = 0
        func refuse(_ refusal: (status: Int, code: String)?, times: Int) {
            rehearsal.server.refusal = { $0["resourceType"] as? String == "Observation" ? nil : refusal }
            for _ in 0..<times {
                window += 1
                rehearsal.outbox.add(TestRow.batch([Reading("a", window), Reading("b", window)]))
                rehearsal.run()
            }
        }
        func told() -> Int { rehearsal.outbox.undeliverable.count }
        refuse((403, "forbidden"), times: 5)
        #expect(Set(rehearsal.outbox.undeliverable.map(\.resource)).count == 4 && told() == 4)
        #expect(rehearsal.engine.status.undeliverableReasons.text == "20 (serverRefused 20)")
        refuse((422, "invariant"), times: 2)
        #expect(told() == 8 && rehearsal.engine.status.undeliverable == 28)
        refuse(nil, times: 1)
        #expect(told() == 8 && rehearsal.server.resources.keys.count { $0.hasPrefix("Patient/") } == 2)
        refuse((422, "invariant"), times: 2)
        #expect(told() == 12 && rehearsal.engine.status.undeliverable == 36)
        #expect(rehearsal.values.count == 20 && rehearsal.outbox.isSettled)
    }

    /// Not more are kept than leave room for letters of readings.
    @Test func refusedResourcesAreBounded() {
        let refused = RefusedResources(most: 3)
        let told = (0..<6).map { number in
            let patient = ServerIdentifier(type: "Patient", system: "s", value: "\(number)")
            return refused.note(EntryAnswer(status: 403), of: patient)
        }
        #expect(told == [true, true, true, false, false, false])
    }

    /// Then that is said, once; what comes is counted as before.
    @Test func thatRefusedResourcesHaveNoLettersIsSaid() throws {
        let rehearsal = try DeliveryRehearsal { $0.mostRefusedResources = 3 }
        rehearsal.server.refusal = { $0["resourceType"] as? String == "Observation" ? nil : (403, "forbidden") }
        for window in 1...4 {
            #expect(rehearsal.outbox.told.isEmpty == (window < 3))
            rehearsal.outbox.add(TestRow.batch([Reading("d\(window)", window)]))
            rehearsal.run()
        }
        #expect(rehearsal.outbox.told.count == 1 && rehearsal.outbox.told.first?.hasPrefix("3 Patients") == true)
        #expect(rehearsal.outbox.undeliverable.count == 3)
        #expect(rehearsal.engine.status.undeliverable == 8 && rehearsal.outbox.isSettled)
    }

    @Test func halvesWhatIsTooLarge() throws {
        let readings = (1...40).map { Reading("d\($0 % 5)", $0) }
        let rehearsal = try DeliveryRehearsal([TestRow.transaction(readings)])
        rehearsal.server.largestBundle = 9
        rehearsal.run()
        #expect(rehearsal.values.count == 40 && rehearsal.outbox.undeliverable.isEmpty)
        #expect(rehearsal.engine.launcher.sender.limit.entries < 100, "the next bundles are smaller from the start")
    }

    @Test func oneThatIsTooLargeAloneIsPutAside() throws {
        let rehearsal = try DeliveryRehearsal([TestRow.transaction([Reading("a", 1), Reading("a", 2)])])
        rehearsal.server.largestBundle = 2
        rehearsal.run()
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.entryTooLarge, .entryTooLarge])
        #expect(rehearsal.outbox.isSettled)
    }

    @Test func severalPatientsOfOneIdentifierAreAReason() throws {
        let rehearsal = try DeliveryRehearsal([TestRow.transaction([Reading("a", 1, patient: "p"), Reading("b", 1)])])
        for id in ["x", "y"] {
            rehearsal.server.resources["Patient/\(id)"] = [
                "resourceType": "Patient", "identifier": [["system": "urn:kymograph:patient", "value": "p"]],
            ]
        }
        rehearsal.run()
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.identityAmbiguous])
        #expect(rehearsal.values.keys.sorted() == ["b-1"])
    }

    /// A bundle that a server answers with 500 again and again is halved, but nothing is given up.
    @Test func anErrorOfTheServerIsNotTheContents() throws {
        let rehearsal = try DeliveryRehearsal(
            (1...6).map { TestRow.transaction([Reading("d\($0)", 1, $0 == 4 ? 901 : 1)]) }
        ) { $0.maxEntries = 9 }
        rehearsal.server.refusal = { Self.isBad($0) ? (500, "exception") : nil }
        rehearsal.run(seconds: 3_600)
        #expect(rehearsal.values.count == 5 && rehearsal.outbox.undeliverable.isEmpty)
        #expect(rehearsal.outbox.settledThrough == 9)
        rehearsal.server.refusal = { _ in nil }
        rehearsal.run(seconds: 7_200)
        #expect(rehearsal.values.count == 6 && rehearsal.outbox.isSettled)
    }

    /// 403 for one Observation, while others get through, is about that Observation.
    @Test func aDoubtfulRefusalIsBelievedInTheEnd() throws {
        let rehearsal = try DeliveryRehearsal(
            (1...6).map { TestRow.transaction([Reading("d\($0)", 1, $0 == 4 ? 901 : 1)]) }
        ) { $0.maxEntries = 3 }
        rehearsal.server.refusal = { Self.isBad($0) ? (403, "forbidden") : nil }
        rehearsal.run(seconds: 3_600)
        #expect(rehearsal.outbox.undeliverable.map(\.resource) == ["Observation/d4-1"])
        #expect(rehearsal.outbox.isSettled)
    }

    @Test func codesDecideWhatMayWorkLater() {
        func outcome(_ code: String) -> ServerOutcome? {
            ServerOutcome(
                body: Array(
                    #"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"\#(code)"}]}"#.utf8))
        }
        func kind(_ status: Int, _ code: String, failures: Int = 0) -> AnswerKind {
            AnswerKind(status: status, outcome: outcome(code), failures: failures, isWhole: false)
        }
        for code in ["transient", "lock-error", "no-store", "exception", "timeout", "incomplete", "throttled"] {
            #expect(kind(400, code) == .later && kind(400, code, failures: 9) == .refused)
        }
        for code in ["structure", "required", "value", "invariant", "code-invalid", "business-rule", "not-found"] {
            for status in [400, 412, 422] { #expect(kind(status, code) == .refused) }
        }
        #expect(kind(409, "duplicate") == .refused && kind(409, "conflict") == .later)
        #expect(
            kind(404, "not-found") == .refused && kind(400, "too-costly") == .tooLarge && kind(413, "x") == .tooLarge)
        for status in [408, 429, 500, 503] { #expect(kind(status, "value") == .later) }
        #expect(AnswerKind(status: 404, outcome: nil, failures: 0, isWhole: true) == .doubtful)
    }
}
