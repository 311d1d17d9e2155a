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
            directory, encryption, isSealed: { StorePages.areSealed(database) },
            hasDatabase: { FileSystem.target(database) != nil })
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
            try StoreSealing.finish(directory)
            // Enough to repair or migrate it, which write all of it in one transaction.
            try seal.reserve(pages(of: directory.database) * 2 + StoreSeal.chunk)
            return seal
        } catch {
            throw StoreError(error)
        }
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
