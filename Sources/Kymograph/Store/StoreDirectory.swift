import Glibc
import KymographCore

/// The directory of a store: made with mode 0700, and locked by the one process that uses it.
struct StoreDirectory: Sendable {
    let path: String
    private let descriptor: Descriptor

    /// The variable by which systemd names the directory of a service (`StateDirectory=`).
    static let variableOfServices = "STATE_DIRECTORY"

    /// Where the store is when nothing names a place: `$STATE_DIRECTORY` (set by systemd), else
    /// `$XDG_STATE_HOME/kymo`, else `~/.local/state/kymo`; nil when there is not even a home.
    static func usual(_ environment: [String: String]) -> String? {
        // systemd separates several with colons.
        if let state = environment[variableOfServices]?.split(separator: ":").first { return String(state) }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/kymo" }
        return environment["HOME"].map { $0 + "/.local/state/kymo" }
    }

    /// Opens `path`, creating it and what is above it if need be, and locks it. Removes what interrupted resets have
    /// left, unless `onlyLooks`.
    ///
    /// - Throws: ``StoreError`` when it cannot be used, or another process uses it.
    init(_ path: String, onlyLooks: Bool = false) throws(StoreError) {
        self.path = path
        try StoreDirectory.create(path)
        let raw = FileSystem.open(path, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { throw StoreDirectory.error(-raw, "open", path) }
        descriptor = Descriptor(raw)
        guard flock(raw, LOCK_EX | LOCK_NB) != 0 else {
            if !onlyLooks { removeUnfinishedResets() }
            return
        }
        let code = errno
        // Without the lock, two processes could write to one database.
        guard code == EWOULDBLOCK else { throw StoreDirectory.error(code, "lock", path) }
        throw StoreError(
            .inUse, "another kymo uses the data directory \(path): give each its own with --data, or --ephemeral")
    }

    /// Whether another process uses `path`, which need not exist. Nothing is made.
    ///
    /// - Throws: ``StoreError`` when it could not be used.
    static func probe(_ path: String) throws(StoreError) -> Bool {
        guard FileSystem.target(path) != nil else {
            let code = FileSystem.making(in: FileSystem.existing(path))
            guard code >= 0 else { throw error(-code, "create", path) }
            return false
        }
        let raw = FileSystem.open(path, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { throw error(-raw, "open", path) }
        let directory = Descriptor(raw)
        // Shared, so that two that look do not see each other; given back when the descriptor is closed.
        if flock(directory.raw, LOCK_SH | LOCK_NB) != 0 {
            let code = errno
            guard code == EWOULDBLOCK else { throw error(code, "lock", path) }
            return true
        }
        let code = FileSystem.making(in: path)
        guard code >= 0 else { throw error(-code, "write to", path) }
        return false
    }

    /// Lets others have the directory, within this process too. Nothing may be written here from now on.
    func unlock() { _ = flock(descriptor.raw, LOCK_UN) }

    /// The database's file.
    var database: String { StoreDirectory.database(in: path) }

    /// Where a repair makes the new database, and keeps the old one.
    var repaired: String { database + ".repair" }
    var damaged: String { database + ".damaged" }

    /// A file that asks the next start for a repair.
    private var marker: String { "\(path)/\(StoreDirectory.markerName)" }

    /// Whether the database must be repaired before it is used.
    var isMarked: Bool { FileSystem.target(marker) != nil }

    /// Asks the next start for a repair.
    func mark(_ reason: String) throws(StoreError) {
        let raw = FileSystem.open(marker, O_WRONLY | O_CREAT, mode: 0o600)
        guard raw >= 0 else { throw StoreDirectory.error(-raw, "write to", path) }
        let file = Descriptor(raw)
        // That there is a file says enough: one without the reason will do.
        _ = Array("\(reason)\n".utf8).withByteView { FileSystem.write(file.raw, $0) }
        try synchronise(file, marker)
        try synchronise()
    }

    /// Asks the next start of the store in `directory` for a repair, where the caller only reads. One who may not write
    /// there can only say so.
    static func askForRepair(in directory: String) {
        let raw = FileSystem.open("\(directory)/\(markerName)", O_WRONLY | O_CREAT, mode: 0o600)
        if raw >= 0 { Descriptor(raw).close() }
    }

    private static let markerName = "kymo.damaged"

    /// Notes that the repair is complete.
    func unmark() throws(StoreError) {
        FileSystem.remove(marker)
        try synchronise()
    }

    /// Whether there is anything of a store in `directory`: its database, or what a repair will make one of.
    static func hasStore(in directory: String) -> Bool {
        let database = database(in: directory)
        return [database, database + "-wal", database + ".damaged", "\(directory)/\(markerName)"].contains {
            FileSystem.target($0) != nil
        }
    }

    /// Makes it durable which files there are.
    func synchronise() throws(StoreError) { try synchronise(descriptor, path) }

    /// Makes durable what the file `path` holds.
    func synchronise(file path: String) throws(StoreError) {
        let raw = FileSystem.open(path, O_RDWR)
        guard raw >= 0 else { throw StoreDirectory.error(-raw, "write to", path) }
        try synchronise(Descriptor(raw), path)
    }

    /// Makes durable what `file` holds.
    private func synchronise(_ file: Descriptor, _ name: String) throws(StoreError) {
        // Some file systems cannot synchronise directories, and need not.
        guard fsync(file.raw) != 0, errno != EINVAL else { return }
        throw StoreError(
            .syncFailed,
            "cannot make \(name) durable: \(ErrorText.of(errno)); the disk failed to make data durable: check it "
                + "before starting again")
    }

    /// The database's file in `directory`.
    static func database(in directory: String) -> String { "\(directory)/kymo.sqlite" }

    private static func create(_ path: String) throws(StoreError) {
        if FileSystem.target(path) != nil { return }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try create(String(path[..<slash])) }
        let code = FileSystem.createDirectory(path, mode: 0o700)
        guard code >= 0 || code == -EEXIST else { throw error(-code, "create", path) }
    }

    private static func error(_ code: Int32, _ action: String, _ path: String) -> StoreError {
        let isDenied = [EACCES, EPERM, EROFS].contains(code)
        return StoreError(
            isDenied ? .permission : .unusable,
            "cannot \(action) the data directory \(path): \(ErrorText.of(code)); choose another with --data DIR, or "
                + "keep nothing with --ephemeral")
    }
}
