import FoundationEssentials
import GRDB
import KymographCore

/// What can still be read of a damaged database, row by row.
///
/// A page that is damaged takes its rows with it; how many they were is often unknown. What is not certain is left out:
/// readings without their series, series without their types. What late readings may no longer be merged into, because
/// the archive may have lost it, is noted for ``StoreFacts/floor``.
struct StoreSalvage {
    let directory: StoreDirectory
    let now: Instant
    let lostTransactions: Int
    /// What was noted beside the database, if it is readable.
    private let mark: StoreCounts?
    private(set) var saved = 0
    /// Rows lost by table, at least.
    private(set) var lost: [String: Int] = [:]
    /// Tables of which nobody knows how many rows are lost.
    private(set) var torn: Set<String> = []
    private(set) var floor: Int64?
    /// Whether bundles of the outbox are lost without a trace of their own in quarantine.
    private var losesBundles = false
    /// Whether transactions are missing without a trace.
    private var isBehind = false
    /// Whether the damaged database had sequence numbers of sealed datagrams, or may have had.
    private var hasSequences = false
    /// Whether topics may have been read beyond where the store has them now.
    private var hasTopics = false
    /// What of an earlier version's rows is no entry of this one's.
    private var migration = MigrationOutcome()
    /// The version of the damaged database's tables.
    private var version = StoreSchema.version

    /// The place of such bundles, for the ledger: nobody knows how many they are.
    static let lostBundles = "outbox pages"

    init(_ directory: StoreDirectory, now: Instant, lostTransactions: Int) {
        (self.directory, self.now, self.lostTransactions) = (directory, now, lostTransactions)
        mark = StoreMark.read(in: directory.path)
    }

    /// Copies everything into `target`, whose tables are empty.
    mutating func run(into target: Database) throws {
        guard let source = try open() else {
            for table in try SalvagedTable.all(of: target, from: nil, expected: []) where !isMade(table) {
                torn.insert(table.name)
            }
            for decider in StoreDecider.uncertain { try decider.note(target) }
            return try finish(nil, target)
        }
        defer { try? source.close() }
        // Without a transaction, which the first error would end.
        try source.unsafeRead { old in
            let all = try SalvagedTable.all(of: target, from: old, expected: try expected())
            hasSequences = all.contains { $0.name == SequenceWindow.table }
            // What is in quarantine already keeps its numbers.
            for table in all where table.name == "quarantine" { try copy(table, old, target) }
            for table in all where table.name != "quarantine" && !isMade(table) { try copy(table, old, target) }
            for decider in deciders(old) { try decider.note(target) }
            // What was copied as it was is of that version.
            if version < StoreSchema.firstWithEntries { note(try EntryMigration.run(target, now: now)) }
            try finish(old, target)
        }
    }

    /// Whether `table` is not copied: it is made of another one, or says what rests on rows that may be lost. Without
    /// what was settled, spans are incomplete until their letters are replayed again.
    private func isMade(_ table: SalvagedTable) -> Bool {
        [StoredPayloads.index, SettledLetters.letters, SettledLetters.counts].contains(table.name)
    }

    /// The damaged database, or nil when not even its first page can be read.
    private mutating func open() throws -> DatabaseQueue? {
        guard FileSystem.target(directory.database) != nil,
            let configuration = try? StorePages.configuration(salvages: true),
            let source = try? DatabaseQueue(path: directory.database, configuration: configuration),
            let version = try? source.read({ try Int.fetchOne($0, sql: "PRAGMA user_version") })
        else { return nil }
        guard version <= StoreSchema.version else { throw StoreSchema.tooNew(version, directory.path) }
        self.version = version
        return source
    }

    /// Counts what was copied and then put into quarantine. The ledger finds it there.
    private mutating func note(_ outcome: MigrationOutcome) {
        saved -= outcome.unreadRows
        lost["outbox", default: 0] += outcome.unreadRows
        migration = outcome
    }

    /// The tables that the damaged database must have: of a version that cannot be, all.
    private func expected() throws -> Set<String> {
        try StoreSchema.tables(of: version > 0 ? version : StoreSchema.version)
    }

    /// What has decided, besides what is copied: all where that is not certain.
    private func deciders(_ old: Database) -> Set<StoreDecider> {
        if torn.contains("decider") { return StoreDecider.uncertain }
        return (try? StoreDecider.usedInVersion4(old)) ?? StoreDecider.uncertain
    }

    // MARK: Rows

    private mutating func copy(_ table: SalvagedTable, _ old: Database, _ target: Database) throws {
        guard !table.isKeyed else { return try copyKeyed(table, old, target) }
        var after = Int64(-1)
        while true {
            do {
                let rows = try Row.fetchCursor(old, sql: table.selection, arguments: [after])
                while let row = try rows.next() {
                    after = row[0]
                    try insert(Array(row.databaseValues.dropFirst()), table, target)
                }
                return
            } catch is DatabaseError {
                guard let next = skip(table, after, old) else { return }
                after = next
            }
        }
    }

    /// The number after which reading may go on, after row `after` was the last; nil when there is nothing more.
    private mutating func skip(_ table: SalvagedTable, _ after: Int64, _ old: Database) -> Int64? {
        func seek(_ number: Int64) -> SeekResult {
            do {
                return try Int64.fetchOne(old, sql: table.seek, arguments: [number]).map { .row($0) } ?? .nothing
            } catch {
                return .unreadable
            }
        }
        switch seek(after + 1) {
        case .nothing: return nil
        case .row(let number):
            // The row is there, and its body is not.
            lost[table.name, default: 0] += 1
            if table.name == "outbox" { losesBundles = true }
            return number
        case .unreadable: break
        }
        torn.insert(table.name)
        var step: Int64 = 1
        while case .unreadable = seek(after + step) {
            guard step < 1 << 60 else { return nil }
            step *= 2
        }
        var (low, high) = (after + step / 2, after + step)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if case .unreadable = seek(middle) { low = middle } else { high = middle }
        }
        return high - 1
    }

    /// Tables without row numbers are small: from the beginning to the first damage, and from the end to the last.
    private mutating func copyKeyed(_ table: SalvagedTable, _ old: Database, _ target: Database) throws {
        for order in ["ASC", "DESC"] {
            do {
                let rows = try Row.fetchCursor(old, sql: table.ordered(order))
                while let row = try rows.next() { try insert(Array(row.databaseValues), table, target) }
                return
            } catch is DatabaseError {
                torn.insert(table.name)
            }
        }
    }

    private mutating func insert(_ values: [DatabaseValue], _ table: SalvagedTable, _ target: Database) throws {
        do {
            if table.name != "window", let place = table.body, !SalvagedTable.isWhole(values, bodyAt: place) {
                lost[table.name, default: 0] += 1
                // Nothing can be read of a payload that is damaged, and it is to be gone at its age.
                if table.name == StoredPayloads.table { return }
                return try quarantine(values, table, place, target)
            }
            guard table.isUsable(values) else {
                lost[table.name, default: 0] += 1
                torn.insert(table.name)
                return
            }
            try target.cachedStatement(sql: table.insertion).execute(arguments: StatementArguments(values))
            saved += target.changesCount
        } catch let error as DatabaseError {
            throw SalvageFailure(error: error)
        }
    }

    private func quarantine(_ values: [DatabaseValue], _ table: SalvagedTable, _ body: Int, _ db: Database) throws {
        let number = Int64.fromDatabaseValue(values[0]) ?? 0
        try db.execute(
            sql: "INSERT INTO quarantine (at, place, body) VALUES (?, ?, ?)",
            arguments: [now.nanoseconds, "\(table.name) \(number)", values[body]])
    }

    private func noteLostBundles(_ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO quarantine (at, place, body) VALUES (?, ?, X'')",
            arguments: [now.nanoseconds, StoreSalvage.lostBundles])
    }

    // MARK: What depends on several tables

    private mutating func finish(_ old: Database?, _ target: Database) throws {
        if try !StoredTypes.areWhole(target) { try dropUntyped(target) }
        // Without series, too: what is lost may be the types of letters.
        let losesTypes = torn.contains("type") || lost["type", default: 0] > 0
        let untyped = losesTypes ? try Int64.fetchOne(target, sql: "SELECT max(number) FROM dead") : nil
        let orphans = "DELETE FROM window WHERE series NOT IN (SELECT number FROM series)"
        try target.execute(sql: orphans)
        lost["window", default: 0] += target.changesCount
        saved -= target.changesCount
        let former = old.flatMap { try? StoreCounts.read($0) }
        isBehind = (mark?.kept ?? 0) > (former?.kept ?? .max)
        floor = try safeFloor(old, target)
        // The numbers of lost letters may be given again.
        try LetterContext.forgetGone(target)
        try StoredPayloads.indexAgain(target)
        if lostTransactions > 0 || isBehind { hasTopics = try TopicPosition.contest(target) }
        // A sink whose progress is lost begins behind what waits for it.
        if losesBundles || torn.contains("outbox") || torn.contains("sink") { try noteLostBundles(target) }
        try StoreFacts.keepNumbers(from: old, floor: floor, untyped: untyped, target)
        let latest = old.flatMap { try? StoreCounts.latest($0) } ?? Instant(nanoseconds: 0)
        try noteLostReadings(
            former, latest: latest, wasUnknown: old.flatMap { try? StoreCounts.lost($0).isAtLeast } ?? false, target)
    }

    /// Notes how many readings are lost. The mark tells unless it is missing, or older than the database: then what
    /// was in lost transactions is unknown.
    private func noteLostReadings(_ former: StoreCounts?, latest: Instant, wasUnknown: Bool, _ target: Database) throws
    {
        let known = [former, mark].compactMap { $0 }
        try StoreCounts.note(latest: latest, target)
        let isMarked = mark.map { $0.kept >= former?.kept ?? 0 } ?? false
        let isUnknown = !isMarked && (former == nil || lostTransactions > 0)
        try StoreCounts.noteLost(
            StoreCounts(
                received: known.map(\.received).max() ?? 0, kept: known.map(\.kept).max() ?? 0),
            isUnknown: isUnknown || wasUnknown, target)
    }

    /// Without all types nobody knows what readings mean.
    private mutating func dropUntyped(_ target: Database) throws {
        torn.insert("type")
        for table in ["journal", "window", "series", "type"] {
            let count = try Int.fetchOne(target, sql: "SELECT count(*) FROM \(table)") ?? 0
            try target.execute(sql: "DELETE FROM \(table)")
            lost[table, default: 0] += count
            saved -= count
        }
    }

    /// The start through which windows may have been archived that are lost.
    private func safeFloor(_ old: Database?, _ target: Database) throws -> Int64? {
        let isSafe = ["window", "series", "type"].allSatisfy { !torn.contains($0) && lost[$0, default: 0] == 0 }
        // What was in lost transactions may be newer than all that is known.
        guard lostTransactions == 0, !isBehind else { return now.nanoseconds }
        guard !isSafe else { return nil }
        let latest = "SELECT max(start) FROM window"
        // The index may know of windows that the table has lost.
        guard let old, let known = try? Int64.fetchOne(old, sql: latest) else { return now.nanoseconds }
        return max(known, try Int64.fetchOne(target, sql: latest) ?? .min)
    }

    /// What was saved and lost, and what follows.
    var summary: String {
        let certain = lost.filter { $0.value > 0 && !torn.contains($0.key) }.map { "\($0.value) of \($0.key)" }
        let parts = certain.sorted() + torn.sorted().map { "an unknown number of \($0)" }
        var text = "saved \(CountText.of(saved, "row")), lost \(parts.isEmpty ? "none" : parts.joined(separator: ", "))"
        if lostTransactions > 0 { text += ", and lost \(CountText.of(lostTransactions, "transaction"))" }
        text += "; the damaged database is \(directory.damaged)"
        if let floor {
            let time = Date(timeIntervalSince1970: Double(floor) / 1e9).ISO8601Format()
            text += "; readings until \(time) whose windows are not in the archive are rejected, because their windows "
            text += "may have been there"
        }
        if torn.contains("pause") { text += "; what was paused is not known, and is taken: look at 'kymo status'" }
        if torn.contains(StoredRetraction.table) || torn.contains(StoredRetraction.seriesTable) {
            text += "; what was taken back is not all known: a reading that was, and comes again, may be taken"
        }
        // Numbers of transactions that are lost are lost with them.
        if torn.contains(SequenceWindow.table) || hasSequences && (lostTransactions > 0 || isBehind) {
            text += "; the sequence numbers of sealed datagrams are not all known, and old ones may be taken again: "
            text += "give their senders new keys"
        }
        if hasTopics { text += "; topics are read on from where the store has them, and not from where groups are" }
        if torn.contains(TopicPosition.table) {
            text += "; positions in topics are not all known: those of groups hold, and startAt where a group has none"
        }
        return ([text] + migration.notes).joined(separator: "; ")
    }
}

/// What looking for a row by its number gave.
private enum SeekResult {
    case row(Int64), nothing, unreadable
}

/// An error of the new database, which nothing can be done about.
struct SalvageFailure: Error {
    var error: DatabaseError
}
