import Glibc

/// Who may change what a file says.
enum FilePermissions {
    /// The mode of the file or folder at `path`, as chmod has it, if users other than its owner and root can write it;
    /// nil if not, if there is none, for what is neither, and where the file system is mounted to be read only, as
    /// Kubernetes mounts a ConfigMap.
    ///
    /// A group with the number of the owner is the owner's own, as most systems make one for each user.
    static func modeOpenToOthers(_ path: String) -> String? {
        guard isFileOrFolder(path), let status = FileSystem.target(path) else { return nil }
        let others: mode_t = status.st_gid == status.st_uid ? 0o002 : 0o022
        guard status.st_mode & others != 0, !FileSystem.isReadOnly(path) else { return nil }
        return "0" + String(status.st_mode & 0o7777, radix: 8)
    }

    /// Whether a file or a folder is at `path`, also by a link: no terminal, pipe or other device.
    static func isFileOrFolder(_ path: String) -> Bool {
        FileSystem.target(path).map { [S_IFREG, S_IFDIR].contains($0.st_mode & S_IFMT) } ?? false
    }

    /// The folder that holds the file or folder at `path`, with a slash at its end, and its mode, if users other than
    /// its owner and root can put something else in the place of `path`; nil if not, and where there is none.
    ///
    /// In a folder with the sticky bit they can do so with what is theirs alone: what belongs neither to root, nor to
    /// the folder's owner, nor to the user of this process.
    static func folderOpenToOthers(of path: String) -> (folder: String, mode: String)? {
        guard let folder = folder(of: path), let mode = modeOpenToOthers(folder),
            let status = FileSystem.target(folder), let own = FileSystem.status(FileSystem.withoutSlashes(path))
        else { return nil }
        let trusted = [0, status.st_uid, geteuid()]
        guard status.st_mode & mode_t(S_ISVTX) == 0 || !trusted.contains(own.st_uid) else { return nil }
        return (folder, mode)
    }

    /// The folder that has the name `path`; nil of a path that ends in `.` or `..`, which no one can exchange.
    private static func folder(of path: String) -> String? {
        let name = FileSystem.withoutSlashes(path)[...]
        guard !name.isEmpty else { return nil }
        let start = name.lastIndex(of: "/")
        guard ![".", ".."].contains(start.map { name[name.index(after: $0)...] } ?? name) else { return nil }
        return start.map { String(name[...$0]) } ?? "./"
    }
}
