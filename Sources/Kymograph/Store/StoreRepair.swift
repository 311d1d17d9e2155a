import Glibc
import GRDB
import KymographCore

/// Puts a new database, made from what can still be read, in the place of a damaged one.
///
/// The old one stays beside it as `kymo.sqlite.damaged` until the next repair. A repair that is interrupted leaves the
/// marker, and begins again at the next start. It ends with ``StoreError/Kind/syncFailed`` when the disk cannot make
/// durable what it does.
struct StoreRepair {
    private let directory: StoreDirectory

    init(_ directory: StoreDirectory) { self.directory = directory }

    /// What is known to be wrong with the database before it is opened, or nil.
    func reason() -> String? {
        if directory.isMarked { return "an earlier run could not read all of it" }
        // The log of a database that is gone goes with it (``create()``).
        guard FileSystem.target(directory.database) != nil else { return nil }
        let lost = StorePages.lostTransactions(of: directory.database)
        if lost > 0 { return "\(CountText.of(lost, "transaction")) of its log cannot be read" }
        // A database is put in place when it is complete (``create()``): an empty file is what is left of one.
        if let status = FileSystem.target(directory.database), status.st_size == 0 { return "its file is empty" }
        return nil
    }

    /// Makes an empty database if there is none.
    func create() throws(StoreError) {
        guard FileSystem.target(directory.database) == nil else { return }
        do {
            try makeNew(isLogged: true) { _ in }
            // The log of a database that is gone would be taken for that of the new one.
            for ending in ["-wal", "-shm"] { FileSystem.remove(directory.database + ending) }
            try rename(directory.repaired, to: directory.database)
            try directory.synchronise()
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(error, "make", directory.path)
        }
    }

    /// Repairs, and says what was saved and lost.
    func run(_ reason: String, now: Instant) throws(StoreError) -> String {
        do {
            try directory.mark(reason)
            try undoSwap()
            var salvage = StoreSalvage(
                directory, now: now, lostTransactions: StorePages.lostTransactions(of: directory.database))
            try makeNew { db in try salvage.run(into: db) }
            let report = "repaired the store in \(directory.path) (\(reason)): \(salvage.summary)"
            try makeEntry(of: report, now)
            try swap()
            return report
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(error, "repair", directory.path)
        }
    }

    /// Makes the new database, with what `fill` puts into it in one transaction; one that is not written to again
    /// before it is opened as the store may be logged already.
    ///
    /// Nobody opens it before it is whole: it becomes durable then, and not step by step.
    private func makeNew(isLogged: Bool = false, _ fill: (Database) throws -> Void) throws {
        for ending in ["", "-journal", "-wal", "-shm"] { FileSystem.remove(directory.repaired + ending) }
        let new = try DatabaseQueue(path: directory.repaired, configuration: try StorePages.configuration())
        try new.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        try StoreSchema.prepare(new)
        try new.write(fill)
        if isLogged { try new.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") } }
        try new.close()
        try directory.synchronise(file: directory.repaired)
    }

    /// Keeps the report, for those who do not read standard error.
    private func makeEntry(of report: String, _ now: Instant) throws {
        let new = try DatabaseQueue(path: directory.repaired, configuration: try StorePages.configuration())
        try new.write { db in
            try db.execute(
                sql: "INSERT INTO quarantine (at, place, body) VALUES (?, 'repair', CAST(? AS BLOB))",
                arguments: [now.nanoseconds, report])
        }
        try new.close()
    }

    // MARK: Files

    /// The old log goes with the old database: SQLite would apply it to the new one.
    private func swap() throws(StoreError) {
        FileSystem.remove(directory.damaged + "-wal")
        try rename(directory.database, to: directory.damaged)
        try rename(directory.database + "-wal", to: directory.damaged + "-wal")
        FileSystem.remove(directory.database + "-shm")
        try directory.synchronise()
        try rename(directory.repaired, to: directory.database)
        try directory.synchronise()
        try directory.unmark()
    }

    /// Puts the old files back where an interrupted ``swap()`` took them from.
    private func undoSwap() throws(StoreError) {
        guard FileSystem.target(directory.database) == nil else { return }
        if FileSystem.target(directory.database + "-wal") == nil {
            try rename(directory.damaged + "-wal", to: directory.database + "-wal")
        }
        try rename(directory.damaged, to: directory.database)
    }

    /// Renames a file that may be missing.
    private func rename(_ path: String, to target: String) throws(StoreError) {
        let code = FileSystem.rename(path, to: target)
        guard code >= 0 || code == -ENOENT else {
            throw StoreError(.unusable, "cannot rename \(path) to \(target): \(ErrorText.of(code))")
        }
    }
}
