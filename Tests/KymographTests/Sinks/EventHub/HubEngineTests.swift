@testable import Kymograph
import KymographCore
import KymographTestKit
import Synchronization
import Testing
import TrialSupport

/// Delivery to an event hub, in a time that passes only here.
@Suite struct HubEngineTests {
    /// A hub in memory, which also does what it is told to do wrong.
    final class Hub: HTTPTransport, @unchecked Sendable {
        // Only the thread of the test calls.
        var requests: [HTTPRequest] = []
        var steps: [Int] = []
        /// Bodies with this text are never taken.
        var poison: (text: String, status: Int)?
        var most = Int.max
        /// Keys and bodies in the order in which they were stored.
        var events: [(key: String?, body: String)] = []
        /// Bodies that came again although the hub had said that it has them.
        var needless: [String] = []
        private var acknowledged: Set<String> = []

        func submit(
            _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void
        ) {
            requests.append(request)
            let text = String(decoding: request.body, as: UTF8.self)
            var status = steps.isEmpty ? 201 : steps.removeFirst()
            if let poison, text.contains(poison.text) { status = poison.status }
            if request.body.count > most { status = 413 }
            // 0: it is stored, and there is no answer.
            if status == 201 || status == 0 { store(request, isAcknowledged: status == 201) }
            guard status > 0 else { return completion(.failure(HTTPFailure(.lost, "the connection broke"))) }
            let headers = status == 429 ? [(name: "Retry-After", value: "20")] : []
            completion(.success(HTTPResponse(status: status, headers: headers)))
        }

        private func store(_ request: HTTPRequest, isAcknowledged: Bool) {
            let header = request.headers.first { $0.name == "BrokerProperties" }?.value
            let key = header.flatMap { try? JSONTree(parsing: Array($0.utf8))["PartitionKey"]?.text }
            for element in (try? JSONTree(parsing: request.body))?.elements ?? [] {
                #expect(element["BrokerProperties"]?["PartitionKey"]?.text == key)
                #expect(element["UserProperties"]?["id"]?.text?.utf8.count == 64)
                let body = element["Body"]?.text ?? ""
                events.append((key, body))
                if acknowledged.contains(body) { needless.append(body) }
                if isAcknowledged { acknowledged.insert(body) }
            }
        }
    }

    /// A block of events: of each its device and its text.
    static func row(_ number: Int64, _ events: [(device: String, text: String)]) -> OutboxRow {
        let drafts = events.map { event in
            var draft = EntryDraft(.event)
            draft.body = Array(event.text.utf8)
            draft.type = Array("heartRate".utf8)
            draft.value = Array(event.device.utf8)
            return draft
        }
        return OutboxRow(
            number: number, body: EntryDraft.block(of: drafts, form: BundleForm(format: .ndjson)),
            since: Instant(seconds: 1_767_225_600))
    }

    private final class Rehearsal {
        let hub = Hub()
        let outbox: HubOutbox
        let time = DeliveryRehearsal.Time()
        let engine: HubEngine

        init(_ rows: [OutboxRow], seed: UInt64 = 1, _ change: (inout HubSettings) -> Void = { _ in }) throws {
            outbox = HubOutbox(rows)
            var settings = HubSettings(url: "https://ward.example/vitals")
            change(&settings)
            let time = time
            engine = HubEngine(
                settings, queue: outbox, transport: hub, authorizer: OpenAuthorizer(),
                clock: DeliveryClock(elapsed: { time.now }, civil: { time.now }), random: SeededGenerator(seed: seed),
                inbox: try DeliveryInbox())
        }

        deinit { engine.abandon() }

        /// Lets time pass until all is settled, a day at most.
        func run() {
            let end = time.now.advanced(by: 2 * 86_400 * 1_000_000_000)
            while true {
                engine.turn()
                guard !engine.isIdle || outbox.hasMore(engine.status.settledThrough), let wake = engine.nextWake,
                    wake < end
                else { return }
                time.advance(to: wake)
            }
        }
    }

    /// Rows in memory, and what became of them.
    final class HubOutbox: OutboxQueue, @unchecked Sendable {
        private let all: [OutboxRow]
        private(set) var settledThrough: Int64 = 0
        private(set) var undeliverable: [UndeliverableEntry] = []

        init(_ rows: [OutboxRow]) { all = rows }

        func rows(after number: Int64, bytes: Int, milliseconds: Int) -> [OutboxRow] {
            var (found, size): ([OutboxRow], Int) = ([], 0)
            for row in all where row.number > number && found.count < 3 {
                if !found.isEmpty, size >= bytes { break }
                found.append(row)
                size += row.body.count
            }
            return found
        }

        func settle(through number: Int64, receipts: [DeliveryReceipt], undeliverable: [UndeliverableEntry]) {
            settledThrough = number
            self.undeliverable += undeliverable
        }

        func hasMore(_ number: Int64) -> Bool { all.contains { $0.number > number } }
    }

    static func rows(_ count: Int, _ random: inout SeededGenerator) -> (
        rows: [OutboxRow], all: [String: [String]]
    ) {
        var (rows, all): ([OutboxRow], [String: [String]]) = ([], [:])
        for number in 1...count {
            let events = (0..<Int.random(in: 1...20, using: &random)).map { place in
                let device = "bed-\(Int.random(in: 0..<5, using: &random))"
                return (device: device, text: #"{"n":"\#(number).\#(place)\n"}"#)
            }
            for event in events { all[event.device, default: []].append(event.text) }
            rows.append(row(Int64(number), events))
        }
        return (rows, all)
    }

    /// Whatever goes wrong on the way: each device's events come in their order, and what is sent again comes right
    /// behind its first time.
    @Test func orderOfADevice() throws {
        for seed in Trials.seeds(tenthOf: 50) {
            var random = SeededGenerator(seed: seed)
            let (rows, all) = Self.rows(20, &random)
            let rehearsal = try Rehearsal(rows, seed: seed) { $0.maxBytes = 2_000 }
            rehearsal.hub.steps = (0..<60).map { _ in
                [201, 201, 0, 500, 503, 429, 401][Int.random(in: 0..<7, using: &random)]
            }
            rehearsal.run()
            for (device, texts) in all {
                var found: [String] = []
                for event in rehearsal.hub.events where event.key == device && !found.contains(event.body) {
                    found.append(event.body)
                }
                #expect(found == texts, "seed \(seed), \(device)")
            }
            #expect(rehearsal.hub.needless == [], "seed \(seed)")
            #expect(rehearsal.outbox.settledThrough == 20 && rehearsal.outbox.undeliverable.isEmpty, "seed \(seed)")
            #expect(rehearsal.hub.requests.allSatisfy { $0.body.count <= 2_000 })
            #expect(rehearsal.engine.status.delivered == all.values.reduce(0) { $0 + $1.count })
        }
    }

    /// Without partition keys, requests hold the events of several devices, which keep their order all the same.
    @Test func withoutKeys() throws {
        var random = SeededGenerator(seed: 3)
        let (rows, all) = Self.rows(30, &random)
        let rehearsal = try Rehearsal(rows) {
            $0.partitioning = .none
            $0.connections = 2
        }
        rehearsal.run()
        #expect(rehearsal.hub.events.allSatisfy { $0.key == nil })
        #expect(rehearsal.hub.requests.count < 30)
        let bodies = rehearsal.hub.events.map(\.body)
        #expect(bodies.count == all.values.reduce(0) { $0 + $1.count })
        for texts in all.values { #expect(bodies.filter(texts.contains) == texts) }
    }

    /// What the hub never takes is put aside alone, with its reason; all others arrive.
    @Test(arguments: [
        (400, Rejection.serverRefused), (413, .entryTooLarge), (500, .serverFailed),
    ])
    func oneThatIsNeverTaken(status: Int, reason: Rejection) throws {
        let events = (0..<40).map { (device: "bed-\($0 % 2)", text: "{\"n\":\"<\($0)>\"}") }
        let more = (40..<100).map { [(device: "bed-2", text: "{\"n\":\"<\($0)>\"}")] }
        let rows = [events] + more
        let rehearsal = try Rehearsal(rows.enumerated().map { Self.row(Int64($0.offset + 1), $0.element) }) {
            $0.maxBytes = 4_096
        }
        rehearsal.hub.poison = ("<7>", status)
        rehearsal.run()
        let letters = rehearsal.outbox.undeliverable
        #expect(letters.map(\.reason) == [reason] && letters.first?.row == 1)
        #expect(
            Set(rehearsal.hub.events.map(\.body))
                == Set((events + more.flatMap { $0 }).map(\.text).filter { !$0.contains("<7>") }))
        // The letter holds the event, to be sent again.
        let block = try #require(letters.first.flatMap { EventBlock(OutboxRow(number: 9, body: $0.bytes)) })
        #expect(block.events().map { String(decoding: $0.body, as: UTF8.self) } == ["{\"n\":\"<7>\"}"])
        #expect(rehearsal.outbox.settledThrough == Int64(rows.count))
    }

    /// Much that waits behind what the hub fails at does not keep others from arriving.
    @Test func othersAreNotHeldUp() throws {
        let rows = (0..<300).map { row in
            Self.row(Int64(row + 1), [("bad", "{\"n\":\"<\(row)>\"}"), ("good-\(row % 3)", "{\"n\":\"(\(row))\"}")])
        }
        let rehearsal = try Rehearsal(rows) { $0.rowBytes = 2_000 }
        rehearsal.hub.poison = ("<0>", 500)
        rehearsal.run()
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.serverFailed])
        #expect(Set(rehearsal.hub.events.map(\.body)).count == 599 && rehearsal.outbox.settledThrough == 300)
        let hours = Double(rehearsal.time.now.nanoseconds - Instant(seconds: 1_767_225_600).nanoseconds) / 3.6e12
        #expect(hours < 3, "\(hours)")
    }

    /// An event that no request can hold is not even tried.
    @Test func longerThanARequest() throws {
        let long = String(repeating: "x", count: 3_000)
        let rehearsal = try Rehearsal([Self.row(1, [("a", "{}"), ("a", long), ("a", "[]")])]) { $0.maxBytes = 2_048 }
        rehearsal.run()
        #expect(rehearsal.outbox.undeliverable.map(\.reason) == [.entryTooLarge])
        #expect(rehearsal.hub.events.map(\.body) == ["{}", "[]"])
    }

    /// A server's wish to be left alone is obeyed, and refusals of the policy or of the hub put nothing aside.
    @Test(arguments: [403, 404, 429]) func waits(status: Int) throws {
        let rehearsal = try Rehearsal([Self.row(1, [("a", "{}")])])
        rehearsal.hub.steps = Array(repeating: status, count: 50)
        let start = rehearsal.time.now
        rehearsal.run()
        #expect(rehearsal.hub.events.count == 1 && rehearsal.outbox.undeliverable.isEmpty)
        let seconds = Double(rehearsal.time.now.nanoseconds - start.nanoseconds) / 1e9
        if status == 429 { #expect(seconds >= 50 * 20) }
    }

    /// What stands in a header is ASCII, and a key longer than a hub takes is its digest.
    @Test func partitionKeys() throws {
        let long = String(repeating: "k", count: 129)
        let names = ["bett-\u{e4}\u{1F600}", "a\"b\\c", long]
        let rehearsal = try Rehearsal([Self.row(1, names.map { ($0, "{}") })])
        rehearsal.run()
        let keys = rehearsal.hub.events.compactMap(\.key)
        #expect(Set(keys.prefix(3)).isSuperset(of: names.prefix(2)))
        #expect(keys.contains { $0.utf8.count == 64 } && keys.count == 3)
        for request in rehearsal.hub.requests {
            #expect(request.headers.allSatisfy { $0.value.utf8.allSatisfy { 0x20...0x7E ~= $0 } })
        }
    }
}
