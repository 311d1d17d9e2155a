import FoundationEssentials
import GRDB
import Glibc
package import KymographCore
package import KymographTemplates

/// A store as commands see it: read only, whether a process uses it or not. Each call sees one state of it.
package struct StoreReader: Sendable {
    /// The data directory.
    package let directory: String
    let queue: DatabaseQueue
    /// Whether damage that is found here is noted beside the store, so that the next start repairs it.
    private let notesDamage: Bool

    /// Opens the store in `directory`. Where it is damaged, the next start is asked for a repair unless `notesDamage`
    /// is false: then nothing is written.
    ///
    /// - Throws: ``PipelineError`` when there is none, or it cannot be read.
    package init(directory: String, notesDamage: Bool = true) throws(PipelineError) {
        self.directory = directory
        self.notesDamage = notesDamage
        let file = StoreDirectory.database(in: directory)
        guard FileSystem.target(file) != nil else { throw StoreReader.missing(directory, errno) }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            // A plain store is not looked at: this process may run it, and SQLite have it open.
            if StoreSeal.isSealed(directory) {
                if StoreSealing.isInterrupted(in: directory) { throw StoreReader.halfChanged(directory) }
                if try Store.unlock(directory, EncryptionSettings()) != nil { try StorePages.register() }
            }
            queue = try DatabaseQueue(path: file, configuration: configuration)
            let version = try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
            guard version <= StoreSchema.version else { throw StoreSchema.tooNew(version, directory) }
            guard version == StoreSchema.version else { throw StoreSchema.tooOld(version, directory) }
        } catch let error as StoreError {
            throw PipelineError(error)
        } catch let error as SealError {
            throw PipelineError(StoreError(error))
        } catch {
            throw StoreReader.failure(error, directory, notesDamage: notesDamage)
        }
    }

    /// Why there is no store to read, by the number of the system's error.
    private static func missing(_ directory: String, _ code: Int32) -> PipelineError {
        switch code {
        case EACCES:
            PipelineError(
                message: "the store in \(directory) cannot be read: permission denied; run this command as the user of "
                    + "kymo run (sudo -u)", exitCode: ExitStatus.noPermission)
        case ENOTDIR:
            PipelineError(
                message: "\(directory) is a file, and no data directory: name that of kymo run with --data DIR",
                exitCode: ExitStatus.noInput)
        default:
            PipelineError(
                message: "there is no store in \(directory): name the data directory of kymo run with --data DIR",
                exitCode: ExitStatus.noInput)
        }
    }

    /// The error of a store whose database waits in `kymo.sealing`.
    private static func halfChanged(_ directory: String) -> SealError {
        SealError(
            message: "the keys of the store in \(directory) are being changed, or that was interrupted: give the same "
                + "'kymo keys' command again, or start 'kymo run' once")
    }

    /// Reads within one transaction.
    func read<Value>(_ body: (Database) throws -> Value) throws(PipelineError) -> Value {
        do {
            return try queue.read(body)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw StoreReader.failure(error, directory, notesDamage: notesDamage)
        }
    }

    /// What was wrong with reading. The next start repairs what cannot be read, though it might not stumble over it.
    private static func failure(_ error: any Error, _ directory: String, notesDamage: Bool) -> PipelineError {
        let error = StoreError(error, "read", directory)
        if error.kind == .sealed {
            // The next call knows the keys that another process has added meanwhile.
            try? Store.unlock(directory, EncryptionSettings())?.reread()
        }
        guard error.kind == .damaged else { return PipelineError(error) }
        if let foreign = mismatch(directory) { return PipelineError(StoreError(foreign)) }
        if notesDamage { StoreDirectory.askForRepair(in: directory) }
        return PipelineError(error)
    }

    /// Why a database that looks damaged is none: its list of keys is missing, or that of another store.
    private static func mismatch(_ directory: String) -> SealError? {
        let database = StoreDirectory.database(in: directory)
        guard StoreSeal.isSealed(directory) else {
            return (try? StorePages.areSealed(database)) == true ? StoreSeal.lacksList(directory) : nil
        }
        guard let seal = try? Store.unlock(directory, EncryptionSettings()) else { return nil }
        guard case .strange(let reason) = StorePages.firstPage(of: database, seal) else { return nil }
        return StoreSeal.mismatch(database, reason, directory)
    }

    /// The types of the stored readings, by number. One whose form this version does not know is called
    /// `type 7 (unknown form)`, after its number, and has no values.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func types() throws(PipelineError) -> [MeasurementType] {
        try read { try StoredTypes.types($0) }
    }

    /// What has decided on readings in any run of this store.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func deciders() throws(PipelineError) -> Set<StoreDecider> { try read { try StoreDecider.used($0) } }

    /// Whether what has left had other identifier systems than `options`.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    func hasOtherSystems(than options: ObservationOptions) throws(PipelineError) -> Bool {
        try read { try StoredSystems.differ(from: options, $0) }
    }

    /// The sinks of the last run.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func sinks() throws(PipelineError) -> [String] {
        try read { try String.fetchAll($0, sql: "SELECT name FROM sink ORDER BY name") }
    }

    /// What a mapping set must continue to be used with the stored readings.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func formerTypes() throws(PipelineError) -> [FormerType] {
        try read { try StoredTypes.formerTypes($0) }
    }

    /// The same for who asks often, and shows no more than what the archive has: types of which only dead letters have
    /// readings have none.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    func archivedTypes() throws(PipelineError) -> [FormerType] {
        try read { try StoredTypes.formerTypes($0, withLetters: false) }
    }
}

extension Instant {
    /// RFC 3339 text in UTC.
    package var text: String {
        var writer = ByteWriter(capacity: 40)
        writer.append(self)
        return writer.view.string
    }
}
