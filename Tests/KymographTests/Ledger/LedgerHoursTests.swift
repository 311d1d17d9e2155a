import GRDB
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// Each hour is what the ledger says of its device and hour.
@Suite struct LedgerHoursTests {
    private static let now = DurableRehearsal.start.nanoseconds / 1_000_000_000

    private func line(_ time: Int64, _ device: String, value: String = "70") -> [UInt8] {
        let text = Instant(seconds: time).text
        return Array(
            #"{"deviceId":"\#(device)","patientId":"p-1","type":"heartRate","timestamp":"\#(text)","value":\#(value),"unit":"/min"}"#
                .utf8)
    }

    @Test(arguments: Trials.seeds(12)) func hoursAreThoseOfTheLedger(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let start = Self.now - Self.now % 3_600 - 6 * 3_600
        var lines: [[UInt8]] = []
        for _ in 0..<Int.random(in: 1...150, using: &random) {
            let device = "watch-\(Int.random(in: 1...3, using: &random))"
            let time =
                start + Int64.random(in: 0..<6, using: &random) * 3_600 + Int64.random(in: 0..<900, using: &random)
            let isAhead = Int.random(in: 0..<20, using: &random) == 0
            let isBad = Int.random(in: 0..<20, using: &random) == 0
            lines.append(line(isAhead ? Self.now + 90_000 : time, device, value: isBad ? "null" : "70"))
        }
        var run = try StoredRun(scratch.path, set: set)
        try run.take(lines, delivers: Bool.random(using: &random))
        let isEnded = Bool.random(using: &random)
        if isEnded { try run.end() }
        let reader = try StoreReader(directory: scratch.path)
        let span = (Instant(seconds: start), Instant(seconds: start + 7 * 3_600))
        let hours = try reader.ledgerHours(
            device: nil, patient: "p-1", from: span.0, to: span.1, now: Instant(seconds: Self.now),
            isRunning: !isEnded)
        #expect(!hours.isPartial && hours.devices.allSatisfy { $0.hours.count == 7 }, "seed \(seed)")
        for device in hours.devices {
            for hour in device.hours {
                var filter = ArchiveFilter()
                (filter.devices, filter.patients) = ([device.device], ["p-1"])
                (filter.from, filter.to) = (hour.start, hour.start.advanced(by: 3_600_000_000_000))
                let report = try reader.ledger(filter, isRunning: !isEnded)
                let place = "seed \(seed), \(device.device) \(hour.start.text)"
                let own = report.series.isEmpty ? ["there are no readings"] + hour.missing : hour.missing
                #expect(report.missing == own + hours.storeWide, "\(place)")
                #expect(hour.superseded == report.superseded, "\(place)")
                #expect(hour.readings == report.series.reduce(0) { $0 + $1.readings + $1.open }, "\(place)")
                let isOver = hour.start.advanced(by: 3_600_000_000_000) <= Instant(seconds: Self.now)
                let expected: LedgerHours.State =
                    !hour.missing.isEmpty ? .incomplete : hour.readings == 0 ? .none : isOver ? .complete : .running
                #expect(hour.state == expected, "\(place)")
            }
        }
        #expect(try JSONTree(parsing: hours.json)["devices"]?.elements?.count == hours.devices.count)
        if !isEnded { try run.end() }
    }

    /// A window of a day counts in each hour what came in it; hours without readings are not complete.
    @Test func windowsOfADay() throws {
        let set = try #require(MappingSelection.load(["reading"], defaultPeriod: 86_400_000_000_000).set)
        let scratch = Scratch()
        let day = Self.now - Self.now % 86_400 - 86_400
        var run = try StoredRun(scratch.path, set: set)
        try run.take([line(day + 600, "watch-1"), line(day + 85_800, "watch-1")], delivers: true)
        try run.end()
        let cells = try hours(scratch, from: day, to: day + 86_400)
        #expect(cells.map(\.readings) == [1] + Array(repeating: 0, count: 22) + [1])
        #expect(cells.map(\.state) == [.complete] + Array(repeating: .none, count: 22) + [.complete])
    }

    /// An hour of which a bridge lost all frames is not complete, and not empty either.
    @Test func lostFrames() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let start = Self.now - Self.now % 3_600 - 7_200
        var run = try StoredRun(scratch.path, set: set)
        try run.take([line(start, "watch-1")], delivers: true)
        try run.store.pool.write { db in
            let key = TallyKey(source: 0, series: -1, hour: start / 3_600 + 1, outcome: "missingFrames:watch-1")
            try key.add(9, db)
        }
        try run.end()
        let cells = try hours(scratch, from: start, to: start + 7_200)
        #expect(cells.map(\.state) == [.complete, .incomplete])
        #expect(cells.last?.missing.first?.contains("9 frames never came") == true)
    }

    /// An hour is running until readings of it cannot come any more, and incomplete while a server lacks a window.
    @Test func hoursThatAreNotOver() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let start = Self.now - Self.now % 3_600 - 7_200
        do {
            var run = try StoredRun(scratch.path, set: set)
            try run.take([line(start, "watch-1"), line(start + 3_600, "watch-1")], delivers: true)
            try run.end()
        }
        let span = (start, start + 7_200)
        func states(now: Int64) throws -> [LedgerHours.State] {
            try hours(scratch, from: span.0, to: span.1, now: now, lateness: 120).map(\.state)
        }
        #expect(try states(now: start + 3_600 + 119) == [.running, .running])
        #expect(try states(now: start + 3_600 + 120) == [.complete, .running])
        #expect(try states(now: start + 7_200 + 120) == [.complete, .complete])
        let store = try Store(path: scratch.path)
        try store.pool.write { db in
            let outbox = try Int64.fetchOne(db, sql: "SELECT max(outbox) FROM window") ?? 0
            let time = Instant(seconds: start + 3_600).text.prefix(19).filter { !"-T:".contains($0) }
            try db.execute(
                sql: "INSERT INTO lacking (sink, resource, origin, at) VALUES ('output', ?, ?, 0)",
                arguments: ["Observation/heartRate.watch-1.\(time)", outbox])
        }
        store.close()
        let cells = try hours(scratch, from: span.0, to: span.1)
        #expect(cells.map(\.state) == [.complete, .incomplete])
        #expect(cells.last?.missing == ["a server lacks the latest version of 1 window"])
    }

    private func hours(
        _ scratch: Scratch, from: Int64, to: Int64, now: Int64? = nil, lateness: Int64 = 0
    ) throws -> [LedgerHours.Hour] {
        let reader = try StoreReader(directory: scratch.path)
        let found = try reader.ledgerHours(
            device: "watch-1", patient: nil, from: Instant(seconds: from), to: Instant(seconds: to),
            now: Instant(seconds: now ?? Self.now), lateness: lateness * 1_000_000_000, isRunning: false)
        #expect(found.devices.count == 1)
        return found.devices.first?.hours ?? []
    }
}
