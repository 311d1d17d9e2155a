import Glibc
import KymographCore

/// New content of a file that is there: written durably beside it, until it takes its place at once. Whoever reads the
/// file has the former content or the new one, whenever the process or the machine ends.
struct FileReplacement {
    let path: String
    /// Hidden, so that nobody takes it for a mapping, and of this process alone.
    private let new: String

    /// Writes `bytes` beside the file at `path`, with its mode, and its owner where that is allowed.
    ///
    /// - Throws: ``SystemError`` when there is no such file, it is a link or has another name, which somebody else
    ///   manages, or the folder takes no files.
    init(of path: String, _ bytes: [UInt8]) throws(SystemError) {
        self.path = path
        let name = path.split(separator: "/").last ?? ""
        new = "\(FileSystem.folder(of: path))/.\(name).kymo-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        guard let former = FileSystem.status(path) else { throw SystemError(ENOENT, "replace", path) }
        // A link would be replaced by a file, and what it leads to would stay.
        guard former.st_mode & S_IFMT == S_IFREG else { throw SystemError(ELOOP, "replace", path) }
        guard former.st_nlink == 1 else { throw SystemError(EMLINK, "replace", path) }
        let raw = FileSystem.open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        guard raw >= 0 else { throw SystemError(-raw, "write", new) }
        let file = Descriptor(raw)
        // Only the superuser may give files away; others may keep the group, if they are in it.
        if fchown(file.raw, former.st_uid, former.st_gid) != 0 { _ = fchown(file.raw, uid_t.max, former.st_gid) }
        let count = bytes.withByteView { FileSystem.writeAll(file.raw, $0) }
        guard count == bytes.count, fchmod(file.raw, former.st_mode & 0o777) == 0, fsync(file.raw) == 0 else {
            let code = count < 0 ? Int32(-count) : count < bytes.count ? ENOSPC : errno
            abandon()
            throw SystemError(code, "write", new)
        }
    }

    /// Puts it in the place of the file, durably.
    func commit() throws(SystemError) {
        let code = FileSystem.rename(new, to: path)
        guard code >= 0 else {
            abandon()
            throw SystemError(-code, "replace", path)
        }
        let result = FileSystem.synchronise(folder: FileSystem.folder(of: path))
        guard result >= 0 else { throw SystemError(-result, "synchronise the folder of", path) }
    }

    /// Leaves the file as it is.
    func abandon() { FileSystem.remove(new) }
}
