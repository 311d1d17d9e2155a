import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Several lanes of one shard: each numbers series in the order in which it has seen them, and the shard in another.
@Suite struct SeveralLanesTests {
    private static let lateness: Int64 = 60_000_000_000

    /// Two lanes with a ring each, and their shard.
    private struct Run: ~Copyable {
        let record = PipelineRehearsal.Record()
        private var first: ReadingLane
        private var second: ReadingLane
        private var shard: InMemoryShard
        private let now = Instant(seconds: 1_800_000_000)

        init(_ set: MappingSet, maxDevices: Int) {
            let rings = [Ring(capacity: 4_096), Ring(capacity: 4_096)]
            first = Run.lane(set, rings[0], maxDevices, record)
            second = Run.lane(set, rings[1], maxDevices, record)
            var settings = WindowSettings(lateness: SeveralLanesTests.lateness, idle: 0)
            settings.limits.maxDevices = maxDevices
            let encoder = ObservationEncoder(
                types: set.types, templates: set.fhirTemplates, options: ObservationOptions(), digest: .openSSL)
            shard = InMemoryShard(
                rings: rings, types: set.types, settings: settings,
                entries: EntryWriter(encoder, limits: BundleLimits(entries: 20)),
                events: record)
        }

        private static func lane(
            _ set: MappingSet, _ ring: Ring, _ maxDevices: Int, _ record: PipelineRehearsal.Record
        ) -> ReadingLane {
            let context = SourceContext(requiresPatient: false)
            return ReadingLane(
                set: set, inputs: [LaneInput(templates: set.templates(of: set.mappings), context: context)],
                limits: ScanLimits(),
                router: ReadingRouter(rings: [ring], maxDevices: maxDevices, maxSeries: 10_000), events: record)
        }

        mutating func take(_ delivery: SimulatedDelivery, bySecond: Bool) {
            let bytes = PaddedBytes(copying: PipelineOrderTests.bytes(delivery))
            if bySecond {
                second.datagram(bytes.view, source: 0, received: now)
                second.batchEnd()
            } else {
                first.datagram(bytes.view, source: 0, received: now)
                first.batchEnd()
            }
        }

        mutating func work() { while shard.step(now: now) > 0 {} }

        mutating func end() throws -> BundleReader {
            shard.drain(now: now)
            var reader = BundleReader()
            try reader.read(ndjson: record.output)
            return reader
        }
    }

    /// Gives each reading to the lane that `bySecond` says, and lets the shard work now and then.
    private func play(
        _ set: MappingSet, seed: UInt64, maxDevices: Int, bySecond: (inout SeededGenerator) -> Bool
    ) throws -> (found: BundleReader, record: PipelineRehearsal.Record) {
        var run = Run(set, maxDevices: maxDevices)
        var generator = SeededGenerator(seed: seed)
        for delivery in PipelineOrderTests.deliveries(PipelineOrderTests.plan(seed)) {
            run.take(delivery, bySecond: bySecond(&generator))
            if Int.random(in: 0..<20, using: &generator) == 0 { run.work() }
        }
        let found = try run.end()
        #expect(!run.record.isRoomWanted)
        return (found, run.record)
    }

    @Test func itDoesNotMatterWhichLaneBringsAReading() throws {
        let set = try #require(MappingSelection.load(["reading"], defaultPeriod: 30_000_000_000).set)
        for seed in Trials.seeds(tenthOf: 60) {
            let (wanted, _) = try play(set, seed: seed, maxDevices: 1_000) { _ in false }
            let (found, record) = try play(set, seed: seed, maxDevices: 1_000) { Bool.random(using: &$0) }
            let differences = found.differences(from: wanted, ignoring: ["status"])
            try #require(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
            try #require(wanted.observations.count > 4 && record.rejected == 0, "seed \(seed)")
            try #require(record.accounted == record.received, "seed \(seed)")
        }
    }

    /// Each lane is within the limit and both together are not: the shard refuses devices in between others.
    @Test func devicesThatTheShardRefusesTakeNobodysPlace() throws {
        let set = try #require(MappingSelection.load(["reading"], defaultPeriod: 30_000_000_000).set)
        let seeds = Trials.seeds(tenthOf: 60, from: 100)
        var refused = 0
        for seed in seeds {
            let (all, _) = try play(set, seed: seed, maxDevices: 1_000) { _ in false }
            let (found, record) = try play(set, seed: seed, maxDevices: 2) { Bool.random(using: &$0) }
            let wrong = found.observations.filter { all.observations[$0.key] == nil }
            try #require(wrong.isEmpty && !found.observations.isEmpty, "seed \(seed): \(wrong.keys)")
            let kept = record.tally.accepted + record.tally.duplicate + record.tally.conflict
            try #require(record.accounted == record.received && kept > 0, "seed \(seed): \(record.tally)")
            refused += record.tally.rejected[Int(Rejection.tooManyDevices.rawValue)]
        }
        #expect(refused > seeds.count, "too few devices were refused for this to say much")
    }
}
