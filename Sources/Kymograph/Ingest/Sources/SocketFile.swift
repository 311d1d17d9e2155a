import CKymographLinux
import Glibc

/// The file of a bound Unix socket.
struct SocketFile: Sendable {
    private let path: String
    private let device: UInt64
    private let inode: UInt64

    /// Binds a new socket of `type` to `path` with permissions `mode`, and listens unless it is for datagrams. A socket
    /// file that nobody listens to any more is replaced; one in use, or another kind of file, is an error.
    static func bind(_ path: String, type: Int32, mode: UInt32) throws(SourceError) -> (Descriptor, SocketFile) {
        let name = "the Unix socket \(path)"
        let raw = kymo_unix_open(type)
        guard raw >= 0 else { throw .system(-raw, "open", name) }
        let descriptor = Descriptor(raw)
        try removeStale(path, type: type, name: name)
        // The new file gets the socket's own mode less the umask: set before, it is never more open than wanted.
        _ = fchmod(raw, mode)
        // Safe: Swift lends the path as a C string for the call.
        let bound = unsafe kymo_unix_bind(raw, path)
        guard bound >= 0 else { throw .system(-bound, "listen to", name) }
        let changed = FileSystem.setMode(path, mode)
        guard changed >= 0 else { throw .system(-changed, "set the mode of", name) }
        guard let file = SocketFile(path) else { throw .system(ENOENT, "find", name) }
        if type != Int32(SOCK_DGRAM.rawValue), listen(raw, SOMAXCONN) != 0 {
            throw .system(errno, "listen to", name)
        }
        return (descriptor, file)
    }

    private init?(_ path: String) {
        guard let status = FileSystem.status(path) else { return nil }
        self.path = path
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// Removes the file, unless somebody has put another one in its place.
    func remove() {
        guard let present = SocketFile(path), present.device == device, present.inode == inode else { return }
        FileSystem.remove(path)
    }

    /// Looks whether a socket of `type` could be bound to `path`. Nothing is made or removed.
    static func probe(_ path: String, type: Int32) throws(SourceError) {
        let name = "the Unix socket \(path)"
        let code = FileSystem.making(in: FileSystem.folder(of: path))
        guard code >= 0 else { throw .system(-code, "listen to", name) }
        _ = try isStale(path, type: type, name: name)
    }

    private static func removeStale(_ path: String, type: Int32, name: String) throws(SourceError) {
        if try isStale(path, type: type, name: name) { FileSystem.remove(path) }
    }

    /// Whether there is the file of a socket that has gone.
    private static func isStale(_ path: String, type: Int32, name: String) throws(SourceError) -> Bool {
        guard let status = FileSystem.status(path) else { return false }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .invalidAddress(path, "it exists and is not a socket; choose another path, or remove it yourself")
        }
        let probe = kymo_unix_open(type)
        guard probe >= 0 else { throw .system(-probe, "open", name) }
        // Safe: as for bind.
        let connected = unsafe kymo_unix_connect(probe, path)
        close(probe)
        switch -connected {
        case ECONNREFUSED: return true
        case ENOENT: return false
        case EACCES, EPERM: throw .system(-connected, "listen to", name)
        default: throw .system(EADDRINUSE, "listen to", name)
        }
    }
}
