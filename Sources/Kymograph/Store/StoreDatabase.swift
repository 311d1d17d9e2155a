import GRDB
import KymographCore
import Synchronization

/// The database of a store, and its end when it cannot go on. For any thread.
final class StoreDatabase: Sendable {
    let directory: StoreDirectory
    /// The keys that its files are sealed with; nil for a plain store.
    let seal: StoreSeal?
    let pool: DatabasePool
    /// Who hears what the operator should know.
    let watch: StoreWatch
    /// What finds single rows for shards, once one has asked.
    private let reader = Mutex<ArchiveReader?>(nil)

    /// Opens the database in `path`, or makes one, after a repair if it is damaged; gives what earlier runs have left.
    ///
    /// - Throws: ``StoreError`` when it cannot be used, another process uses it, or a newer version wrote it.
    static func open(
        _ path: String, _ encryption: EncryptionSettings, _ notes: LogTaker?
    ) throws(StoreError) -> (database: StoreDatabase, facts: StoreFacts) {
        let directory = try StoreDirectory(path)
        let seal = try Store.seal(directory, encryption)
        let watch = StoreWatch()
        let (pool, facts) = try open(directory, seal, watch, notes)
        return (StoreDatabase(directory, seal, pool, watch), facts)
    }

    private init(_ directory: StoreDirectory, _ seal: StoreSeal?, _ pool: DatabasePool, _ watch: StoreWatch) {
        (self.directory, self.seal, self.pool, self.watch) = (directory, seal, pool, watch)
    }

    /// Opens the database, after a repair if it is damaged.
    private static func open(
        _ directory: StoreDirectory, _ seal: StoreSeal?, _ watch: StoreWatch, _ notes: LogTaker?
    ) throws(StoreError) -> (pool: DatabasePool, facts: StoreFacts) {
        let repair = StoreRepair(directory)
        if let reason = repair.reason() {
            try Store.prepareRepair(directory, seal)
            watch.note(.error(try repair.run(reason, now: WallClock.now())))
        }
        try repair.create()
        do throws(StoreError) {
            return try openPool(directory, seal, watch, notes)
        } catch {
            guard error.kind == .damaged else { throw error }
            try Store.prepareRepair(directory, seal)
            watch.note(.error(try repair.run(error.message, now: WallClock.now())))
            return try openPool(directory, seal, watch, notes)
        }
    }

    private static func openPool(
        _ directory: StoreDirectory, _ seal: StoreSeal?, _ watch: StoreWatch, _ notes: LogTaker?
    ) throws(StoreError) -> (pool: DatabasePool, facts: StoreFacts) {
        do {
            var configuration = try StorePages.configuration()
            configuration.maximumReaderCount = 8
            let pool = try DatabasePool(path: directory.database, configuration: configuration)
            // The pool itself sets NORMAL when it turns on the log.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            let version = try pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
            guard version <= StoreSchema.version else { throw StoreSchema.tooNew(version, directory.path) }
            if version < StoreSchema.version { try Store.reserveAll(directory, seal) }
            if let extent = try pool.read({ try MigrationExtent($0) }) {
                try extent.check(directory, free: FileSystem.freeBytes(directory.path))
                notes?(.info(extent.note(directory)))
            }
            for note in try StoreSchema.prepare(pool).notes { watch.note(.warning(note)) }
            // Read first: to begin to count is a matter of old databases and new ones.
            if try pool.read({ try StoreCounts.read($0) }) == nil { try pool.write { try StoreCounts.begin($0) } }
            let facts = try pool.read { try StoreFacts($0) }
            if let marked = StoreMark.read(in: directory.path), marked.kept > facts.counts.kept {
                let missing = CountText.of(marked.kept - facts.counts.kept, "acknowledged reading")
                throw StoreError(.damaged, "transactions with \(missing) are missing")
            }
            return (pool, facts)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(error, "open", directory.path)
        }
    }

    // MARK: Use

    /// Reads from the database on the calling thread; nil when that fails, which ends the process: nothing is committed
    /// any more.
    func read<Value>(_ body: (Database) throws -> Value) -> Value? {
        guard watch.failure == nil else { return nil }
        do {
            return try pool.read(body)
        } catch {
            fail(StoreError(error, "read", directory.path))
            return nil
        }
    }

    /// Notes that the store cannot go on. When what was written is damaged, the next start repairs it.
    func fail(_ error: StoreError) { watch.fail(marked(error)) }

    /// The error for a failure of SQLite while doing `action`, after which whoever asked goes on, or the process does
    /// not start. When what was written is damaged, the next start repairs it.
    func failure(_ error: any Error, _ action: String) -> StoreError {
        marked(StoreError(error, action, directory.path))
    }

    /// `error`, after which the next start repairs what was written if that is damaged.
    private func marked(_ error: StoreError) -> StoreError {
        guard error.kind == .damaged else { return error }
        do throws(StoreError) { try directory.mark(error.message) } catch let failure {
            var error = error
            error.message += "; and the next start may not know of it: \(failure.message)"
            return error
        }
        return error
    }

    /// Notes that the store cannot go on if what was written may not be on the disk: the system tells that once only.
    func failIfNotDurable(_ error: StoreError) {
        if error.kind == .syncFailed { fail(error) }
    }

    /// Moves what the log has into the database, whose pages are there already, and empties it: on a full disk the log
    /// may be what fills it.
    func shrinkLog() {
        do {
            try pool.writeWithoutTransaction { db in
                // Readers may take long, and the next attempt comes soon: nobody is waited for.
                try db.execute(sql: "PRAGMA busy_timeout = 0")
                defer { try? db.execute(sql: "PRAGMA busy_timeout = \(StorePages.patience)") }
                _ = try db.checkpoint(.truncate)
            }
        } catch {
            // Else readers hold it, or there is no room for new pages: the next attempt tries again.
            failIfNotDurable(StoreError(error, "write to", directory.path))
        }
    }

    /// Finds a row on the calling thread; nil when that fails, as ``read(_:)`` does.
    func look<Value>(_ body: (borrowing ArchiveReader) throws -> Value) -> Value? {
        guard watch.failure == nil else { return nil }
        var found: Value?
        do {
            try reader.withLock { reader in
                if reader == nil { reader = try ArchiveReader(path: directory.database) }
                found = try reader?.look(body)
            }
        } catch {
            fail(StoreError(error, "read", directory.path))
            return nil
        }
        return found
    }

    /// Closes it; `settle` is called before that when nothing has failed, and all is in the database.
    func close(_ settle: () -> Void) {
        reader.withLock { $0 = nil }
        // So that a clean end leaves nothing in the log, whose end has no protection.
        if watch.failure == nil {
            shrinkLog()
            settle()
        }
        try? pool.close()
    }
}
