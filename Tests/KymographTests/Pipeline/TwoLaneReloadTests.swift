import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing

/// Two lanes that change to a newer mapping one after the other, in front of one shard.
@Suite struct TwoLaneReloadTests {
    private static let context = SourceContext()

    private static func inputs(_ set: MappingSet) -> [LaneInput] {
        [LaneInput(templates: set.templates(of: ["m"]), context: context)]
    }

    private static func lane(_ set: MappingSet, _ ring: Ring, _ record: PipelineRehearsal.Record) -> ReadingLane {
        ReadingLane(
            set: set, inputs: inputs(set), limits: ScanLimits(),
            router: ReadingRouter(rings: [ring], maxDevices: 100, maxSeries: 100), events: record)
    }

    private static func send(_ device: String, _ seconds: Range<Int>, _ lane: inout ReadingLane) {
        for second in seconds {
            let time = second < 10 ? "0\(second)" : "\(second)"
            let line = #"{"d":"\#(device)","t":"2026-03-01T08:00:\#(time)Z","pulse":70}"#
            let storage = PaddedBytes(copying: line.utf8)
            lane.line(storage.view, source: 0, received: Instant(seconds: 1_800_000_000))
        }
        lane.batchEnd()
    }

    /// The codes of a device's Observations in order of time.
    private func codes(_ reader: BundleReader, _ device: String) -> [String] {
        let own = reader.observations.values.filter {
            $0["identifier"]?.elements?.first?["value"]?.text?.contains(".\(device).") ?? false
        }
        return own.sorted { ($0["effectiveDateTime"]?.text ?? "") < ($1["effectiveDateTime"]?.text ?? "") }
            .compactMap { $0["code"]?["coding"]?.elements?.first?["code"]?.text }
    }

    /// Each reading is written by the mapping of its lane at the time, whichever ring the shard looks at first.
    @Test(arguments: [true, false])
    func eachLaneHasItsOwnMark(firstLaneIsAhead: Bool) throws {
        let record = PipelineRehearsal.Record()
        let first = try PipelineReloadTests.Mapping().load()
        let second = try PipelineReloadTests.Mapping(code: "two", strangers: 2).load(after: first)
        let rings = [Ring(capacity: 1_024), Ring(capacity: 1_024)]
        var ahead = Self.lane(first, rings[firstLaneIsAhead ? 0 : 1], record)
        var behind = Self.lane(first, rings[firstLaneIsAhead ? 1 : 0], record)
        let mappings = MappingExchange(first)
        let encoder = ObservationEncoder(types: first.types, templates: first.fhirTemplates, digest: .openSSL)
        var shard = InMemoryShard(
            rings: rings, types: first.types, settings: WindowSettings(), entries: EntryWriter(encoder),
            events: record, mappings: mappings)
        func follow(_ lane: inout ReadingLane) {
            let (set, generation) = mappings.announce(rings: 1)
            lane.adopt(set, generation: generation, inputs: Self.inputs(set))
        }
        let now = Instant(seconds: 1_800_000_000)
        mappings.replace(with: second)
        Self.send("a", 0..<5, &ahead)
        Self.send("b", 0..<5, &behind)
        follow(&ahead)
        Self.send("a", 5..<9, &ahead)
        _ = shard.step(now: now)
        Self.send("b", 5..<7, &behind)
        Self.send("a", 9..<10, &ahead)
        _ = shard.step(now: now)
        follow(&behind)
        Self.send("b", 7..<10, &behind)
        while shard.step(now: now) > 0 {}
        shard.drain(now: now)
        var reader = BundleReader()
        try reader.read(ndjson: record.output)
        #expect(codes(reader, "a") == Array(repeating: "one", count: 5) + Array(repeating: "two", count: 5))
        #expect(codes(reader, "b") == Array(repeating: "one", count: 7) + Array(repeating: "two", count: 3))
        #expect(record.tally.accepted == 20)
    }
}
