import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// The order in which readings come, and how often, does not change what a server holds in the end.
@Suite struct PipelineOrderTests {
    private static let lateness: Int64 = 60_000_000_000

    static func plan(_ seed: UInt64) -> SimulationPlan {
        var plan = SimulationPlan()
        plan.devices = 3
        plan.rates = SimulationPlan.wearableRates(total: 0.5)
        plan.duration = 120_000_000_000
        plan.seed = seed
        plan.jitter = 0.8
        plan.duplicates = 0.15
        plan.late = 0.2
        plan.maxLateness = lateness - 1
        plan.outOfOrder = 0.2
        return plan
    }

    /// The payloads of a plan, in order of arrival.
    static func deliveries(_ plan: SimulationPlan) -> [SimulatedDelivery] {
        var simulator = DeviceSimulator(plan: plan)
        var all: [SimulatedDelivery] = []
        while let delivery = simulator.next() { all.append(delivery) }
        return all
    }

    static func bytes(_ delivery: SimulatedDelivery) -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        delivery.reading.append(to: &writer)
        return writer.view.array
    }

    /// Late, swapped and repeated readings within the lateness, against the same readings sorted and once.
    @Test func anyOrderGivesTheSameObservations() throws {
        let set = try #require(MappingSelection.load(["reading"], defaultPeriod: 30_000_000_000).set)
        let seeds = Trials.seeds(tenthOf: 240)
        var amended = 0
        for seed in seeds {
            let arrived = PipelineOrderTests.deliveries(PipelineOrderTests.plan(seed))
            let sorted = arrived.filter { !$0.isDuplicate }.sorted { $0.reading.time < $1.reading.time }
            let (wanted, reference) = try play(set, sorted, seed: seed, pauses: false)
            let (found, record) = try play(set, arrived, seed: seed, pauses: true)
            let differences = found.differences(from: wanted, ignoring: ["status"])
            try #require(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
            try #require(wanted.observations.count > 4 && reference.tally.accepted == sorted.count, "seed \(seed)")
            try #require(
                record.received == arrived.count && record.accounted == arrived.count
                    && record.tally.duplicate == arrived.count - sorted.count && record.rejected == 0,
                "seed \(seed): \(record.tally)")
            amended += record.tally.amended
        }
        #expect(amended > seeds.count, "too few windows were closed and opened again for this to say much")
    }

    /// With pauses, windows close by silence too, and are amended by what comes then.
    private func play(
        _ set: MappingSet, _ deliveries: [SimulatedDelivery], seed: UInt64, pauses: Bool
    ) throws -> (BundleReader, PipelineRehearsal.Record) {
        let settings = WindowSettings(lateness: PipelineOrderTests.lateness, idle: 10_000_000_000)
        var rehearsal = PipelineRehearsal(set: set, settings: settings)
        var generator = SeededGenerator(seed: seed)
        for delivery in deliveries {
            rehearsal.take(
                PipelineOrderTests.bytes(delivery), isBatchEnd: Int.random(in: 0..<20, using: &generator) == 0)
            if pauses, Int.random(in: 0..<60, using: &generator) == 0 { rehearsal.pass(nanoseconds: 11_000_000_000) }
        }
        let reader = try rehearsal.end()
        #expect(!rehearsal.record.isRoomWanted)
        return (reader, rehearsal.record)
    }

    /// All orders are one: shuffled without any bound, even windows that closed long ago end up the same.
    @Test func anyShuffleGivesTheSameObservations() throws {
        let set = try #require(MappingSelection.load(["reading"], defaultPeriod: 30_000_000_000).set)
        for seed in Trials.seeds(tenthOf: 40, from: 500) {
            var generator = SeededGenerator(seed: seed)
            let arrived = PipelineOrderTests.deliveries(PipelineOrderTests.plan(seed))
            let (wanted, _) = try play(set, arrived, seed: seed, pauses: false)
            let (found, record) = try play(set, arrived.shuffled(using: &generator), seed: seed, pauses: true)
            let differences = found.differences(from: wanted, ignoring: ["status"])
            try #require(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
            try #require(record.accounted == record.received, "seed \(seed)")
        }
    }
}
