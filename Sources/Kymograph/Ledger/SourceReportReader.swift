import GRDB
import KymographCore

extension StoreReader {
    /// What has come from where, as far as the store knows. `isRunning` says that an instance uses it, whose sources
    /// are called `present`.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func sources(isRunning: Bool, present: [String]) throws(PipelineError) -> SourceReport {
        try read { db in
            var reader = try SourceReportReader(db)
            try reader.readWindows(db)
            try reader.readTallies(db)
            return try reader.finish(db, isRunning: isRunning, present: Set(present))
        }
    }
}

/// Gathers a ``SourceReport`` within one transaction.
struct SourceReportReader {
    /// What is known of some readings.
    fileprivate struct Seen {
        var first = Instant.distantFuture
        var last = Instant.distantPast
        /// When something came last, or was written for it.
        var touched = Instant.distantPast
        var readings = 0

        mutating func add(_ first: Instant, _ last: Instant, _ touched: Instant, readings: Int) {
            (self.first, self.last) = (min(self.first, first), max(self.last, last))
            self.touched = max(self.touched, touched)
            self.readings += readings
        }

        mutating func add(_ other: Seen) { add(other.first, other.last, other.touched, readings: other.readings) }

        var firstText: String? { first == .distantFuture ? nil : first.text }
        var lastText: String? { last == .distantPast ? nil : last.text }
    }

    private struct Name: Hashable {
        var device: IdentifierText
        var type: String
        var source: Int
    }

    private var names: [Int: String] = [:]
    private var series: [Int: (device: IdentifierText, type: String)] = [:]
    private var seen: [Name: Seen] = [:]
    private var sources: [Int: SourceReport.Source] = [:]
    private let types: [MeasurementType]

    init(_ db: Database) throws {
        types = try StoredTypes.types(db)
        for row in try Row.fetchAll(db, sql: "SELECT number, name FROM source") {
            names[row[0]] = row[1]
            sources[row[0]] = SourceReport.Source(name: row[1])
        }
        for row in try Row.fetchAll(db, sql: "SELECT number, type, device FROM series") {
            let type: Int = row[1]
            let name = types.indices.contains(type) ? types[type].name : "type \(type)"
            series[row[0]] = (IdentifierText(row[2]), name)
        }
        let open = try OpenReadings(db, types: types)
        for (key, found) in open.bySource {
            note(key.series, key.source, Seen(found))
        }
    }

    private mutating func note(_ number: Int, _ source: Int, _ found: Seen) {
        guard let (device, type) = series[number] else { return }
        seen[Name(device: device, type: type, source: source), default: Seen()].add(found)
    }

    /// The archived windows.
    mutating func readWindows(_ db: Database) throws {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT series, first, last, modified, sources FROM window WHERE readings > 0")
        while let row = try rows.next() {
            for (source, count) in SourceShares.parse(row[4]) where count > 0 {
                var found = Seen()
                found.add(
                    Instant(nanoseconds: row[1]), Instant(nanoseconds: row[2]), Instant(nanoseconds: row[3]),
                    readings: count)
                note(row[0], source, found)
            }
        }
    }

    /// What was counted by source, and the windows that the archive has dropped.
    mutating func readTallies(_ db: Database) throws {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT source, series, outcome, sum(count), min(hour), max(hour) FROM tally GROUP BY 1, 2, 3")
        while let row = try rows.next() { take(row[0], row[1], row[2], row[3], row[4], row[5]) }
    }

    private mutating func take(
        _ source: Int, _ number: Int, _ outcome: String, _ count: Int, _ first: Int, _ last: Int
    ) {
        if number >= 0 {
            guard outcome == LedgerOutcome.droppedReadings, source >= 0, count > 0 else { return }
            var found = Seen()
            let length = LedgerOutcome.hourLength
            found.add(
                Instant(nanoseconds: Int64(first) &* length), Instant(nanoseconds: Int64(last) &* length),
                .distantPast, readings: count)
            return note(number, source, found)
        }
        guard source >= 0, LedgerOutcome.gap(outcome, count) == nil else { return }
        var own = sources[source] ?? SourceReport.Source(name: "others")
        switch outcome {
        case LedgerOutcome.received: own.received += count
        case LedgerOutcome.kernelDropped: own.kernelDropped += count
        case _ where !LedgerOutcome.names.contains(outcome): own.rejected += count
        default: break
        }
        sources[source] = own
    }

    /// The report.
    consuming func finish(_ db: Database, isRunning: Bool, present: Set<String>) throws -> SourceReport {
        let removed = try RemovedNames(db)
        let paused = Set(try Pause.read(db).filter { $0.kind == .source }.map(\.name))
        var report = SourceReport()
        let listed = listedNames(removed)
        report.series = seriesRows(listed)
        for (number, source) in sources {
            let own = listed.filter { $0.source == number }
            var all = Seen()
            for name in own { all.add(seen[name] ?? Seen()) }
            let isPresent = present.contains(source.name)
            guard isPresent || removed.isListed(.source, IdentifierText(source.name), last: touched(number)) else {
                continue
            }
            var row = source
            row.devices = Set(own.map(\.device)).count
            row.types = Set(own.map(\.type)).sorted()
            (row.first, row.last, row.readings) = (all.firstText, all.lastText, all.readings)
            row.state =
                paused.contains(row.name) ? "paused" : isRunning ? (isPresent ? "open" : "absent") : "stopped"
            report.sources.append(row)
        }
        report.sources.sort { $0.name < $1.name }
        return report
    }

    private func touched(_ source: Int) -> Instant {
        seen.filter { $0.key.source == source }.map(\.value.touched).max() ?? .distantPast
    }

    /// Those whose device was not removed, or has come again.
    private func listedNames(_ removed: RemovedNames) -> [Name] {
        var last: [IdentifierText: Instant] = [:]
        for (name, found) in seen { last[name.device] = max(last[name.device] ?? .distantPast, found.touched) }
        return seen.keys.filter { removed.isListed(.device, $0.device, last: last[$0.device] ?? .distantPast) }
    }

    private func seriesRows(_ listed: [Name]) -> [SourceReport.Series] {
        let groups = Dictionary(grouping: listed) { Name(device: $0.device, type: $0.type, source: -1) }
        return groups.map { name, parts in
            var all = Seen()
            for part in parts { all.add(seen[part] ?? Seen()) }
            return SourceReport.Series(
                device: name.device, type: name.type, sources: parts.map { names[$0.source] ?? "others" }.sorted(),
                first: all.firstText, last: all.lastText, readings: all.readings)
        }.sorted { ($0.device, $0.type) < ($1.device, $1.type) }
    }
}

extension SourceReportReader.Seen {
    fileprivate init(_ found: OpenReadings.Found) {
        self.init()
        add(found.first, found.last, found.received, readings: found.count)
    }
}
