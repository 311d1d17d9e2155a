import Glibc
import KymographCore

/// How far the records of an audit trail have come to a server: the file `audit.sent` of the data directory.
///
/// It is written after the server has them, so that a crash at any time sends some again, under the same ids.
struct AuditCursor: Equatable {
    /// Base URL of the server.
    var server: String
    /// The last record that it has.
    var head: AuditHead

    /// The cursor in `dataDirectory` for `server`; the beginning where there is none, or it is of another server.
    ///
    /// - Throws: ``SystemError`` when there is one that cannot be read.
    static func read(in dataDirectory: String, for server: String) throws(SystemError) -> AuditCursor {
        let start = AuditCursor(server: server, head: .origin)
        let path = path(in: dataDirectory)
        guard let bytes = FileSystem.content(path) else {
            guard FileSystem.status(path) == nil, errno == ENOENT else { throw SystemError(EACCES, "read", path) }
            return start
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        guard lines.count == 2, lines[0].utf8.elementsEqual(server.utf8), let head = AuditHead(lines[1]) else {
            return start
        }
        return AuditCursor(server: server, head: head)
    }

    /// Puts it in the place of the former one, durably.
    ///
    /// - Throws: ``SystemError``.
    func write(in dataDirectory: String) throws(SystemError) {
        let path = Self.path(in: dataDirectory)
        let new = "\(path).new"
        // What a crash has left, or another user has put there.
        FileSystem.remove(new)
        let raw = FileSystem.open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        guard raw >= 0 else { throw SystemError(-raw, "write", new) }
        let file = Descriptor(raw)
        let bytes = Array("\(server)\n\(head.text)\n".utf8)
        let count = bytes.withByteView { FileSystem.writeAll(file.raw, $0) }
        guard count == bytes.count, fsync(file.raw) == 0 else {
            throw SystemError(count < 0 ? Int32(-count) : count < bytes.count ? ENOSPC : errno, "write", new)
        }
        let code = FileSystem.rename(new, to: path)
        guard code >= 0 else { throw SystemError(-code, "replace", path) }
    }

    private static func path(in dataDirectory: String) -> String { "\(dataDirectory)/audit.sent" }
}
