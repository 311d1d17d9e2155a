import FoundationEssentials
import GRDB
import KymographCore

extension StoreReader {
    /// The timeline of a patient or device. The span is extended to whole buckets.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func timeline(_ query: TimelineQuery) throws(PipelineError) -> Timeline {
        try read { try TimelineReader.read($0, query) }
    }
}

/// Gathers a ``Timeline`` within one transaction.
struct TimelineReader {
    private let query: TimelineQuery
    private let types: [MeasurementType]
    private var timeline: Timeline
    /// The series that are shown, in the order of the timeline.
    private var series: [StoredSeries] = []
    /// By the store's number of the series, its place there.
    private var places: [Int: Int] = [:]
    /// Other series in which the devices go on with the same types, with other patients or encounters.
    private var siblings: [StoredSeries] = []
    /// When each device has readings of a type; of correlations, each for itself.
    private var stretches: [Thread: SeriesStretches] = [:]
    private let open: OpenReadings
    /// Rejected and dropped readings by place and hour, which are not missing besides.
    private var explained: [Int: [Int64: Int]] = [:]
    /// Whether all readings are looked at one by one.
    private var looksAtAll = true

    /// What one rhythm is looked for in.
    private struct Thread: Hashable {
        var device: IdentifierText
        var type: Int
        /// Of a correlation, its series.
        var correlation: Int?

        init(_ series: StoredSeries) {
            (device, type) = (series.device, series.identity.type)
            correlation = series.grouping == .correlation ? series.number : nil
        }
    }

    private static let second: Int64 = 1_000_000_000
    private static let day = 86_400 * second
    private static let hour = LedgerOutcome.hourLength
    /// How long before the span readings are looked for that say what is missing in it.
    private static let reach = 31 * day
    /// Windows before the span that say how often a series has readings.
    private static let mostEarlier = 32

    /// The timeline that `query` asks for. `open` has the open readings of its devices, and perhaps of others; without
    /// it the journal is read.
    static func read(_ db: Database, _ query: TimelineQuery, open: OpenReadings? = nil) throws -> Timeline {
        var reader = try TimelineReader(db, query, open)
        try reader.readWindows(db)
        try reader.readOpen(db)
        try reader.readNeighbours(db)
        try reader.readTallies(db)
        try reader.readLetters(db)
        return reader.finished()
    }

    private init(_ db: Database, _ query: TimelineQuery, _ known: OpenReadings?) throws {
        self.query = query
        types = try StoredTypes.types(db)
        let grid = BucketGrid(bucket: query.bucket, zone: query.zone)
        let from = query.from.nanoseconds.flooredQuotient(by: Self.second)
        let to = (query.to.nanoseconds - 1).flooredQuotient(by: Self.second) + 1
        let boundaries = grid.boundaries(from: from, to: to, limit: query.limits.buckets)
        timeline = Timeline(bucket: query.bucket, zone: query.zone.name, boundaries: boundaries)
        if boundaries[boundaries.count - 1] < to { timeline.partial.insert(.buckets) }
        let types = types
        let all = try StoredSeries.read(device: query.device, patient: query.patient, types: types, db).filter {
            query.types?.contains(types[$0.identity.type].name) ?? true
        }
        let related = try Self.siblings(of: all, types, db)
        open = try known ?? OpenReadings(db, types: types, of: Set((all + related).map(\.number)))
        let readings = try choose(among: all, db)
        looksAtAll = readings <= query.limits.readings
        let threads = Set(series.map(Thread.init))
        siblings = (all + related).filter { places[$0.number] == nil && threads.contains(Thread($0)) }
    }

    /// The span, in nanoseconds.
    private var from: Int64 { timeline.boundaries[0] * Self.second }
    private var to: Int64 { timeline.boundaries[timeline.count] * Self.second }

    // MARK: Series

    /// Other series of the devices of `all`, with the same types.
    private static func siblings(
        of all: [StoredSeries], _ types: [MeasurementType], _ db: Database
    ) throws -> [StoredSeries] {
        let known = Set(all.map(\.number))
        let threads = Set(all.map(Thread.init))
        return try Set(all.map(\.device)).sorted().flatMap { device in
            try StoredSeries.read(device: device, patient: nil, types: types, db).filter {
                !known.contains($0.number) && threads.contains(Thread($0))
            }
        }
    }

    /// Chooses the series: those with readings or counts in the span first, and of each the newest. Gives how many
    /// readings their windows have.
    private mutating func choose(among all: [StoredSeries], _ db: Database) throws -> Int {
        var readings: [Int: Int] = [:]
        try SeriesWindows(all).forEach("series, readings", from: from, to: to, db) {
            readings[$0[0], default: 0] += $0[1] as Int
        }
        let counted = try Set(Int.fetchAll(db, sql: "SELECT DISTINCT series FROM tally WHERE \(tallied(all))"))
        let active = Set(all.map(\.number)).filter { number in
            readings[number] != nil || counted.contains(number)
                || open.instants[number]?.contains { $0 >= from && $0 < to } ?? false
        }
        let chosen = all.sorted { one, other in
            let (left, right) = (active.contains(one.number), active.contains(other.number))
            return left == right ? one.number > other.number : left
        }
        if all.count > query.limits.series { timeline.partial.insert(.series) }
        series = chosen.prefix(query.limits.series).sorted { one, other in
            one.device == other.device
                ? (one.identity.type, one.number) < (other.identity.type, other.number) : one.device < other.device
        }
        for (place, one) in series.enumerated() {
            places[one.number] = place
            timeline.series.append(
                Timeline.Series(
                    number: one.number, type: types[one.identity.type].name, device: one.device, patient: one.patient,
                    count: timeline.count))
        }
        return series.reduce(0) { $0 + (readings[$1.number] ?? 0) }
    }

    private mutating func change(_ one: StoredSeries, _ body: (inout SeriesStretches, SeriesStretches.Owner) -> Void) {
        let owner = places[one.number].map { SeriesStretches.Owner($0) } ?? SeriesStretches.others
        body(&stretches[Thread(one), default: SeriesStretches()], owner)
    }

    // MARK: Windows

    private mutating func readWindows(_ db: Database) throws {
        let body = looksAtAll ? ", codec, key_id, checksum, body" : ""
        let columns = "series, start, first, last, readings, revision, number\(body)"
        let (from, to) = (from, to)
        try SeriesWindows(series).forEach(columns, from: from, to: to, db) { try take($0, db) }
        let others = Dictionary(uniqueKeysWithValues: siblings.map { ($0.number, $0) })
        try SeriesWindows(siblings).forEach("series, first, last, readings", from: from, to: to, db) { row in
            guard let one = others[row[0]] else { return }
            change(one) { $0.add(row[1], row[2], row[3], $1) }
        }
    }

    private mutating func take(_ row: Row, _ db: Database) throws {
        guard let place = places[row[0]] else { return }
        let (first, last, count): (Int64, Int64, Int) = (row[2], row[3], row[4])
        let grouping = series[place].grouping
        // Of a correlation the epoch is no time.
        let start: Int64 = grouping == .correlation ? first : row[1]
        if let bucket = bucket(of: max(start, from)) {
            timeline.series[place].windows[bucket] += 1
            let isAmended = (row[5] as Int) > 1 && grouping != .instance
            if isAmended { timeline.series[place].amended[bucket] += 1 }
        }
        if !looksAtAll { change(series[place]) { $0.add(first, last, count, $1) } }
        if !looksAtAll, let bucket = bucket(of: first), bucket == self.bucket(of: last) {
            timeline.series[place].accepted[bucket] += count
            return
        }
        let content =
            looksAtAll
            ? StoredBody.content(codec: row[7], key: row[8], checksum: row[9], bytes: row[10])
            : try Self.content(ofWindow: row[6], db)
        guard let content, let instants = Self.instants(content) else { return timeline.series[place].damaged += 1 }
        var bucket = 0
        for instant in instants { countReading(instant, place, near: &bucket) }
        guard looksAtAll else { return }
        change(series[place]) { stretches, owner in for instant in instants { stretches.add(instant, owner) } }
    }

    private static func content(ofWindow number: Int64, _ db: Database) throws -> [UInt8]? {
        let statement = try db.cachedStatement(
            sql: "SELECT codec, key_id, checksum, body FROM window WHERE number = ?")
        return try Row.fetchOne(statement, arguments: [number]).flatMap {
            StoredBody.content(codec: $0[0], key: $0[1], checksum: $0[2], bytes: $0[3])
        }
    }

    /// The times of a window's readings; nil when it is damaged.
    private static func instants(_ content: [UInt8]) -> [Int64]? {
        content.withByteView { bytes in
            guard var decoder = ArchivedReadings(bytes) else { return nil }
            var instants: [Int64] = []
            instants.reserveCapacity(min(decoder.count, 4_096))
            while let (reading, _) = decoder.next() { instants.append(reading.instant.nanoseconds) }
            return decoder.isComplete ? instants : nil
        }
    }

    /// Counts one reading at `instant`; most are in the bucket of the one before.
    private mutating func countReading(_ instant: Int64, _ place: Int, near bucket: inout Int) {
        guard instant >= from, instant < to else { return }
        let second = instant.flooredQuotient(by: Self.second)
        if second < timeline.boundaries[bucket] || second >= timeline.boundaries[bucket + 1] {
            bucket = timeline.bucket(of: second) ?? bucket
        }
        timeline.series[place].accepted[bucket] += 1
    }

    private func bucket(of instant: Int64) -> Int? {
        timeline.bucket(of: instant.flooredQuotient(by: Self.second))
    }

    // MARK: Open windows

    /// Readings of the journal: those of windows that are open. Of one instant they count once, and not when the
    /// archive has one already: the journal does not say here which of them came twice.
    private mutating func readOpen(_ db: Database) throws {
        for one in series + siblings {
            let all = Set(open.instants[one.number] ?? []).sorted()
            guard !all.isEmpty || open.left[one.number] != nil else { continue }
            let archived = try archived(around: all, one, db)
            let fresh = all.filter { !archived.contains($0) }
            noteOpen(fresh, one)
            guard let place = places[one.number] else { continue }
            var bucket = 0
            for instant in fresh { countReading(instant, place, near: &bucket) }
            let left = (open.left[one.number] ?? []).filter { $0 >= from && $0 < to }
            for instant in left {
                guard let bucket = self.bucket(of: instant) else { continue }
                timeline.series[place].accepted[bucket] = max(0, timeline.series[place].accepted[bucket] - 1)
            }
            timeline.series[place].open = max(0, fresh.count { $0 >= from && $0 < to } - left.count)
        }
    }

    /// The times of readings in archived windows that are open again for some of `instants`.
    private func archived(around instants: [Int64], _ one: StoredSeries, _ db: Database) throws -> Set<Int64> {
        let starts = Set(instants.map { start(of: $0, one) })
        let statement = try db.cachedStatement(
            sql: "SELECT codec, key_id, checksum, body FROM window WHERE start = ? AND series = ?")
        return try starts.reduce(into: []) { known, start in
            guard let row = try Row.fetchOne(statement, arguments: [start, one.number]) else { return }
            let content = StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3])
            known.formUnion(content.flatMap(Self.instants) ?? [])
        }
    }

    private func start(of instant: Int64, _ one: StoredSeries) -> Int64 {
        one.grouping.archiveStart(around: Instant(nanoseconds: instant)).nanoseconds
    }

    /// Takes the windows that the span has a part of whole, as those of the archive.
    private mutating func noteOpen(_ instants: [Int64], _ one: StoredSeries) {
        let (from, to) = (from, to)
        let touched = Set(instants.filter { $0 >= from && $0 < to }.map { start(of: $0, one) })
        let within = instants.filter { touched.contains(start(of: $0, one)) }
        let behind = instants.first { $0 >= to && $0 < to + Self.day }
        let before = instants.last { $0 < from && $0 >= from - Self.reach }
        change(one) { stretches, owner in
            for instant in within { stretches.add(instant, owner) }
            if let behind { stretches.noteBehind(behind) }
            if let before { stretches.noteBefore(before, owner) }
        }
    }

    // MARK: Beside the span

    /// The last readings before the span, and the first ones of the day behind it: what is missing at its ends lies
    /// between them and it.
    private mutating func readNeighbours(_ db: Database) throws {
        let (from, to) = (from, to)
        let all = Dictionary(uniqueKeysWithValues: (series + siblings).map { ($0.number, $0) })
        let windows = SeriesWindows(series + siblings)
        for row in try windows.last(1, "series, last, first", before: from, since: from - Self.reach, db) {
            guard let one = all[row[0]] else { continue }
            change(one) { $0.noteBefore(row[1], $1) }
        }
        for row in try windows.first("series, first", from: to, until: to + Self.day, db) {
            guard let one = all[row[0]], (row[1] as Int64) < to + Self.day else { continue }
            change(one) { stretches, _ in stretches.noteBehind(row[1]) }
        }
        for one in series where one.grouping != .correlation {
            let readings = places[one.number].map { timeline.series[$0].accepted.reduce(0, +) } ?? 0
            if readings <= SeriesRhythm.fewest { try readEarlier(one, db) }
        }
    }

    /// The readings of the last windows before the span.
    private mutating func readEarlier(_ one: StoredSeries, _ db: Database) throws {
        let (from, columns) = (from, "codec, key_id, checksum, body")
        let archived = try SeriesWindows([one]).last(
            Self.mostEarlier, columns, before: from, since: from - Self.reach, db
        ).flatMap { row in
            StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3]).flatMap(Self.instants) ?? []
        }
        let opened = (open.instants[one.number] ?? []).filter { $0 < from && $0 >= from - Self.reach }
        let starts = Dictionary(grouping: Set(archived + opened)) { start(of: $0, one) }
        let within = Set((open.instants[one.number] ?? []).filter { $0 >= from && $0 < to }.map { start(of: $0, one) })
        let last = starts.filter { !within.contains($0.key) }.sorted { $0.key < $1.key }.suffix(Self.mostEarlier)
        let instants = last.flatMap(\.value).sorted()
        guard !instants.isEmpty else { return }
        change(one) { $0.noteEarlier(instants, $1) }
    }

    // MARK: Rejected and dropped readings

    private func tallied(_ series: [StoredSeries]) -> String { Self.tallied(series, from: from, to: to) }

    /// SQL for the counts of `series` in the hours that have a part of the span.
    static func tallied(_ series: [StoredSeries], from: Int64, to: Int64) -> String {
        let sources = (-1...ReadingSource.other).map(String.init).joined(separator: ",")
        let numbers = series.map { String($0.number) }.joined(separator: ",")
        let (first, last) = (from.flooredQuotient(by: Self.hour), (to - 1).flooredQuotient(by: Self.hour))
        return "source IN (\(sources)) AND series IN (\(numbers)) AND hour BETWEEN \(first) AND \(last)"
    }

    private mutating func readTallies(_ db: Database) throws {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT series, hour, outcome, sum(count) FROM \(try SettledLetters.counted(db))
                WHERE \(tallied(series)) GROUP BY series, hour, outcome ORDER BY series, hour, outcome
                """)
        while let row = try rows.next() {
            guard let place = places[row[0]] else { continue }
            take(row[2], count: row[3], start: (row[1] as Int64) * 3_600, place)
        }
        for place in timeline.series.indices { timeline.series[place].rejectedHours.removeAll { $0.count <= 0 } }
    }

    private mutating func take(_ outcome: String, count: Int, start: Int64, _ place: Int) {
        let bucket = timeline.bucket.seconds.map { $0 < 3_600 } ?? false ? nil : timeline.bucket(of: start)
        if outcome == LedgerOutcome.unwritten {
            // Rejected, and in a window all the same.
            explain(-count, start, place)
            bucket.map { timeline.series[place].accepted[$0] = max(0, timeline.series[place].accepted[$0] - count) }
        } else if outcome == LedgerOutcome.droppedReadings {
            explain(count, start, place)
            bucket.map { timeline.series[place].dropped[$0] += count }
        } else if LedgerOutcome.isRejection(outcome) {
            timeline.series[place].rejectedHours.append(.init(start: start, reason: outcome, count: count))
            // Another reading is there in its place.
            guard outcome != Rejection.superseded.name else { return }
            explain(count, start, place)
            bucket.map { timeline.series[place].rejected[$0] += count }
        } else if outcome == LedgerOutcome.unreplaced {
            takeBack(count, of: Rejection.superseded.name, start, place)
        } else if outcome == LedgerOutcome.unretracted {
            takeBack(count, of: Rejection.retracted.name, start, place)
            explain(-count, start, place)
            bucket.map { timeline.series[place].rejected[$0] -= count }
        }
    }

    private mutating func takeBack(_ count: Int, of reason: String, _ start: Int64, _ place: Int) {
        for index in timeline.series[place].rejectedHours.indices
        where timeline.series[place].rejectedHours[index].start == start
            && timeline.series[place].rejectedHours[index].reason == reason
        {
            timeline.series[place].rejectedHours[index].count -= count
        }
    }

    private mutating func explain(_ count: Int, _ start: Int64, _ place: Int) {
        explained[place, default: [:]][start / 3_600, default: 0] += count
    }

    private mutating func readLetters(_ db: Database) throws {
        let span = LetterSpan(from: from, to: to)
        let letters = try span.read(db, limit: query.limits.letters + 1)
        let hasMore = try letters.count > query.limits.letters || span.isCut(db)
        if hasMore { timeline.partial.insert(.letters) }
        timeline.letters = Array(letters.prefix(query.limits.letters))
    }

    // MARK: What is missing

    private mutating func finished() -> Timeline {
        let horizon = min(query.now.nanoseconds, to)
        for (thread, var stretches) in stretches {
            let rhythms = stretches.settle()
            for (owner, rhythm) in rhythms where owner >= 0 { timeline.series[Int(owner)].interval = rhythm.interval }
            // A recording that has ended has all that it was to have.
            stretches.forEachGap(rhythms, until: thread.correlation == nil ? horizon : .min) { gap, owner in
                if owner >= 0 { note(gap, Int(owner)) }
            }
        }
        return timeline
    }

    private mutating func note(_ gap: RhythmGap, _ place: Int) {
        let (first, last) = (gap.start + gap.step, gap.start + gap.step * gap.count)
        guard last >= from, first < to else { return }
        var index = bucket(of: max(first, from)) ?? 0
        while index < timeline.count, timeline.boundaries[index] * Self.second <= last {
            let start = max(first, timeline.boundaries[index] * Self.second)
            let end = min(last + 1, timeline.boundaries[index + 1] * Self.second)
            timeline.series[place].missing[index] += lacking(gap, start, end, place)
            index += 1
        }
    }

    /// How many of a gap are missing from `start` on and before `end`: what was rejected or dropped of these hours is
    /// not missing besides.
    private mutating func lacking(_ gap: RhythmGap, _ start: Int64, _ end: Int64, _ place: Int) -> Int {
        guard explained[place] != nil else { return gap.count(from: start, to: end) }
        var (count, time) = (0, start)
        while time < end {
            let hour = time.flooredQuotient(by: Self.hour)
            let next = min(end, (hour + 1) * Self.hour)
            let lacking = gap.count(from: time, to: next)
            let known = max(0, min(lacking, explained[place]?[hour] ?? 0))
            if known > 0 { explained[place]?[hour]? -= known }
            count += lacking - known
            time = next
        }
        return count
    }
}
