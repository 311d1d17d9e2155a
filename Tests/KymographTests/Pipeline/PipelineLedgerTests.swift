import CommandSupport
import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What comes in ends somewhere, whatever it is.
@Suite struct PipelineLedgerTests {
    /// Streams that mean harm: broken bytes, wild clocks, changing values, more devices and readings than allowed.
    @Test func theLedgerClosesForAdversarialStreams() throws {
        let set = try #require(MappingSelection.load(["reading", "healthkit-on-fhir", "wristband"]).set)
        for seed in Trials.seeds(tenthOf: 200) {
            var generator = SeededGenerator(seed: seed)
            let limits = WindowLimits(
                maxDevices: 6, maxSeries: 12, maxOpenWindows: 8, maxReadingsPerWindow: 9, preliminaryEvery: 4,
                archiveBytes: seed % 2 == 0 ? 2_000 : 1 << 20)
            let settings = WindowSettings(
                lateness: Int64(seed % 3) * 10_000_000_000, idle: Int64(seed % 2) * 5_000_000_000, limits: limits)
            var rehearsal = PipelineRehearsal(set: set, settings: settings, requiresPatient: seed % 5 == 0)
            for _ in 0..<200 {
                rehearsal.take(HostilePayload.make(&generator), isBatchEnd: Bool.random(using: &generator))
                if Int.random(in: 0..<30, using: &generator) == 0 { rehearsal.pass(nanoseconds: 6_000_000_000) }
            }
            let reader = try rehearsal.end()
            let record = rehearsal.record
            let seen = "seed \(seed): \(record.received) received, \(record.tally), \(record.laneRejected)"
            try #require(record.accounted == record.received && record.received > 100, "\(seen)")
            let mapped = record.readings.entries.reduce(0) { $0 + $1.count }
            try #require(mapped == record.routed, "\(seen), by mapping and type \(mapped)")
            try #require(record.tally.readings == record.routed && record.tally.accepted >= 0, "\(seen)")
            try #require(reader.versions.values.reduce(0, +) == record.tally.observations, "\(seen)")
        }
    }
}

extension PipelineLedgerTests {
    /// A shard works while a batch is mapped, and a store may make durable what it has: a crash then must not leave
    /// more readings than were received.
    @Test func nothingIsInAWindowBeforeItIsCounted() throws {
        let set = try #require(PipelineRehearsal.reading)
        var rehearsal = PipelineRehearsal(set: set, settings: WindowSettings(idle: 0))
        var early = 0
        for index in 0..<600 {
            let line = Readings.heartRate(second: index, value: 60 + index % 40, device: "w-\(index % 3)")
            rehearsal.take(Array(line.utf8), isBatchEnd: false)
            rehearsal.workEarly()
            early += rehearsal.record.tally.accepted > 0 ? 1 : 0
            try #require(rehearsal.record.tally.accepted <= rehearsal.record.received, "reading \(index)")
        }
        #expect(early > 100, "the shard saw nothing before the end of the batch")
    }
}

/// Payloads that a source might get and should not.
enum HostilePayload {
    static func make(_ generator: inout SeededGenerator) -> [UInt8] {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
            return (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
        case 1: return mutated(Array(reading(&generator).utf8), &generator)
        case 2: return Array("[\(reading(&generator)),\(reading(&generator)),3]".utf8)
        case 3: return Array("\(reading(&generator))\n\(reading(&generator))\n{".utf8)
        case 4: return Array(String(repeating: "[", count: Int.random(in: 1..<200, using: &generator)).utf8)
        default: return Array(reading(&generator).utf8)
        }
    }

    private static func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[place] = UInt8.random(in: 0...255, using: &generator)
        }
        return bytes
    }

    private static func reading(_ generator: inout SeededGenerator) -> String {
        let device = Int.random(in: 0..<9, using: &generator)
        // Around the present of a rehearsal, a day back, or far ahead of it.
        let second =
            [1_799_999_000, 1_799_913_600, 1_800_009_000][[0, 0, 0, 0, 1, 2].randomElement(using: &generator) ?? 0]
            + Int.random(in: 0..<600, using: &generator)
        let value =
            ["60", "61.50", "null", "\"x\"", "1e99", "1e-100", "-0", "12345678901234567890", "true"]
            .randomElement(using: &generator) ?? "1"
        let (type, unit) =
            [("heartRate", "/min"), ("steps", "{steps}"), ("glucose", "mg/dL"), ("mood", "/min")]
            .randomElement(using: &generator) ?? ("", "")
        let patient = Bool.random(using: &generator) ? "\"patientId\":\"p-\(device % 2)\"," : ""
        var time = ByteWriter(capacity: 64)
        time.append(Instant(seconds: Int64(second)))
        return """
            {"deviceId":"d-\(device)","type":"\(type)",\(patient)"timestamp":"\(time.view.string)","value":\(value),"unit":"\(unit)"}
            """
    }
}
