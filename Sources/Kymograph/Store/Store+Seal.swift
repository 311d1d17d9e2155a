import Glibc
import KymographCore

extension Store {
    /// Takes the key of the store in `directory`, so that its files can be opened; gives its keys, nil when it is
    /// plain.
    ///
    /// - Throws: ``SealError`` when the key is missing or another one, or the store is plain and there is a key.
    ///   Nothing is changed.
    @discardableResult
    package static func unlock(
        _ directory: String, _ encryption: EncryptionSettings
    ) throws(SealError) -> StoreSeal? {
        let database = StoreDirectory.database(in: directory)
        return try StoreSeal.unlock(
            directory, encryption,
            isSealed: { () throws(SealError) in
                // Where a repair was interrupted, the database has the other name.
                try StorePages.areSealed(FileSystem.target(database) == nil ? database + ".damaged" : database)
            }, hasDatabase: { StoreDirectory.hasStore(in: directory) })
    }

    /// The keys of the store in `directory`, which are made with a store that is encrypted from the beginning. What an
    /// interrupted change of keys has left is brought to its end.
    static func seal(
        _ directory: StoreDirectory, _ encryption: EncryptionSettings
    ) throws(StoreError) -> StoreSeal? {
        do throws(SealError) {
            var seal = try unlock(directory.path, encryption)
            if seal == nil, encryption.isOn { seal = try StoreSeal.make(directory.path, encryption) }
            guard let seal else { return nil }
            try StoreSealing.finish(directory, seal)
            try check(directory, seal)
            // What is in the log goes to the database, and a command may change much in one transaction.
            let log = pages(of: directory.database + "-wal")
            try seal.reserve(min(pages(of: directory.database) * 2, 1 << 16) + log + StoreSeal.firstStep)
            return seal
        } catch {
            throw StoreError(error)
        }
    }

    /// Whether the database in `directory` goes with its list of keys: one that does not looks like a damaged one, and
    /// a repair would save nothing.
    static func check(_ directory: StoreDirectory, _ seal: StoreSeal) throws(SealError) {
        let database = nameBeforeRepair(directory)
        if case .strange(let reason) = StorePages.firstPage(of: database, seal) {
            throw StoreSeal.mismatch(database, reason, directory.path)
        }
        guard !StorePages.logLacksKey(directory.database, seal) else {
            throw StoreSeal.mismatch(
                directory.database + "-wal", "its data key is not in the list", directory.path)
        }
    }

    /// Looks whether all that a repair would read can be decrypted, and lets it encrypt all of that in one transaction.
    static func prepareRepair(_ directory: StoreDirectory, _ seal: StoreSeal?) throws(StoreError) {
        guard let seal else { return }
        let database = nameBeforeRepair(directory)
        guard !StorePages.lackKey(database, seal) else {
            throw StoreError(StoreSeal.mismatch(database, "a data key is not in the list", directory.path))
        }
        try reserveAll(directory, seal)
    }

    /// Lets all of the database be encrypted in one transaction.
    static func reserveAll(_ directory: StoreDirectory, _ seal: StoreSeal?) throws(StoreError) {
        let database = nameBeforeRepair(directory)
        let pages = pages(of: database) + pages(of: directory.database + "-wal")
        do throws(SealError) { try seal?.reserve(pages * 2 + StoreSeal.firstStep) } catch { throw StoreError(error) }
    }

    /// Where the database is: a repair that was interrupted may have renamed it.
    private static func nameBeforeRepair(_ directory: StoreDirectory) -> String {
        let isRenamed = FileSystem.target(directory.database) == nil && directory.isMarked
        return isRenamed ? directory.damaged : directory.database
    }

    /// Pages of the database at `path`.
    static func pages(of path: String) -> Int64 {
        Int64(FileSystem.target(path).map { Int($0.st_size) / StorePages.size } ?? 0)
    }

    /// Writes down that more will be sealed, when little is left of what was.
    func renewSeal() throws(StoreError) {
        do throws(SealError) { try seal?.renew() } catch { throw StoreError(error, .full) }
    }
}
