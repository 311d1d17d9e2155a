import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore
import TrialSupport

/// What is delivered, in what order, and when it is settled.
@Suite struct DeliveryOrderTests {
    private typealias Reading = TestRow.Reading

    @Test func deliversRowsAndGivesReceipts() throws {
        let rehearsal = try DeliveryRehearsal([
            TestRow.transaction([Reading("a", 1, 10), Reading("b", 1, 20)]), TestRow.transaction([Reading("a", 2, 11)]),
        ])
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 10, "b-1": 20, "a-2": 11])
        #expect(rehearsal.outbox.settledThrough == 6)
        let receipts = rehearsal.outbox.receipts
        #expect(Set(receipts.filter { $0.row == 3 }.map(\.resource)).count == 6)
        #expect(Set(receipts.filter { $0.row == 6 }.map(\.resource)).count == 3)
        let one = try #require(receipts.first { $0.resource == "Observation/a-1" })
        #expect(one.status == 201 && one.location == "Observation/a-1" && one.version == "W/\"1\"" && one.attempts == 1)
        #expect(rehearsal.server.resources.count == 7)
        // One bundle with each Patient and Device once.
        #expect(rehearsal.server.bundles.count == 1)
        #expect(DeliveryRehearsal.entries(try #require(rehearsal.server.bundles.first)).count == 7)
        #expect(rehearsal.engine.status.delivered == 9 && rehearsal.engine.status.waiting == 0)
    }

    @Test func asksForLittleInTheRightForm() throws {
        let rehearsal = try DeliveryRehearsal([TestRow.transaction([Reading("a", 1)])])
        rehearsal.authorizer.values = ["Bearer one"]
        rehearsal.run()
        let request = try #require(rehearsal.server.bundles.first)
        let fields = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        #expect(fields["Content-Type"] == "application/fhir+json; fhirVersion=4.0")
        #expect(fields["Prefer"] == "return=minimal")
        #expect(fields["Authorization"] == "Bearer one")
        #expect(request.url == "http://server/fhir")
    }

    /// Before others go on where it ends: nothing is sent any more, and what was sent is answered.
    @Test func ceasesWithWhatIsUnderWay() throws {
        let rehearsal = try DeliveryRehearsal([TestRow.transaction([Reading("a", 1, 10)])])
        rehearsal.server.steps = [.hold]
        rehearsal.turn()
        #expect(rehearsal.engine.isUnderWay && rehearsal.server.held.count == 1)
        rehearsal.engine.cease()
        rehearsal.outbox.add(TestRow.transaction([Reading("a", 1, 11), Reading("b", 1, 20)]))
        rehearsal.run(seconds: 3_600)
        #expect(rehearsal.engine.isUnderWay && rehearsal.server.bundles.count == 1)
        rehearsal.server.answerHeld(0)
        rehearsal.run(seconds: 7_200)
        #expect(!rehearsal.engine.isUnderWay && rehearsal.server.bundles.count == 1)
        #expect(rehearsal.values == ["a-1": 10] && rehearsal.outbox.settledThrough == 3)
    }

    @Test func keepsTheBytesOfResources() throws {
        let row = TestRow.transaction([Reading("a", 1, 10)])
        let rehearsal = try DeliveryRehearsal([row])
        rehearsal.run()
        #expect(rehearsal.server.bundles.first.map { $0.body + [0x0A] } == Array(row.utf8))
    }

    /// Whatever the order of answers, no two bundles under way have a device or a new Patient in common, later
    /// versions win, and nothing is settled before everything before it.
    @Test(arguments: Trials.seeds(tenthOf: 20)) func oneBundleOfADeviceIsUnderWay(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var expected: [String: Int] = [:]
        let rehearsal = try DeliveryRehearsal(seed: seed) {
            $0.maxEntries = 7
            $0.maxConcurrency = 6
        }
        for number in 1...120 {
            let readings = (0..<Int.random(in: 1...4, using: &random)).map { place in
                Reading(
                    "d\(place * 3 + Int.random(in: 0...2, using: &random))", Int.random(in: 1...3, using: &random),
                    number, patient: "p\(place)")
            }
            for reading in readings { expected[reading.id] = number }
            rehearsal.outbox.add(TestRow.transaction(readings))
        }
        rehearsal.server.otherwise = { $0.method == "POST" ? .hold : .pass }
        rehearsal.turn()
        while !rehearsal.server.held.isEmpty {
            let underWay = rehearsal.server.held.map { Self.devices($0.request) }
            #expect(underWay.reduce(0) { $0 + $1.count } == Set(underWay.joined()).count, "seed \(seed)")
            rehearsal.server.answerHeld(Int.random(in: 0..<rehearsal.server.held.count, using: &random))
            rehearsal.turn()
        }
        #expect(rehearsal.values == expected, "seed \(seed)")
        #expect(rehearsal.outbox.isSettled)
        #expect(rehearsal.server.bundles.allSatisfy { DeliveryRehearsal.entries($0).count <= 7 })
        #expect(rehearsal.server.resources.keys.count { $0.hasPrefix("Patient/") } <= 4)
        #expect(rehearsal.engine.channel.limit.count == 6, "the limit grows while all goes well")
    }

    private static func devices(_ request: HTTPRequest) -> [String] {
        let ids = DeliveryRehearsal.entries(request).filter { $0.hasPrefix("PUT Observation/") }
        return Array(Set(ids.map { String($0.dropFirst("PUT Observation/".count).prefix { $0 != "-" }) }))
    }

    @Test func settlesOnlyWhatIsDoneWithAllBeforeIt() throws {
        let rehearsal = try DeliveryRehearsal { $0.maxEntries = 3 }
        for device in ["a", "b"] { rehearsal.outbox.add(TestRow.transaction([Reading(device, 1)])) }
        rehearsal.server.otherwise = { $0.method == "POST" ? .hold : .pass }
        rehearsal.turn()
        #expect(rehearsal.server.held.count == 2)
        rehearsal.server.answerHeld(1)
        rehearsal.turn()
        #expect(rehearsal.outbox.settledThrough == 0)
        #expect(rehearsal.outbox.receipts.isEmpty && rehearsal.engine.status.delivered == 3)
        rehearsal.server.answerHeld(0)
        rehearsal.turn()
        #expect(rehearsal.outbox.settledThrough == 6)
        #expect(rehearsal.outbox.receipts.count == 6 && rehearsal.engine.rows.outcomeBytes == 0)
    }

    @Test func goesOnWhereARunBeforeEnded() throws {
        let rehearsal = try DeliveryRehearsal([
            TestRow.transaction([Reading("a", 1, 10)]), TestRow.transaction([Reading("a", 1, 20)]),
        ])
        rehearsal.run()
        let outbox = MemoryOutbox(
            [TestRow.transaction([Reading("a", 1, 10)]), TestRow.transaction([Reading("a", 1, 20)])], settledThrough: 3)
        let time = rehearsal.time
        let engine = DeliveryEngine(
            DeliverySettings(base: "http://server/fhir", identity: .create), queue: outbox,
            transport: rehearsal.server, authorizer: rehearsal.authorizer,
            clock: DeliveryClock(elapsed: { time.now }, civil: { time.now }), random: SeededGenerator(seed: 2),
            inbox: try DeliveryInbox())
        engine.turn()
        #expect(outbox.settledThrough == 6 && outbox.receipts.allSatisfy { $0.row == 6 })
    }

    @Test func memoryStaysBounded() throws {
        let row = TestRow.transaction([Reading("a", 1)])
        let block = try #require(FormerBundle.block(of: Array(row.utf8)))
        let rehearsal = try DeliveryRehearsal(Array(repeating: row, count: 200)) {
            $0.rowBytes = block.count * 10
        }
        rehearsal.server.otherwise = { _ in .status(503) }
        rehearsal.run(seconds: 600)
        #expect(rehearsal.engine.rows.count <= 11)
        rehearsal.server.otherwise = nil
        rehearsal.run()
        #expect(rehearsal.outbox.isSettled)
    }

    @Test func whatIsNoBundleIsPutAside() throws {
        let rehearsal = try DeliveryRehearsal([
            "{\"resourceType\":\"Bundle\"", TestRow.transaction([Reading("a", 1)]),
            #"{"resourceType":"Bundle","type":"collection","entry":[]}"#,
        ])
        rehearsal.run()
        #expect(rehearsal.outbox.isSettled)
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.malformedBundle, .malformedBundle])
        #expect(rehearsal.values.count == 1)
    }
}
