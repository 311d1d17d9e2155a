import FoundationEssentials
import GRDB
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph
@testable import KymographCore

/// Payloads as the store keeps them.
@Suite struct PayloadSectionTests {
    /// A payload as it was given to a section, with its readings.
    private struct Given: Equatable {
        var source: Int
        var received: Instant
        var bytes: [UInt8]
        var readings: [Reading]
    }

    private struct Reading: Equatable {
        var series: SeriesIdentity
        var instant: Instant
    }

    private static let types = ["heartRate", "bloodPressure"]

    private static func identifier(_ random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 1...40, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    private static func series(_ random: inout SeededGenerator) -> [SeriesIdentity] {
        (0..<4).map { number in
            SeriesIdentity(
                type: number % 2, device: identifier(&random),
                patient: Bool.random(using: &random) ? identifier(&random) : nil,
                encounter: Bool.random(using: &random) ? identifier(&random) : nil,
                correlation: number == 3 ? identifier(&random) : nil)
        }
    }

    private static func given(_ series: [SeriesIdentity], _ random: inout SeededGenerator) -> Given {
        func time() -> Instant { Instant(nanoseconds: Int64.random(in: .min ... .max, using: &random)) }
        let readings = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            Reading(series: series[Int.random(in: 0..<series.count, using: &random)], instant: time())
        }
        let size = Int.random(in: 0...300, using: &random)
        return Given(
            source: Int.random(in: 0...300, using: &random), received: time(),
            bytes: (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }, readings: readings)
    }

    private static func write(_ payloads: [Given], into writer: inout PayloadSectionWriter) {
        for payload in payloads {
            writer.begin()
            for reading in payload.readings {
                SeriesKey.encode(reading.series).withByteView {
                    writer.note($0, type: types[reading.series.type], at: reading.instant)
                }
            }
            payload.bytes.withByteView { writer.end($0, source: payload.source, received: payload.received) }
        }
    }

    private static func read(_ content: [UInt8]) -> (payloads: [Given], isWhole: Bool) {
        var payloads: [Given] = []
        let isWhole = PayloadRow.forEachSection(content) { bytes, reader in
            while let record = reader.next() {
                let readings = record.readings.map { place, instant in
                    let series = reader.series[place]
                    let type = types.firstIndex { Array($0.utf8) == series.type } ?? -1
                    return Reading(
                        series: SeriesIdentity(
                            type: type, device: series.device, patient: series.patient, encounter: series.encounter,
                            correlation: series.correlation), instant: instant)
                }
                payloads.append(
                    Given(
                        source: record.source, received: record.received, bytes: bytes[record.bytes].array,
                        readings: readings))
            }
            return true
        }
        return (payloads, isWhole)
    }

    /// What is written is read: several sections in a row, with any identifiers, times and bytes. Changed bytes give
    /// others, or an end that is told, and never anything behind their end.
    @Test func whatIsWrittenIsRead() throws {
        for seed in Trials.seeds(200) {
            var random = SeededGenerator(seed: seed)
            var writer = PayloadSectionWriter()
            var (row, all) = (PayloadRow(), [Given]())
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let series = Self.series(&random)
                let payloads = (0..<Int.random(in: 0...20, using: &random)).map { _ in Self.given(series, &random) }
                Self.write(payloads, into: &writer)
                let kept = payloads.filter { !$0.readings.isEmpty }
                let section = writer.take()
                #expect(section?.count ?? 0 == kept.count, "seed \(seed)")
                section.map { row.add($0) }
                all += kept
            }
            let read = Self.read(row.content)
            #expect(read.isWhole && read.payloads == all && row.count == all.count, "seed \(seed)")
            #expect(PayloadRow.devices(in: row.content) == row.devices, "seed \(seed)")
            for reading in all.flatMap(\.readings) {
                let hours = try #require(row.devices[reading.series.device])
                #expect(hours.contains(PayloadSection.hour(of: reading.instant)), "seed \(seed)")
            }
            guard !row.content.isEmpty else { continue }
            var changed = row.content
            changed[Int.random(in: changed.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            changed.removeLast(Int.random(in: 0...min(4, changed.count - 1), using: &random))
            _ = Self.read(changed)
        }
    }

    /// A repair makes the table of devices again: what it lost is found all the same.
    @Test func theIndexIsMadeAgain() throws {
        let scratch = Scratch()
        let store = try Store(path: scratch.path)
        defer { store.close() }
        var random = SeededGenerator(seed: Trials.seed(1))
        let series = Self.series(&random)
        var payload = Self.given(series, &random)
        payload.readings = [Reading(series: series[0], instant: Instant(nanoseconds: 5))]
        var writer = PayloadSectionWriter()
        Self.write([payload], into: &writer)
        let taken = writer.take()
        let section = try #require(taken)
        try store.pool.write { db in
            var compressor = BodyCompressor()
            try StoredPayloads.insert([section], &compressor, now: Instant(nanoseconds: 1), db)
            try db.execute(sql: "DELETE FROM raw_device")
        }
        var salvage = StoreSalvage(store.directory, now: DurableRehearsal.start, lostTransactions: 0)
        let target = try DatabaseQueue()
        try StoreSchema.prepare(target)
        try target.write { db in
            try salvage.run(into: db)
            var found: [[Given]] = []
            let at = Instant(nanoseconds: 5)
            for number in try StoredPayloads.rows(of: series[0].device, first: at, last: at, db) {
                found.append(try StoredPayloads.content(ofRow: number, db).map { Self.read($0).payloads } ?? [])
            }
            #expect(found == [[payload]])
            #expect(try StoredPayloads.dropOldest(10, before: .max, db) == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM raw_device") == 0)
        }
    }
}
