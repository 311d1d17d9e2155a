import Glibc

/// The directory of a store: made with mode 0700, and locked by the one process that uses it.
struct StoreDirectory: Sendable {
    let path: String
    private let descriptor: Descriptor

    /// Where the store is when nothing names a place: `$STATE_DIRECTORY` (set by systemd), else
    /// `$XDG_STATE_HOME/kymo`, else `~/.local/state/kymo`; nil when there is not even a home.
    static func usual(_ environment: [String: String]) -> String? {
        // systemd separates several with colons.
        if let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(state) }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/kymo" }
        return environment["HOME"].map { $0 + "/.local/state/kymo" }
    }

    /// Opens `path`, creating it and what is above it if need be, and locks it.
    ///
    /// - Throws: ``StoreError`` when it cannot be used, or another process uses it.
    init(_ path: String) throws(StoreError) {
        self.path = path
        try StoreDirectory.create(path)
        let raw = FileSystem.open(path, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { throw StoreDirectory.error(-raw, "open", path) }
        descriptor = Descriptor(raw)
        guard flock(raw, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw StoreError(
                .inUse, "another kymo uses the data directory \(path): give each its own with --data, or --ephemeral")
        }
    }

    /// The database's file.
    var database: String { StoreDirectory.database(in: path) }

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
