import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// A shard takes what its ring holds: all of it, and each record once, however many there are.
@Suite struct ShardStepTests {
    /// A ring, who writes into it, and its shard.
    private struct Run: ~Copyable {
        let record = PipelineRehearsal.Record()
        private let type: Int
        private var router: ReadingRouter
        private var shard: InMemoryShard
        private var devices: Set<Int> = []
        private var time = Instant(seconds: 1_790_000_000)
        private(set) var readings = 0

        init(_ set: MappingSet) throws {
            type = try #require(set.types.firstIndex { $0.name == "bloodPressure" })
            let ring = Ring(capacity: 16_384)
            router = ReadingRouter(rings: [ring], maxDevices: 10_000, maxSeries: 10_000)
            let encoder = ObservationEncoder(
                types: set.types, templates: set.fhirTemplates, options: ObservationOptions(), digest: .openSSL)
            shard = InMemoryShard(
                rings: [ring], types: set.types, settings: WindowSettings(lateness: 60_000_000_000, idle: 0),
                entries: EntryWriter(encoder, limits: BundleLimits(entries: 20)), events: record)
        }

        /// Writes `count` readings of one and two values, and says how many records that makes: a device that was not
        /// there before is a record of its own, whose key fills up to five slots.
        mutating func write(_ count: Int, _ generator: inout SeededGenerator) throws -> Int {
            let known = devices.count
            for _ in 0..<count {
                let device = Int.random(in: 0..<400, using: &generator)
                devices.insert(device)
                let name = "\(device)" + String(repeating: "-", count: device % 5 * 60)
                let key = SeriesKey.encode(SeriesIdentity(type: type, device: Array(name.utf8)))
                time = time.advanced(by: 1_000_000)
                var reading = Measurement(instant: time, received: time)
                reading.setInline(0, Decimal64(mantissa: 120))
                if device.isMultiple(of: 3) { reading.setInline(1, Decimal64(mantissa: 80)) }
                let outcome = key.withByteView { router.route(reading, payload: ByteView(""), key: $0) }
                guard case .written = outcome else { throw RunFailure.fullRing }
            }
            readings += count
            router.publish { _ in }
            return count + devices.count - known
        }

        /// How many records each step took until the ring was empty.
        mutating func steps() -> [Int] {
            var steps: [Int] = []
            while case let taken = shard.step(now: time), taken > 0 { steps.append(taken) }
            return steps
        }

        mutating func end() { shard.drain(now: time) }
    }

    private enum RunFailure: Error { case fullRing }

    /// A few, as many as are looked ahead at, and about as many as are taken before other rings have their turn.
    private static let counts =
        Array(0...40) + Array(4_070...4_075) + [4_087, 4_088, 4_095, 4_096, 4_097, 4_104, 4_111, 4_112, 4_120, 8_300]

    @Test func takesEveryRecordOnce() throws {
        var run = try Run(#require(MappingSelection.load(["reading"]).set))
        var generator = SeededGenerator(seed: Trials.seed(7))
        for count in Self.counts.shuffled(using: &generator) {
            let records = try run.write(count, &generator)
            let steps = run.steps()
            try #require(steps.reduce(0, +) == records, "\(count) readings")
            try #require(steps.allSatisfy { $0 < 4_200 }, "other rings had no turn: \(steps)")
        }
        run.end()
        let (record, readings) = (run.record, run.readings)
        #expect(record.tally.accepted == readings && record.rejected == 0)
        #expect(record.tally.duplicate == 0 && record.tally.conflict == 0)
    }
}
