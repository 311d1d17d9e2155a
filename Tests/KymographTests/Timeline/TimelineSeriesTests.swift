import GRDB
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// Which series a timeline shows, what is missing of them, and that other devices cost nothing.
@Suite struct TimelineSeriesTests {
    private static let now = DurableRehearsal.start.nanoseconds / 1_000_000_000

    private func line(_ time: Int64, device: String = "watch-1", patient: String = "p-1") -> [UInt8] {
        let text = Instant(seconds: time).text
        return Array(
            #"{"deviceId":"\#(device)","patientId":"\#(patient)","type":"heartRate","timestamp":"\#(text)","value":70,"unit":"/min"}"#
                .utf8)
    }

    private func store(_ lines: [[UInt8]]) throws -> Scratch {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        var run = try StoredRun(scratch.path, set: set)
        try run.take(lines, delivers: true)
        try run.end()
        return scratch
    }

    private func query(_ from: Int64, _ to: Int64, now: Int64? = nil) -> TimelineQuery {
        TimelineQuery(
            device: "watch-1", patient: nil, from: Instant(seconds: from), to: Instant(seconds: to),
            now: Instant(seconds: now ?? Self.now))
    }

    private func tally(_ scratch: Scratch, _ counts: [(outcome: String, hour: Int64, count: Int)]) throws {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        try store.pool.write { db in
            let number = try #require(try Int.fetchOne(db, sql: "SELECT min(number) FROM series"))
            for one in counts {
                try TallyKey(source: -1, series: number, hour: one.hour, outcome: one.outcome).add(one.count, db)
            }
        }
    }

    /// A device that goes back to its first patient: what the other one's time lacks is missing there, and only there.
    @Test func severalHandovers() throws {
        let start = Self.now - 10_800 - Self.now % 3_600
        let lines = (0..<180).filter { !(80..<90).contains($0) }.map {
            line(start + Int64($0) * 60, patient: (60..<120).contains($0) ? "p-2" : "p-1")
        }
        let scratch = try store(lines)
        let reader = try StoreReader(directory: scratch.path)
        let whole = query(start, start + 10_800, now: start + 10_800)
        let series = try reader.timeline(whole).series
        #expect(series.map { $0.missing.reduce(0, +) } == [0, 10], "\(series.map(\.missing))")
        var asked = whole
        (asked.device, asked.patient) = (nil, "p-1")
        let own = try reader.timeline(asked).series
        #expect(own.map { $0.missing.reduce(0, +) } == [0] && own.first?.accepted.reduce(0, +) == 120)
    }

    /// A device that has fallen silent is missing on each day until then, however the span is cut.
    @Test(arguments: [3_600, 86_400]) func silence(length: Int64) throws {
        let start = Self.now - 20 * 86_400 - Self.now % 3_600
        let scratch = try store((0..<120).map { line(start + $0 * 60) })
        let reader = try StoreReader(directory: scratch.path)
        let from = start + 15 * 86_400
        let series = try #require(try reader.timeline(query(from, from + length)).series.first)
        #expect(series.missing.reduce(0, +) == Int(length / 60) && series.interval == 60_000_000_000)
        let late = start + 32 * 86_400
        let gone = try reader.timeline(query(late, late + 3_600, now: late + 3_600)).series.first
        #expect(gone?.missing.reduce(0, +) == 0 && gone?.interval == nil)
    }

    /// What was rejected or dropped in an hour is not missing besides, in buckets of whatever length.
    @Test(arguments: [TimelineBucket.minute, .hour, .day]) func rejectedAndMissing(bucket: TimelineBucket) throws {
        let start = Self.now - 7_200 - Self.now % 3_600
        let lines = (0..<120).filter { ![10, 20, 30, 70].contains($0) }.map { line(start + $0 * 60) }
        let scratch = try store(lines)
        let hour = start / 3_600
        try tally(scratch, [("clockAhead", hour, 2), ("superseded", hour, 5), ("droppedReadings", hour + 1, 1)])
        var asked = query(start, start + 7_200, now: start + 7_200)
        asked.bucket = bucket
        let series = try #require(try StoreReader(directory: scratch.path).timeline(asked).series.first)
        #expect(series.missing.reduce(0, +) == 1, "\(series.missing)")
    }

    /// A reading that gave no Observation is rejected, though its window has it.
    @Test func unwrittenReadings() throws {
        let start = Self.now - 7_200 - Self.now % 3_600
        let scratch = try store((0..<60).map { line(start + $0 * 60) })
        try tally(scratch, [("unwritten", start / 3_600, 2), ("nullValue", start / 3_600, 2)])
        let asked = query(start, start + 3_600, now: start + 3_600)
        let series = try #require(try StoreReader(directory: scratch.path).timeline(asked).series.first)
        #expect(series.accepted == [58] && series.rejected == [2] && series.missing == [0])
    }

    /// Series with open readings, or with counts alone, come before those with nothing.
    @Test(arguments: [false, true]) func activeSeriesComeFirst(isOpen: Bool) throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = try store((1..<6).map { line(Self.now - 500_000, patient: "p-\($0)") })
        if !isOpen { try tally(scratch, [("clockAhead", Self.now / 3_600, 1)]) }
        var run = try StoredRun(scratch.path, set: set)
        if isOpen { try run.take([line(Self.now - 10)], delivers: false) }
        var asked = query(Self.now - 3_600, Self.now)
        asked.limits.series = 1
        let series = try StoreReader(directory: scratch.path).timeline(asked).series
        #expect(series.map(\.patient) == ["p-1"] && series.first?.open == (isOpen ? 1 : 0))
        try run.end()
    }

    /// Of a store with many devices, entries of the index are looked up; where there are few, they are walked. Both
    /// find the same, and the windows of the device alone.
    @Test(arguments: [0, 400]) func otherDevicesCostNothing(devices: Int) throws {
        let start = Self.now - 36_000 - Self.now % 3_600
        // Of each half an hour, or of each minute: a window has five minutes.
        let (step, count) = devices == 0 ? (1_800, 4) : (60, 24)
        let scratch = try store(stride(from: 0, to: 7_200, by: step).map { line(start + Int64($0)) })
        let store = try Store(path: scratch.path)
        try store.pool.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE other(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM other WHERE n < \(devices))
                    INSERT INTO window SELECT NULL, start, series + 1000 + n, "end", first, last, readings, sources,
                        merged, outbox, sinks, duplicates, conflicts, revision, modified, through_block, through_index,
                        codec, key_id, checksum, body FROM window CROSS JOIN other WHERE \(devices) > 0
                    """)
        }
        store.close()
        let reader = try StoreReader(directory: scratch.path)
        let (from, to) = (start * 1_000_000_000, (start + 7_200) * 1_000_000_000)
        try reader.read { db in
            let types = try StoredTypes.types(db)
            let series = try StoredSeries.read(device: "watch-1", patient: nil, types: types, db)
            let windows = SeriesWindows(series)
            for query in try windows.queries(from: from, to: to, db) {
                let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + query).map { $0["detail"] as String }
                let isLookedUp = plan.contains { $0.contains("window_name (start=? AND series=?)") }
                #expect(isLookedUp == (devices > 0), "\(plan)")
                let isSearched = plan.contains {
                    $0.contains("SEARCH window USING") && $0.contains("window_name (start")
                }
                #expect(isSearched, "\(plan)")
            }
            var found: [Int64] = []
            try windows.forEach("start, series", from: from, to: to, db) {
                found.append($0[0])
                #expect(series.map(\.number).contains($0[1] as Int))
            }
            #expect(found == found.sorted() && found.count == count)
            let last = try windows.last(2, "start", before: to, since: from, db).map { $0[0] as Int64 }
            #expect(last == found.suffix(2).reversed())
        }
        let timeline = try reader.timeline(query(start, start + 7_200, now: start + 7_200))
        #expect(timeline.series.map(\.accepted) == [Array(repeating: 3_600 / step, count: 2)])
    }

    /// A subject is found by the bytes of its key, with its last reading.
    @Test func subjects() throws {
        let start = Self.now - 36_000
        let scratch = try store([line(start), line(start + 600), line(start + 1_200, patient: "p-2")])
        let reader = try StoreReader(directory: scratch.path)
        let all = try reader.subjects(named: "watch-1", limit: 10)
        #expect(all.count == 2)
        for one in all {
            let found = try #require(try reader.subject(ofSeries: one.series, withLatest: true))
            #expect(found.patient == one.patient && found.types == ["heartRate"])
            #expect(found.latest == Instant(seconds: start + (one.patient == "p-1" ? 600 : 1_200)))
        }
        let nobody = try reader.subject(ofSeries: 77)
        #expect(nobody?.series == nil)
    }

    /// Letters that have gone since may have been of the span: that is told.
    @Test func lettersThatAreGone() throws {
        let scratch = try store([line(Self.now - 600)])
        let store = try Store(path: scratch.path)
        try store.pool.write { db in
            for second in 0..<3 {
                try db.execute(
                    sql: """
                        INSERT INTO dead (at, kind, reason, source, detail, codec, key_id, checksum, body)
                        VALUES (?, 'measurement', 'clockAhead', 'stdin', '', 0, 0, 0, x'')
                        """, arguments: [(Self.now - 100 + Int64(second)) * 1_000_000_000])
            }
        }
        let asked = query(Self.now - 3_600, Self.now)
        #expect(try StoreReader(directory: scratch.path).timeline(asked).partial.isEmpty)
        try store.pool.write { try $0.execute(sql: "DELETE FROM dead WHERE number = 1") }
        let later = try StoreReader(directory: scratch.path).timeline(asked)
        #expect(later.letters.count == 2 && later.partial == [.letters])
        store.close()
    }
}
