import FoundationEssentials
import GRDB
import KymographCore

/// How it goes: what `kymo status` shows.
package struct InstanceStatus: Codable, Sendable {
    /// One source of a running instance, counted since its start.
    package struct Source: Codable, Sendable {
        /// Its name.
        package var name: String
        /// Readings that it gave.
        package var received: Int
        /// Readings of it that were rejected before they were in a window.
        package var rejected: Int
        /// Datagrams that the kernel dropped.
        package var kernelDropped: Int
        /// How its bytes become payloads, where that is not by lines.
        package var framing: String?
        /// Where it listens, where its name does not say so; nil from an instance of kymo 0.1.
        package var address: String?

        init(_ source: PipelineSummary.Source, framing: String?, address: String? = nil) {
            name = source.name
            self.address = address == name ? nil : address
            received = source.received
            rejected = source.rejected.reduce(0, +)
            kernelDropped = Int(source.counts.kernelDrops)
            self.framing = framing
        }
    }

    /// The data directory.
    package var directory: String
    /// Process id of the instance that uses it; nil when there is none.
    package var process: Int32?
    /// Version of kymo.
    package var version = KymographVersion.number
    /// Sources of a running instance.
    package var sources: [Source] = []
    /// When a running instance began to run, as text in UTC; nil from one of kymo 0.1.
    package var started: String?
    /// The balance since its start, as `kymo run` prints it.
    package var balance: String?
    /// The store.
    package var store = StoreStatus()
    /// Sinks.
    package var sinks: [SinkStatus] = []
    /// Names of all sinks of a running instance, of which ``sinks`` lacks those that take no rows of the outbox; nil
    /// from one of kymo 0.1.
    package var outputs: [String]?
    /// Every counter: of a running instance all, otherwise those of the store. Nil from an instance of kymo 0.1.
    package var counters: CounterSamples?
    /// The last reload of a running instance, where it was refused; nil also from one of kymo 0.1.
    package var refusedReload: RefusedReload?
    /// Sources that reloads have removed, of which metrics have little or nothing; nil without any.
    var removed: RemovedSources?

    init(directory: String) { self.directory = directory }
}

extension InstanceStatus {
    /// Notes how delivery goes to the sink `name`, which has no row before anything was settled.
    mutating func note(_ delivery: DeliverySummary, of name: String) {
        let place = sinks.firstIndex { $0.name == name } ?? sinks.count
        if place == sinks.count {
            var sink = SinkStatus(name: name, settledThrough: 0, waiting: store.outboxRows)
            sink.oldestAge = store.outboxOldestAge
            sinks.append(sink)
        }
        sinks[place].delivery = delivery
    }

    /// Notes all counters, with those of `run` where an instance runs, as of `now`.
    mutating func count(_ run: PipelineSummary?, at now: Instant) {
        let removed = run.map { RemovedSources($0, at: now) } ?? RemovedSources()
        self.removed = removed == RemovedSources() ? nil : removed
        counters = CounterTable.samples(CounterInput(run: run, stored: store, sinks: sinks))
    }

    /// All counters as Prometheus reads them; those of the store and its sinks from an instance that tells none.
    package var metrics: String {
        let samples = counters ?? CounterTable.samples(CounterInput(stored: store, sinks: sinks))
        return PrometheusText.text(removed?.given(samples) ?? samples)
    }

    /// What people read of sources and store, without ``sinks``; `age` writes a length of time in seconds.
    package func lines(age: (Double) -> String) -> (before: [String], after: [String]) {
        let input = CounterInput(stored: store, sinks: sinks)
        let samples = counters ?? CounterTable.samples(input)
        var before = sources.map { source in
            "source \(source.name)\(CounterTable.text(.source, samples, input, source: source.name) ?? "")"
        }
        if let balance { before.insert(balance, at: 0) }
        if let refusedReload { before.append("reload refused at \(refusedReload.at): \(refusedReload.reason)") }
        if let patients = CounterTable.text(.patients, samples, input) { before.append(patients) }
        before += [.values, .windows, .journal].compactMap { CounterTable.text($0, samples, input) }
        let oldest = store.outboxOldestAge.map { ", the oldest for \(age($0))" } ?? ""
        if let outbox = CounterTable.text(.outbox, samples, input) { before.append(outbox + oldest) }
        before += (store.paused ?? []).map { paused in
            let waiting = CountText.of(paused.letters, one: "dead letter waits", many: "dead letters wait")
            let letters = paused.letters == 0 ? "" : ", \(waiting)"
            return "paused \(paused.kind) \(paused.name) for \(age(paused.seconds))\(letters)"
        }
        return (
            before, successLines + [.lost, .deadLetters, .disk].compactMap { CounterTable.text($0, samples, input) }
        )
    }

    /// When sinks have last taken something of each type: a line for each sink, with the types that came last.
    private var successLines: [String] {
        let bySink = Dictionary(grouping: store.successes ?? []) { $0.sink }
        return bySink.sorted { $0.key < $1.key }.map { sink, all in
            let latest = all.sorted { ($1.seconds, $0.type) < ($0.seconds, $1.type) }
            let shown = latest.prefix(InstanceStatus.mostTypes).map { "\($0.type) \($0.at)" }
            let left = latest.count - shown.count
            let rest = left > 0 ? ", and \(CountText.of(left, "more type"))" : ""
            return "taken last by \(sink): " + shown.joined(separator: ", ") + rest
        }
    }

    /// Most types in a line of text; JSON has all.
    private static let mostTypes = 8

    /// Reads what the database says.
    mutating func read(_ db: Database, _ mark: StoreCounts?, limitBytes: Int, now: Instant) throws {
        func count(_ sql: String) throws -> Int { try Int.fetchOne(db, sql: sql) ?? 0 }
        store.series = try count("SELECT count(*) FROM series")
        store.windows = try count("SELECT count(*) FROM window")
        store.journalBlocks = try count("SELECT count(*) FROM journal")
        store.journalReadings = try count("SELECT coalesce(sum(readings), 0) FROM journal")
        store.outboxRows = try count("SELECT count(*) FROM outbox")
        store.lettersByKind = try StoredDeadLetter.counts(db)
        store.deadLetters = store.lettersByKind?.reduce(0) { $0 + $1.count } ?? 0
        store.quarantined = try count("SELECT count(*) FROM quarantine")
        (store.lost, store.isLostAtLeast) = try StoreCounts.lost(db)
        // What the next start will find to be missing.
        if let mark, let stored = try StoreCounts.read(db) { store.lost += max(0, mark.kept - stored.kept) }
        store.usedBytes = try StoreRetention.used(db)
        store.limitBytes = limitBytes
        if let oldest = try Int64.fetchOne(db, sql: "SELECT created FROM outbox ORDER BY number LIMIT 1") {
            store.outboxOldest = Instant(nanoseconds: oldest).text
            store.outboxOldestAge = Double(max(0, now.nanoseconds &- oldest)) / 1e9
        }
        for row in try Row.fetchAll(db, sql: "SELECT name, through FROM sink ORDER BY name") {
            let waiting = try OutboxRow.waiting(for: row[0], after: row[1], db)
            var sink = SinkStatus(name: row[0], settledThrough: row[1], waiting: waiting)
            if waiting > 0, let oldest = try OutboxRow.oldest(for: row[0], after: row[1], db) {
                sink.oldestAge = Double(max(0, now.nanoseconds &- oldest.nanoseconds)) / 1e9
            }
            sinks.append(sink)
        }
        store.paused = try Pause.read(db).map { pause in
            PausedStatus(
                kind: pause.kind.rawValue, name: pause.name, since: pause.since.text,
                seconds: Double(max(0, now.nanoseconds &- pause.since.nanoseconds)) / 1e9,
                letters: try pause.letters(db))
        }
        store.successes = try TypeSuccesses.read(db).map { sink, type, second in
            let at = Instant(nanoseconds: second * 1_000_000_000).text
            return TypeSuccess(sink: sink, type: type, at: at, seconds: Int(second))
        }
        let lacking = try LackingResources(db).bySink
        for place in sinks.indices { sinks[place].lacking = lacking[sinks[place].name]?.count ?? 0 }
    }
}

extension StoredDeadLetter {
    /// How many there are of each kind that were not replayed.
    fileprivate static func counts(_ db: Database) throws -> [LetterCount] {
        let rows = try Row.fetchAll(db, sql: "SELECT kind, count(*) FROM dead WHERE replayed IS NULL GROUP BY kind")
        return Kind.allCases.map { kind in
            LetterCount(kind: kind.rawValue, count: rows.first { $0[0] == kind.rawValue }.map { $0[1] } ?? 0)
        }
    }
}

extension StoreReader {
    /// How it goes in a directory that no instance uses. `limitBytes` is what the configuration says.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func status(limitBytes: Int) throws(PipelineError) -> InstanceStatus {
        let mark = StoreMark.read(in: directory)
        return try read { db in
            var status = InstanceStatus(directory: directory)
            try status.read(db, mark, limitBytes: limitBytes, now: WallClock.now())
            status.count(nil, at: WallClock.now())
            return status
        }
    }
}
