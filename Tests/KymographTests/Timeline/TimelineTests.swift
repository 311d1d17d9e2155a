import GRDB
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// A timeline shows what the store has, bucket by bucket.
@Suite struct TimelineTests {
    private static let now = DurableRehearsal.start.nanoseconds / 1_000_000_000

    private func line(_ time: Int64, device: String = "watch-1", patient: String = "p-1") -> [UInt8] {
        let text = Instant(seconds: time).text
        return Array(
            #"{"deviceId":"\#(device)","patientId":"\#(patient)","type":"heartRate","timestamp":"\#(text)","value":70,"unit":"/min"}"#
                .utf8)
    }

    /// Readings of a rhythm with jitter and gaps, before `end`.
    private func readings(_ random: inout SeededGenerator, count: Int, end: Int64) -> Set<Int64> {
        let interval = Int64([1, 5, 30, 60, 600].randomElement(using: &random) ?? 1)
        let jitter = interval / 10
        var time = end - Int64.random(in: 0...3, using: &random) * interval
        var times: Set<Int64> = []
        for _ in 0..<count {
            times.insert(time + Int64.random(in: -jitter...jitter, using: &random))
            let isGap = Int.random(in: 0..<25, using: &random) == 0
            time -= isGap ? interval * Int64.random(in: 2...200, using: &random) : interval
        }
        return times
    }

    private func query(_ random: inout SeededGenerator, around times: [Int64]) throws -> TimelineQuery {
        let zones = [
            "UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "America/New_York",
        ]
        let bucket = try #require(TimelineBucket.allCases.randomElement(using: &random))
        let most: Int64 = bucket == .second ? 3_000 : bucket == .minute ? 100_000 : 3_000_000
        let one = times[Int.random(in: times.indices, using: &random)]
        let other = one + Int64.random(in: 1...most, using: &random)
        var query = TimelineQuery(
            device: nil, patient: "p-1", from: Instant(seconds: one), to: Instant(seconds: other),
            now: Instant(seconds: Self.now))
        (query.bucket, query.types) = (bucket, ["heartRate"])
        let zone = zones.randomElement(using: &random) ?? "UTC"
        query.zone = try #require(TimeZoneText.zone(zone))
        return query
    }

    /// Accepted and missing readings are those of a model, for readings of closed and of open windows.
    @Test(arguments: Trials.seeds(tenthOf: 80)) func isThatOfTheModel(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        // The end of a year, a change of the clock, or the present.
        let ends: [Int64] = [1_609_459_200 + 200_000, 1_774_746_000 + 7_200, Self.now - 30]
        let end = ends[Int.random(in: 0..<3, using: &random)]
        let model = TimelineModel(
            readings: readings(&random, count: Int.random(in: 5...700, using: &random), end: end))
        let times = model.readings.sorted()
        let isDrained = Bool.random(using: &random)
        var run = try StoredRun(scratch.path, set: set)
        try run.take(times.map { line($0) }, delivers: true)
        if isDrained { try run.end() }
        let reader = try StoreReader(directory: scratch.path)
        for _ in 0..<6 {
            let query = try query(&random, around: times)
            let timeline = try reader.timeline(query)
            let place =
                "seed \(seed), \(query.bucket) \(query.zone.name) \(query.from.text) \(query.to.text)"
            let series = try #require(timeline.series.first, "\(place)")
            #expect(timeline.series.count == 1 && timeline.partial.isEmpty, "\(place)")
            #expect(series.accepted == model.accepted(timeline.boundaries), "\(place)")
            let interval = model.interval(timeline.boundaries)
            #expect(series.interval == interval.map { $0 * 1_000_000_000 }, "\(place)")
            #expect(series.missing == model.missing(timeline.boundaries, now: Self.now), "\(place)")
            #expect(series.damaged == 0, "\(place)")
        }
        if !isDrained { try run.end() }
    }

    /// With more readings than are looked at one by one, accepted ones are the same, and a whole gap is missing.
    @Test(arguments: Trials.seeds(tenthOf: 30)) func ofManyReadings(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let model = TimelineModel(readings: readings(&random, count: 600, end: Self.now - 40_000))
        let times = model.readings.sorted()
        var run = try StoredRun(scratch.path, set: set)
        try run.take(times.map { line($0) }, delivers: true)
        try run.end()
        let reader = try StoreReader(directory: scratch.path)
        for _ in 0..<4 {
            var query = try query(&random, around: times)
            query.limits.readings = 0
            let timeline = try reader.timeline(query)
            let place =
                "seed \(seed), \(query.bucket) \(query.zone.name) \(query.from.text) \(query.to.text)"
            #expect(timeline.series.first?.accepted == model.accepted(timeline.boundaries), "\(place)")
        }
    }

    /// Windows that were written again are amended, in the bucket where they begin.
    @Test func amendedWindows() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let start = Self.now - 36_000 - Self.now % 3_600
        for offset in [0, 1] {
            var run = try StoredRun(scratch.path, set: set)
            // The second run brings other readings of the first, third, … window.
            let times = (0..<24).filter { offset == 0 || $0 % 2 == 0 }.map {
                start + Int64($0) * 300 + Int64(offset)
            }
            try run.take(times.map { line($0) }, delivers: true)
            try run.end()
        }
        var query = TimelineQuery(
            device: "watch-1", patient: nil, from: Instant(seconds: start),
            to: Instant(seconds: start + 7_200),
            now: Instant(seconds: Self.now))
        query.bucket = .hour
        let reader = try StoreReader(directory: scratch.path)
        let timeline = try reader.timeline(query)
        let series = try #require(timeline.series.first)
        #expect(
            series.accepted == [18, 18] && series.windows == [12, 12] && series.amended == [6, 6])
        #expect(series.open == 0 && series.patient == "p-1")
        let windows = try reader.timelineWindows(
            series: series.number, from: query.from, to: query.to, limit: 100)
        #expect(windows.count == 24 && windows.count(where: \.isAmended) == 12)
        let detail = try #require(try reader.timelineWindow(windows[0].cursor, set: set, limit: 1))
        #expect(detail.readings.count == 1 && detail.isPartial && !detail.isDamaged)
        let observation = try JSONTree(parsing: try #require(detail.observations.first))
        #expect(observation["status"]?.text == "amended")
        #expect(
            try reader.timelineWindow(ArchiveCursor(start: 7, series: 99), set: set, limit: 1) == nil)
        #expect(try JSONTree(parsing: detail.json)["window"]?["isAmended"] == .bool(true))
    }

    /// Rejected readings are in their hours, and in buckets of an hour or more.
    @Test func rejectedReadings() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        var run = try StoredRun(scratch.path, set: set)
        try run.take((0..<20).map { line(Self.now - 1_000 + $0) }, delivers: true)
        try run.store.pool.writeWithoutTransaction { db in
            let number = try #require(try Int.fetchOne(db, sql: "SELECT number FROM series"))
            let hour = Self.now / 3_600
            for (outcome, hour, count) in [
                ("clockAhead", hour, 3), ("superseded", hour - 1, 2), ("unreplaced", hour - 1, 2),
            ] {
                try TallyKey(source: -1, series: number, hour: hour, outcome: outcome).add(count, db)
            }
            for second in 0..<3 {
                try db.execute(
                    sql: """
                        INSERT INTO dead (at, kind, reason, source, detail, codec, key_id, checksum, body)
                        VALUES (?, 'measurement', 'clockAhead', 'stdin', '', 0, 0, 0, x'')
                        """, arguments: [(Self.now + Int64(second)) * 1_000_000_000])
            }
        }
        try run.end()
        let reader = try StoreReader(directory: scratch.path)
        var query = TimelineQuery(
            device: "watch-1", patient: nil, from: Instant(seconds: Self.now - 7_200),
            to: Instant(seconds: Self.now + 3_600), now: Instant(seconds: Self.now))
        let hours = try reader.timeline(query)
        let series = try #require(hours.series.first)
        #expect(series.rejected.reduce(0, +) == 3 && series.accepted.reduce(0, +) == 20)
        #expect(
            series.rejectedHours.map(\.reason) == ["clockAhead"] && series.rejectedHours.first?.count == 3
        )
        #expect(hours.letters.count == 3 && hours.letters.allSatisfy { $0.reason == "clockAhead" })
        query.bucket = .minute
        let minutes = try reader.timeline(query)
        #expect(minutes.series.first?.rejected.allSatisfy { $0 == 0 } == true)
        #expect(minutes.series.first?.rejectedHours == series.rejectedHours)
        query.limits.letters = 2
        let cut = try reader.timeline(query)
        #expect(cut.letters.count == 2 && cut.partial == [.letters])
    }

    /// A device that goes on with another patient has sent what it had to: nothing is missing of the first one.
    @Test func aDeviceThatIsHandedOver() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let start = Self.now - 7_200 - Self.now % 60
        var run = try StoredRun(scratch.path, set: set)
        try run.take((0..<60).map { line(start + $0 * 60, patient: "p-1") }, delivers: true)
        try run.take((60..<120).map { line(start + $0 * 60, patient: "p-2") }, delivers: true)
        try run.end()
        let reader = try StoreReader(directory: scratch.path)
        for (device, patient) in [("watch-1", nil), (nil, "p-1")]
            as [(IdentifierText?, IdentifierText?)]
        {
            let query = TimelineQuery(
                device: device, patient: patient, from: Instant(seconds: start),
                to: Instant(seconds: start + 7_200),
                now: Instant(seconds: start + 7_200))
            let series = try reader.timeline(query).series
            #expect(series.count == (patient == nil ? 2 : 1))
            for one in series {
                #expect(one.missing.reduce(0, +) == 0 && one.accepted.reduce(0, +) == 60)
            }
        }
    }

    /// Of the series that there are, those with readings in the span come first.
    @Test func seriesWithReadingsComeFirst() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        var run = try StoredRun(scratch.path, set: set)
        try run.take([line(Self.now - 600)], delivers: true)
        try run.take((2..<6).map { line(Self.now - 500_000, patient: "p-\($0)") }, delivers: true)
        try run.end()
        var query = TimelineQuery(
            device: "watch-1", patient: nil, from: Instant(seconds: Self.now - 3_600),
            to: Instant(seconds: Self.now),
            now: Instant(seconds: Self.now))
        query.limits.series = 1
        let timeline = try StoreReader(directory: scratch.path).timeline(query)
        #expect(timeline.series.map(\.patient) == ["p-1"] && timeline.partial == [.series])
        #expect(timeline.series.first?.accepted.reduce(0, +) == 1)
    }

    /// What comes twice counts once, in open windows as in closed ones.
    @Test(arguments: [false, true]) func readingsThatComeTwice(isClosed: Bool) throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        let start = Self.now - 200
        let lines = (0..<100).map { line(start + Int64($0)) }
        if isClosed {
            var first = try StoredRun(scratch.path, set: set)
            try first.take(lines, delivers: true)
            try first.end()
        }
        var run = try StoredRun(scratch.path, set: set)
        if !isClosed { try run.take(lines, delivers: false) }
        try run.take(lines, delivers: false)
        let query = TimelineQuery(
            device: "watch-1", patient: nil, from: Instant(seconds: start),
            to: Instant(seconds: start + 200),
            now: Instant(seconds: start + 100))
        let series = try #require(try StoreReader(directory: scratch.path).timeline(query).series.first)
        #expect(series.accepted.reduce(0, +) == 100 && series.missing.reduce(0, +) == 0)
        try run.end()
    }

    /// Caps cut, and say so.
    @Test func limits() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        var run = try StoredRun(scratch.path, set: set)
        try run.take((0..<5).map { line(Self.now - 100, device: "watch-\($0)") }, delivers: true)
        try run.end()
        var query = TimelineQuery(
            device: nil, patient: "p-1", from: Instant(seconds: Self.now - 3_600),
            to: Instant(seconds: Self.now),
            now: Instant(seconds: Self.now))
        (query.bucket, query.limits.buckets, query.limits.series) = (.second, 100, 3)
        let timeline = try StoreReader(directory: scratch.path).timeline(query)
        #expect(
            timeline.count == 100 && timeline.series.map(\.device) == ["watch-2", "watch-3", "watch-4"])
        #expect(timeline.partial == [.buckets, .series])
        let tree = try JSONTree(parsing: timeline.json)
        #expect(tree["partial"] == .array([.string("buckets"), .string("series")]))
        #expect(tree["boundaries"]?.elements?.count == 101)
        #expect(tree["series"]?.elements?.first?["accepted"]?.elements?.count == 100)
        query.patient = "nobody"
        #expect(try StoreReader(directory: scratch.path).timeline(query).series.isEmpty)
    }
}
