import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Sinks of events get each reading that is accepted, once, when it is accepted.
@Suite struct EventStreamTests {
    private static let devices = ["a-1", "a-2", "b-1"]
    private static let types = ["heartRate", "bodyTemperature"]

    /// One reading and the source that gives it.
    private struct Delivery {
        var source: Int
        var device: String
        var type: String
        var value: Int
        var time: String

        var line: [UInt8] {
            let unit = type == "heartRate" ? "/min" : "Cel"
            return Array(
                """
                {"deviceId":"\(device)","type":"\(type)","timestamp":"\(time)","value":\(value),"unit":"\(unit)"}
                """.utf8)
        }

        /// What tells it from others in an event.
        var name: String { "\(device) \(type) \(time) \(value)" }
    }

    private static func time(_ second: Int) -> String {
        let parts = [8 + second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "2026-03-01T\(parts.joined(separator: ":"))Z"
    }

    private static func name(of event: JSONTree) -> String {
        let value = event["Properties"]?.elements?.first?["Value"]?.text ?? ""
        return ["DeviceId", "Type", "OccurrenceTimeUtc"].map { event[$0]?.text ?? "" }.joined(separator: " ")
            + " \(value)"
    }

    /// The events that sink `number` has got.
    private static func events(_ record: PipelineRehearsal.Record, _ number: Int) throws -> [JSONTree] {
        try record.bundles.filter { $0.route.contains(number) }.flatMap { bundle in
            try bundle.bytes.split(separator: 0x0A).map { try JSONTree(parsing: Array($0)) }
        }
    }

    private static func rehearsal(
        filters: [SinkFilter] = [], events: [EventSinks.Sink]
    ) throws -> PipelineRehearsal {
        PipelineRehearsal(
            set: try #require(PipelineRehearsal.reading),
            settings: WindowSettings(lateness: 5_000_000_000, idle: 1_000_000_000), sources: 3, filters: filters,
            eventSinks: events)
    }

    private static func withoutObservations() -> SinkFilter {
        var filter = SinkFilter()
        filter.takesObservations = false
        return filter
    }

    /// Readings that come twice give one event; the sink of Observations gets no event, and that of events nothing else.
    @Test func eachAcceptedReadingOnce() throws {
        for seed in Trials.seeds(tenthOf: 100) {
            var random = SeededGenerator(seed: seed)
            let deliveries = (0..<200).map { index in
                Delivery(
                    source: Int.random(in: 0..<3, using: &random),
                    device: Self.devices[Int.random(in: 0..<3, using: &random)],
                    type: Self.types[Int.random(in: 0..<2, using: &random)], value: 30 + index % 8,
                    time: Self.time(index))
            }
            let twice = deliveries.flatMap { Bool.random(using: &random) ? [$0] : [$0, $0] }
            var byDevice = SinkFilter()
            byDevice.devices = [NamePattern("a-*")]
            byDevice.types = [NamePattern("heart*")]
            var bySource = SinkFilter()
            bySource.sources = [2, 3]
            let sinks = [SinkFilter(), byDevice, bySource].enumerated().map {
                EventSinks.Sink(number: $0.offset + 1, filter: $0.element)
            }
            let none = Self.withoutObservations()
            var rehearsal = try Self.rehearsal(filters: [SinkFilter(), none, none, none], events: sinks)
            for (index, delivery) in twice.enumerated() {
                rehearsal.take(delivery.line, source: delivery.source, isBatchEnd: index % 7 == 6)
                if index % 60 == 59 { rehearsal.pass(nanoseconds: 2_000_000_000) }
            }
            // It reads bundles, which the events are none of.
            _ = try? rehearsal.end()
            let passes: [(Delivery) -> Bool] = [
                { _ in true }, { $0.device.hasPrefix("a-") && $0.type == "heartRate" }, { $0.source > 0 },
            ]
            for (number, passes) in passes.enumerated() {
                let found = try Self.events(rehearsal.record, number + 1).map(Self.name)
                #expect(found == deliveries.filter(passes).map(\.name), "seed \(seed), sink \(number + 1)")
            }
            let bundles = try Self.events(rehearsal.record, 0)
            #expect(!bundles.isEmpty && bundles.allSatisfy { $0["resourceType"]?.text == "Bundle" })
            #expect(rehearsal.record.tally.accepted == 200)
        }
    }

    /// An event does not wait for its window, only as long as bundles may wait to be filled.
    @Test func doesNotWaitForTheWindow() throws {
        var rehearsal = try Self.rehearsal(
            filters: [Self.withoutObservations()], events: [EventSinks.Sink(number: 0, filter: SinkFilter())])
        let delivery = Delivery(source: 0, device: "a-1", type: "heartRate", value: 60, time: Self.time(0))
        rehearsal.take(delivery.line, isBatchEnd: true)
        #expect(rehearsal.record.bundles.isEmpty)
        rehearsal.pass(nanoseconds: 200_000_000)
        #expect(try Self.events(rehearsal.record, 0).map(Self.name) == [delivery.name])
        #expect(rehearsal.record.tally.windows == 0)
        let next = Delivery(source: 0, device: "a-1", type: "heartRate", value: 61, time: Self.time(1))
        rehearsal.take(next.line, isBatchEnd: true)
        let hasSent = rehearsal.sendWaiting()
        #expect(hasSent)
        #expect(try Self.events(rehearsal.record, 0).map(Self.name) == [delivery.name, next.name])
    }

    /// Of two readings that cannot both be right, the one that was received last is an event, whichever comes first;
    /// a rejected one never is.
    @Test(arguments: [true, false]) func supersededReadings(isLastFirst: Bool) throws {
        var rehearsal = try Self.rehearsal(
            filters: [Self.withoutObservations()], events: [EventSinks.Sink(number: 0, filter: SinkFilter())])
        func take(_ value: Int) {
            let delivery = Delivery(source: 0, device: "a-1", type: "bodyTemperature", value: value, time: Self.time(0))
            rehearsal.take(delivery.line, isBatchEnd: true)
        }
        take(36)
        rehearsal.now = rehearsal.now.advanced(by: isLastFirst ? -1_000_000_000 : 1_000_000_000)
        take(37)
        rehearsal.take(Array(#"{"deviceId":"a-1"}"#.utf8), isBatchEnd: true)
        // It reads bundles, which the events are none of.
        _ = try? rehearsal.end()
        let values = try Self.events(rehearsal.record, 0).map { $0["Properties"]?.elements?.first?["Value"]?.text }
        #expect(values == (isLastFirst ? ["36"] : ["36", "37"]))
    }

    /// Who got a reading for a tag gets the one that takes its place, although that has it not.
    @Test func correctionsOfTaggedReadings() throws {
        var seen = SinkFilter()
        seen.tags = [NamePattern("seen")]
        var rehearsal = try Self.rehearsal(
            filters: [Self.withoutObservations()], events: [EventSinks.Sink(number: 0, filter: seen)])
        var rule = ReadingRule(name: "low")
        (rule.action, rule.below, rule.tags) = (.rewrite, Decimal64(mantissa: 37), ["seen"])
        let types = try #require(PipelineRehearsal.reading).types
        rehearsal.decide(by: RuleDecider([rule], sources: ["a", "b", "c"].map { .init($0) }, types: types))
        for (value, at) in [(36, 0), (37, 0), (38, 1)] {
            let delivery = Delivery(
                source: 0, device: "a-1", type: "bodyTemperature", value: value, time: Self.time(at))
            rehearsal.take(delivery.line, isBatchEnd: true)
            rehearsal.now = rehearsal.now.advanced(by: 1_000_000_000)
        }
        // It reads bundles, which the events are none of.
        _ = try? rehearsal.end()
        let values = try Self.events(rehearsal.record, 0).map { $0["Properties"]?.elements?.first?["Value"]?.text }
        #expect(values == ["36", "37"])
    }
}
