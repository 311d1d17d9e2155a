import GRDB
import Glibc
import KymographCore

/// Writes a store anew: a plain one encrypted, or an encrypted one with a new data key.
///
/// A copy is made in the folder `kymo.sealing`, with the list of keys that it needs. Once the copy is durable, the list
/// of keys and then the copy are renamed to where those of the store are. Until the first of these two, the store is as
/// it was, and the copy is made anew by the next attempt; from then on the next attempt, or the next start, renames the
/// other. Nothing else is written meanwhile: the directory is locked.
package struct StoreSealing {
    private let directory: StoreDirectory
    private var folder: String { StoreSealing.folder(in: directory.path) }
    private var copy: String { StoreDirectory.database(in: folder) }

    /// Where the copy is made.
    static func folder(in directory: String) -> String { "\(directory)/kymo.sealing" }

    private init(_ path: String) throws(PipelineError) {
        guard FileSystem.target(path) != nil else { throw StoreSealing.noStore(path) }
        do throws(StoreError) { directory = try StoreDirectory(path) } catch { throw PipelineError(error) }
    }

    // MARK: What an operator asks for

    /// Encrypts the plain store in `path` with the key that `encryption` names; true, false when it is already.
    ///
    /// - Throws: ``PipelineError`` when there is no store, it is in use or damaged, or there is no room.
    package static func encrypt(_ path: String, _ encryption: EncryptionSettings) throws(PipelineError) -> Bool {
        let sealing = try StoreSealing(path)
        if KeyList.exists(in: path) {
            try sealing.attempt { () throws(SealError) in
                guard let seal = try Store.unlock(path, encryption) else { throw StoreSeal.lacksList(path) }
                try finish(sealing.directory, seal)
                try Store.check(sealing.directory, seal)
            }
            return false
        }
        try sealing.attempt { () throws(SealError) in
            guard try !StorePages.areSealed(sealing.directory.database) else { throw StoreSeal.lacksList(path) }
        }
        try sealing.refuseRemains()
        try sealing.makeFolder()
        let seal = try sealing.attempt { () throws(SealError) in try StoreSeal.make(sealing.folder, encryption) }
        try sealing.run(seal)
        return true
    }

    /// Wraps the data keys of the store in `path` by the key in the file `new`, or, when `isAll`, writes the store anew
    /// with a new data key; or both.
    ///
    /// - Throws: As ``encrypt(_:_:)``.
    package static func rotate(
        _ path: String, _ encryption: EncryptionSettings, new: String?, isAll: Bool
    ) throws(PipelineError) {
        let sealing = try StoreSealing(path)
        let key = try new.map { (file) throws(PipelineError) in
            try sealing.attempt { () throws(SealError) in try SealKey(path: file) }
        }
        let seal = try sealing.attempt { () throws(SealError) in
            guard let seal = try sealing.unlock(encryption, new) else {
                throw SealError(
                    message: "the store in \(path) is not encrypted: 'kymo keys encrypt' encrypts it")
            }
            return seal
        }
        // Of whichever attempt that was: it had other arguments, perhaps, and what is asked for now is done as well.
        try sealing.attempt { () throws(SealError) in try finish(sealing.directory, seal) }
        guard isAll else {
            if let key { try sealing.attempt { () throws(SealError) in try seal.rewrap(key) } }
            return
        }
        try sealing.refuseDamage(seal)
        let log = Store.pages(of: sealing.directory.database + "-wal")
        // What a crash has left in the log is encrypted once more on its way to the database.
        if log > 0 {
            try sealing.attempt { () throws(SealError) in try seal.reserve(log * 2 + StoreSeal.firstStep) }
        }
        try sealing.makeFolder()
        try sealing.run(
            try sealing.attempt { () throws(SealError) in try seal.continued(in: sealing.folder, key) })
    }

    /// The keys of the store: by the present key, or by the new one, which an interrupted attempt has put in its place.
    private func unlock(_ encryption: EncryptionSettings, _ new: String?) throws(SealError) -> StoreSeal? {
        do throws(SealError) {
            return try Store.unlock(directory.path, encryption)
        } catch {
            guard let new else { throw error }
            var changed = EncryptionSettings()
            changed.keyFile = new
            guard let seal = try? Store.unlock(directory.path, changed) else { throw error }
            return seal
        }
    }

    // MARK: Steps

    /// Whether the keys of a copy are those of the store in `directory`, and the copy is not its database.
    static func isInterrupted(in directory: String) -> Bool {
        let folder = folder(in: directory)
        return FileSystem.target(StoreDirectory.database(in: folder)) != nil && !KeyList.exists(in: folder)
    }

    /// Puts such a copy in its place, and removes what was not complete.
    ///
    /// - Throws: ``SealError`` when neither the copy nor the database can be read with the keys of `seal`: nothing is
    ///   changed then.
    static func finish(_ directory: StoreDirectory, _ seal: StoreSeal) throws(SealError) {
        let folder = folder(in: directory.path)
        guard isInterrupted(in: directory.path) else { return try clear(folder) }
        let copy = StoreDirectory.database(in: folder)
        guard StorePages.firstPage(of: copy, seal) == .whole else {
            guard StorePages.firstPage(of: directory.database, seal) == .whole else {
                throw StoreSeal.mismatch(copy, "its first page cannot be decrypted", directory.path)
            }
            // The store is as it was, and the copy lacks its keys.
            return try clear(folder)
        }
        // The log is empty, and of the former database.
        for ending in ["-wal", "-shm"] { FileSystem.remove(directory.database + ending) }
        try rename(copy, to: directory.database)
        try KeyList.synchronise(directory.path)
        CrashPoint.sealingPlaced.pass()
        try clear(folder)
    }

    private func run(_ seal: StoreSeal) throws(PipelineError) {
        CrashPoint.sealingBegun.pass()
        do {
            try seal.reserve(Store.pages(of: directory.database) * 2 + StoreSeal.chunk)
            try makeCopy()
            CrashPoint.sealingCopied.pass()
            try directory.synchronise(file: copy)
            try KeyList.synchronise(folder)
            CrashPoint.sealingDurable.pass()
            try StoreSealing.rename(KeyList.path(in: folder), to: KeyList.path(in: directory.path))
            try KeyList.synchronise(directory.path)
            CrashPoint.sealingKeyed.pass()
            try StoreSealing.finish(directory, seal)
        } catch let error as SealError {
            throw PipelineError(StoreError(error))
        } catch let error as StoreError {
            throw PipelineError(error)
        } catch {
            throw PipelineError(StoreError(error, "encrypt", directory.path))
        }
    }

    /// Copies all that is in the database. The copy is checked before anything refers to it.
    private func makeCopy() throws {
        let source = try DatabaseQueue(path: directory.database, configuration: try StorePages.configuration())
        try source.writeWithoutTransaction { db in
            let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            guard row?[0] == 0 else {
                throw StoreError(.inUse, "another program reads the store in \(directory.path): end it first")
            }
            try StorePages.reserveForSeal(db)
            try db.execute(sql: "VACUUM INTO ?", arguments: [copy])
        }
        try source.close()
        let sealed = try DatabaseQueue(path: copy, configuration: try StorePages.configuration())
        try sealed.writeWithoutTransaction { db in
            let finding = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
            guard finding == "ok" else { throw StoreError(.damaged, "the copy is damaged: \(finding ?? "")") }
            try db.execute(sql: "PRAGMA journal_mode = WAL")
        }
        try sealed.close()
    }

    /// A damaged store is repaired first, by a start.
    private func refuseDamage(_ seal: StoreSeal?) throws(PipelineError) {
        guard FileSystem.target(directory.database) != nil else { throw StoreSealing.noStore(directory.path) }
        if let seal { try attempt { () throws(SealError) in try Store.check(directory, seal) } }
        if let reason = StoreRepair(directory).reason() {
            throw PipelineError(
                message:
                    "the store in \(directory.path) must be repaired first (\(reason)): start 'kymo run' on it once",
                exitCode: ExitStatus.config)
        }
    }

    /// What repairs and replays have kept, or left when they were killed, is plain.
    private func refuseRemains() throws(PipelineError) {
        try refuseDamage(nil)
        let replays = FileSystem.names(in: directory.path).filter { $0.hasPrefix("replay-") }
        let remains = [directory.damaged, directory.damaged + "-wal"] + replays.map { "\(directory.path)/\($0)" }
        if let file = remains.first(where: { FileSystem.target($0) != nil }) {
            throw PipelineError(
                message: "\(file), which a repair or a replay has left, is not encrypted: look at it, and remove it "
                    + "first", exitCode: ExitStatus.config)
        }
        for ending in ["", "-journal", "-wal", "-shm"] { FileSystem.remove(directory.repaired + ending) }
    }

    private func makeFolder() throws(PipelineError) {
        try attempt { () throws(SealError) in try StoreSealing.clear(folder) }
        let code = FileSystem.createDirectory(folder, mode: 0o700)
        guard code >= 0 else {
            throw PipelineError(
                message: "cannot make \(folder): \(ErrorText.of(code))", exitCode: ExitStatus.cannotCreate)
        }
    }

    /// Removes a copy that is not complete, or its folder alone.
    private static func clear(_ folder: String) throws(SealError) {
        guard FileSystem.target(folder) != nil else { return }
        let copy = StoreDirectory.database(in: folder)
        for ending in ["", "-wal", "-shm", "-journal"] { FileSystem.remove(copy + ending) }
        guard FileSystem.target(copy) == nil else { throw SealError(message: "cannot remove \(copy): do that first") }
        // Durably before its keys: else it would be taken for a copy whose keys are in their place.
        try KeyList.synchronise(folder)
        for name in FileSystem.names(in: folder) where name != "." && name != ".." {
            FileSystem.remove("\(folder)/\(name)")
        }
        FileSystem.removeDirectory(folder)
    }

    private static func rename(_ path: String, to target: String) throws(SealError) {
        let code = FileSystem.rename(path, to: target)
        guard code >= 0 else { throw SealError(message: "cannot rename \(path) to \(target): \(ErrorText.of(code))") }
    }

    @discardableResult
    private func attempt<Value>(_ body: () throws(SealError) -> Value) throws(PipelineError) -> Value {
        do throws(SealError) { return try body() } catch { throw PipelineError(StoreError(error)) }
    }

    private static func noStore(_ path: String) -> PipelineError {
        PipelineError(
            message: "there is no store in \(path): name the data directory of kymo run with --data DIR",
            exitCode: ExitStatus.noInput)
    }
}
