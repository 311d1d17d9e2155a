import KymographCore
import KymographTemplates
import KymographTestKit
import Synchronization
import Testing

@testable import Kymograph

/// The playground answers, and cannot be kept busy.
@Suite struct PlaygroundTests {
    private static let payload =
        #"{"deviceId":"watch-1","type":"heartRate","timestamp":"2026-03-01T08:00:05Z","value":72,"unit":"/min"}"#

    private func request(_ name: String = "reading", _ payload: String = Self.payload) throws
        -> Playground.Request
    {
        let files = try #require(MappingCatalogue.files(of: name))
        var request = Playground.Request()
        (request.device, request.fhir, request.name) = (files.device, files.fhir, files.name)
        request.payload = Array(payload.utf8)
        return request
    }

    @Test func answers() throws {
        let answer = try Playground(within: .seconds(60)).answer(to: try request())
        #expect(answer.findings.isEmpty)
        let tree = try JSONTree(parsing: try #require(answer.document))
        #expect(
            tree["observations"]?.elements?.count == 1 && tree["explain"]?["version"] == .number("1"))
        let sent = try JSONTree(parsing: answer.json)
        #expect(sent["output"]?.text == String(decoding: answer.document ?? [], as: UTF8.self))
    }

    /// What is wrong with a mapping comes with its place.
    @Test func findings() throws {
        var broken = try request()
        broken.device = Array(
            "{\n  \"templateType\": \"CollectionContent\",\n  \"template\": 7\n}".utf8)
        let answer = try Playground(within: .seconds(60)).answer(to: broken)
        #expect(answer.document == nil)
        let finding = try JSONTree(parsing: answer.json)["findings"]?.elements?.first
        #expect(finding?["line"] == .number("3") && finding?["severity"]?.text == "error")
        #expect(try JSONTree(parsing: answer.json)["output"] == nil)
        var exchanged = try request()
        swap(&exchanged.device, &exchanged.fhir)
        let other = try Playground(within: .seconds(60)).answer(to: exchanged)
        #expect(other.findings.first?.message.contains("exchange the two files") == true)
    }

    /// A resource of the MedTech service has its mapping somewhere within.
    @Test func exports() throws {
        var export = try request()
        let plain = Playground.answer(to: export, received: Instant(seconds: 1_800_000_000))
        let mapping = String(decoding: export.device, as: UTF8.self)
        export.device = Array("{\"properties\":{\"deviceMapping\":{\"content\":\(mapping)}}}".utf8)
        let answer = Playground.answer(to: export, received: Instant(seconds: 1_800_000_000))
        #expect(answer.findings.isEmpty)
        let (mine, theirs) = (try #require(answer.document), try #require(plain.document))
        #expect(
            try JSONTree(parsing: mine)["measurements"] == JSONTree(parsing: theirs)["measurements"])
    }

    @Test func limits() throws {
        let playground = Playground(within: .seconds(60))
        var large = try request()
        large.payload = Array(repeating: 0x20, count: Playground.mostPayload + 1)
        #expect(throws: Playground.Refusal.tooLarge(part: "payload", most: 65_536)) {
            try playground.answer(to: large)
        }
        let now = ContinuousClock.now
        for _ in 0..<Playground.rate { _ = try playground.answer(to: try request(), now: now) }
        #expect(throws: Playground.Refusal.tooMany(milliseconds: 501)) {
            try playground.answer(to: try request(), now: now + .milliseconds(500))
        }
        _ = try playground.answer(to: try request(), now: now + .seconds(1))
    }

    /// Work whose time is over is left alone, everybody is told of it, and the thread goes on when it has ended.
    @Test func slowWork() throws {
        let isOver = Atomic(false)
        let playground = Playground { request, _ in
            while request.name == "slow", !isOver.load(ordering: .acquiring) { Wait.milliseconds(1) }
            return Playground.Answer(document: Array(request.name.utf8), findings: [])
        }
        var slow = Playground.Request()
        slow.name = "slow"
        let quick = Playground.Request()
        let start = ContinuousClock.now
        #expect(try playground.answer(to: quick, now: start).document == Array("mapping".utf8))
        #expect(throws: Playground.Refusal.tooSlow) { try playground.answer(to: slow, now: start) }
        for second in 1..<4 {
            #expect(throws: Playground.Refusal.slow) {
                try playground.answer(to: quick, now: start + .seconds(second))
            }
        }
        isOver.store(true, ordering: .releasing)
        var last: Playground.Answer?
        for second in 0..<1_000 where last == nil {
            last = try? playground.answer(to: quick, now: start + .seconds(20 + second))
            if last == nil { Wait.milliseconds(2) }
        }
        #expect(last?.document == Array("mapping".utf8))
    }

    /// Requests wait for each other in order, three at most; whoever waits for too long leaves the queue.
    @Test func waiting() throws {
        let queue = try PlaygroundQueue()
        final class Shared: Sendable {
            let isOver = Atomic(false)
            let done = Mutex<[Int]>([])
        }
        let shared = Shared()
        func job(_ number: Int, seconds: Int) throws -> PlaygroundJob {
            try PlaygroundJob(until: .now + .seconds(seconds)) { _ in
                while number == 0, !shared.isOver.load(ordering: .acquiring) { Wait.milliseconds(1) }
                shared.done.withLock { $0.append(number) }
                return Playground.Answer(document: [UInt8(number)], findings: [])
            }
        }
        let first = try job(0, seconds: 60)
        try queue.add(first)
        // It may have to begin before three more fit.
        var waiting: [PlaygroundJob] = []
        while waiting.count < 3 {
            let next = try job(waiting.count + 1, seconds: 60)
            do throws(Playground.Refusal) { try queue.add(next) } catch { continue }
            waiting.append(next)
        }
        let more = try job(9, seconds: 60)
        var refusal: Playground.Refusal?
        while refusal == nil {
            do throws(Playground.Refusal) {
                try queue.add(more)
                _ = queue.giveUp(more)
            } catch { refusal = error }
        }
        #expect(refusal == .busy)
        #expect(!queue.giveUp(waiting[1]) && queue.giveUp(first))
        shared.isOver.store(true, ordering: .releasing)
        #expect(waiting[2].wait()?.document == [3])
        #expect(shared.done.withLock { $0 } == [0, 1, 3])
        queue.close()
    }

    /// What would copy a large payload for each of its matches, in several templates, is not begun.
    @Test func payloadsThatWouldBeCopied() throws {
        var request = try request()
        let template = """
            {"templateType": "CalculatedContent", "template": {
              "typeName": "heartRate", "typeMatchExpression": "$.Body.a[*]", "deviceIdExpression": "$..x",
              "timestampExpression": "$.Body.t",
              "values": [{"valueName": "beatsPerMinute", "valueExpression": "$..x", "required": true}]}}
            """
        let templates = Array(repeating: template, count: 10).joined(separator: ",")
        request.device = Array(#"{"templateType": "CollectionContent", "template": [\#(templates)]}"#.utf8)
        request.payload = Array(
            "{\"t\":1,\"a\":[\(Array(repeating: "0", count: 30_000).joined(separator: ","))]}".utf8)
        let refused = Playground.answer(
            to: request, received: Instant(seconds: 1_800_000_000), until: .now + .seconds(1))
        #expect(refused.document == nil)
        #expect(
            refused.findings.contains { $0.message.contains("look at the whole payload") }, "\(refused.findings)")
    }

    /// A small payload that gives very much is refused, and not held in memory.
    @Test func payloadsThatGiveTooMuch() throws {
        var many = try request()
        many.device = Array(
            """
            {"templateType": "CollectionContent", "template": [{"templateType": "CalculatedContent", "template": {
              "typeName": "heartRate", "typeMatchExpression": "$.Body.a[*]", "deviceIdExpression": "$.Body.nobody",
              "timestampExpression": "$.Body.t",
              "values": [{"valueName": "beatsPerMinute", "valueExpression": "$.matchedToken", "required": true}]}}]}
            """.utf8)
        many.payload = Array(
            "{\"t\":1,\"a\":[\(Array(repeating: "0", count: 30_000).joined(separator: ","))]}".utf8)
        let refused = Playground.answer(
            to: many, received: Instant(seconds: 1_800_000_000), until: .now + .seconds(1))
        #expect(refused.document == nil)
        #expect(
            refused.findings.contains { $0.message.contains("more than 2000 readings") },
            "\(refused.findings)")
        let readings = Array(repeating: Self.payload, count: Playground.mostReadings + 1).joined(
            separator: "\n")
        let large = Playground.answer(
            to: try request("reading", readings), received: Instant(seconds: 1_900_000_000))
        #expect(large.document == nil && large.findings.last?.advice.contains("kymo map") == true)
    }

    /// An explanation ends at its deadline, and says so.
    @Test func theDeadline() throws {
        let answer = Playground.answer(
            to: try request(), received: Instant(seconds: 1_800_000_000), until: .now - .seconds(1))
        let tree = try JSONTree(parsing: try #require(answer.document))
        #expect(tree["explain"]?["isCut"] == .bool(true) && tree["measurements"]?.elements?.count == 1)
    }
}
