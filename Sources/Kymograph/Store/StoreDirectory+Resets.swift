import Glibc

extension StoreDirectory {
    /// How names of folders begin into which 'kymo reset' moves a store.
    static let resetPrefix = "reset-"

    /// Removes folders that a reset has filled with second names of the store's files, and has not gone on: the store
    /// lives on, and a log of before would lie there beside its present database. To be called with the lock.
    func removeUnfinishedResets() {
        let own = Self.files(in: path)
        for name in FileSystem.names(in: path) where name.hasPrefix(Self.resetPrefix) {
            let folder = "\(path)/\(name)"
            guard let status = FileSystem.status(folder), status.st_mode & S_IFMT == S_IFDIR,
                !own.isDisjoint(with: Self.files(in: folder))
            else { continue }
            for file in FileSystem.names(in: folder) where file.hasPrefix("kymo.") {
                FileSystem.remove("\(folder)/\(file)")
            }
            FileSystem.removeDirectory(folder)
        }
    }

    /// The files of which a data directory has one each, whatever their names are: device and inode.
    private static func files(in folder: String) -> Set<[UInt]> {
        Set(
            ["kymo.sqlite", "kymo.mark"].compactMap { FileSystem.status("\(folder)/\($0)") }
                .map { [UInt($0.st_dev), UInt($0.st_ino)] })
    }
}
