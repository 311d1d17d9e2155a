import GRDB
import KymographCore
import Synchronization

/// What a store is told for its ledger.
extension Store {
    /// The numbers of sources in the ledger: those of earlier runs, and the next ones for new names while there are
    /// any; then ``ReadingSource/other``. Notes the sources' time zones, by which earlier versions read letters.
    func sourceNumbers(_ sources: [(name: String, timezone: String?)]) throws(StoreError) -> [Int] {
        do {
            return try pool.write { db in
                var known: [String: Int] = [:]
                for row in try Row.fetchAll(db, sql: "SELECT name, number FROM source") { known[row[0]] = row[1] }
                for (name, _) in sources where known[name] == nil && known.count < ReadingSource.other {
                    try db.execute(
                        sql: "INSERT INTO source (number, name) VALUES (?, ?)", arguments: [known.count, name])
                    known[name] = known.count
                }
                for (name, timezone) in sources {
                    try db.execute(
                        sql: "UPDATE source SET timezone = ? WHERE name = ? AND timezone IS NOT ?",
                        arguments: [timezone, name, timezone])
                }
                return sources.map { known[$0.name] ?? ReadingSource.other }
            }
        } catch {
            throw failure(error, "name the sources of")
        }
    }

    /// The sources that have a number, of earlier runs too.
    var namedSources: [(name: String, number: Int)] {
        read { try Store.namedSources($0) } ?? []
    }

    /// Those in the store of `db`.
    static func namedSources(_ db: Database) throws -> [(name: String, number: Int)] {
        try Row.fetchAll(db, sql: "SELECT name, number FROM source").map { ($0[0], $0[1]) }
    }

    /// Counts datagrams that the kernel dropped since the last time.
    func noteKernelDrops(_ count: Int, source: Int, at now: Instant) {
        let hour = LedgerOutcome.hour(of: now)
        let key = TallyKey(source: source, series: -1, hour: hour, outcome: LedgerOutcome.kernelDropped)
        queue.add { $0.tallies[key, default: 0] += count }
    }

    /// Notes the beginning of a run: one that has no end was killed, or cut short. A store that cannot be written shows
    /// that with its first commit.
    func noteRunBegan(_ now: Instant) {
        noteRun("INSERT INTO run (began) VALUES (?)", now)
    }

    /// Notes the end of the present run: everything that was received is accounted for.
    func noteRunEnded(_ now: Instant) {
        noteRun("UPDATE run SET ended = ? WHERE number = (SELECT max(number) FROM run)", now)
    }

    private func noteRun(_ sql: String, _ now: Instant) {
        do {
            try pool.write { try $0.execute(sql: sql, arguments: [now.nanoseconds]) }
        } catch {
            failIfNotDurable(StoreError(error, "write to", directory.path))
        }
    }
}

/// Counts of good readings that wait for the next commit. Nobody is woken for them: the readings themselves do that.
final class LedgerBook: Sendable {
    private let tallies = Mutex<[TallyKey: Int]>([:])

    /// Adds `count`.
    func add(_ count: Int, to key: TallyKey) { tallies.withLock { $0[key, default: 0] += count } }

    /// Adds all of `counts`, which come to the store together.
    func add(_ counts: [TallyKey: Int]) { tallies.withLock { $0.merge(counts) { $0 + $1 } } }

    /// Moves what waits into `batch`. To be called after the batch was taken: what it holds is then counted.
    func move(into batch: inout StoreBatch) {
        let waiting = tallies.withLock { tallies in
            defer { tallies.removeAll(keepingCapacity: true) }
            return tallies
        }
        batch.tallies.merge(waiting) { $0 + $1 }
    }
}
