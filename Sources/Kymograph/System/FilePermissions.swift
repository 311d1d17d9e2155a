import Glibc

/// Who may change what a file says.
enum FilePermissions {
    /// The mode of the file or folder at `path`, as chmod has it, if users other than its owner and root can write it;
    /// nil if not, if there is none, and for what is neither.
    ///
    /// A group with the number of the owner is the owner's own, as most systems make one for each user.
    static func modeOpenToOthers(_ path: String) -> String? {
        guard let status = FileSystem.target(path), [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            return nil
        }
        let others: mode_t = status.st_gid == status.st_uid ? 0o002 : 0o022
        guard status.st_mode & others != 0 else { return nil }
        return "0" + String(status.st_mode & 0o7777, radix: 8)
    }
}
