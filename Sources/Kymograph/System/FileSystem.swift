import CKymographLinux
import Glibc
import KymographCore

/// The system calls on files and paths, with results instead of `errno`: 0 or more, or a negative errno.
///
/// All of them are unsafe only because C strings and buffers are pointers; Swift lends those for the call.
enum FileSystem {
    /// Opens `path`; never passes the descriptor on to other programs.
    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, mode)
        return descriptor < 0 ? -errno : descriptor
    }

    /// Whether `raw` is a pipe or a socket, whose other end may be closed behind any byte.
    static func isPipe(_ raw: Int32) -> Bool {
        var status = stat()
        // Safe: the kernel fills the structure, which outlives the call.
        return unsafe fstat(raw, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }

    /// Opens `name` in an open directory; never passes the descriptor on to other programs.
    static func open(_ name: String, in directory: Int32, _ flags: Int32, mode: mode_t = 0) -> Int32 {
        let descriptor = unsafe openat(directory, name, flags | O_CLOEXEC, mode)
        return descriptor < 0 ? -errno : descriptor
    }

    /// Creates a directory, but not its parents.
    static func createDirectory(_ path: String, mode: mode_t) -> Int32 {
        result(unsafe mkdir(path, mode))
    }

    /// Creates a directory in an open one.
    static func createDirectory(_ name: String, in directory: Int32, mode: mode_t) -> Int32 {
        result(unsafe mkdirat(directory, name, mode))
    }

    /// Removes a file.
    @discardableResult
    static func remove(_ path: String) -> Int32 {
        result(unsafe unlink(path))
    }

    /// Removes an empty directory.
    @discardableResult
    static func removeDirectory(_ path: String) -> Int32 {
        result(unsafe rmdir(path))
    }

    /// Sets a file's permissions.
    static func setMode(_ path: String, _ mode: mode_t) -> Int32 {
        result(unsafe chmod(path, mode))
    }

    /// Renames, in the place of a file that is there.
    static func rename(_ path: String, to target: String) -> Int32 {
        result(unsafe Glibc.rename(path, target))
    }

    /// Gives the file at `path`, which is no link, a second name, unless `target` exists (-EEXIST).
    static func link(_ path: String, to target: String) -> Int32 {
        result(unsafe Glibc.link(path, target))
    }

    /// Renames unless `target` exists (-EEXIST).
    static func renameExclusively(_ path: String, to target: String) -> Int32 {
        unsafe kymo_rename_exclusive(path, target)
    }

    /// What `path` itself is, not what it links to; nil when it does not exist.
    static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    /// What `path` leads to, through links; nil when it does not exist.
    static func target(_ path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    /// What an open file is.
    static func status(_ descriptor: Int32) -> stat? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? status : nil
    }

    /// The names in a directory, sorted; empty when it cannot be read.
    static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        return unsafe names(stream)
    }

    /// The names in an open directory, sorted; empty when it cannot be read.
    static func names(in directory: Int32) -> [String] {
        // The stream closes its descriptor, and has a place of its own in the directory.
        let own = open(".", in: directory, O_RDONLY | O_DIRECTORY)
        guard own >= 0 else { return [] }
        guard let stream = unsafe fdopendir(own) else {
            close(own)
            return []
        }
        return unsafe names(stream)
    }

    /// The names in `stream`, which is closed.
    private static func names(_ stream: OpaquePointer) -> [String] {
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            // Safe: d_name is zero-terminated within the entry, which lives until the next readdir.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe String(cString: UnsafeRawPointer(tuple).assumingMemoryBound(to: CChar.self))
            }
            names.append(name)
        }
        return names.sorted()
    }

    /// Whether this process may do `mode` (R_OK, W_OK, X_OK) with what `path` leads to: 0, or a negative errno.
    static func access(_ path: String, _ mode: Int32) -> Int32 {
        result(unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS))
    }

    /// Makes it durable which files there are in `folder`: 0, or a negative errno.
    static func synchronise(folder path: String) -> Int32 {
        let raw = open(path, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { return raw }
        let folder = Descriptor(raw)
        // Some file systems cannot synchronise directories, and need not.
        return fsync(folder.raw) == 0 || errno == EINVAL ? 0 : -errno
    }

    /// The folder that holds `path`.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// What the link `path` says; nil when it is none.
    static func linkTarget(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        // Safe: Swift lends path and room for the call, which writes no more than the room has.
        let count = unsafe readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// `path` without links and `..`, from the root on; itself where nothing is there.
    static func resolved(_ path: String) -> String {
        // Safe: Swift lends the path for the call; what it gives is a text of the heap, which is copied and freed.
        guard let text = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    /// `path` without slashes at its end: for names of files in the folder, and as the name of a link that it may be,
    /// and not of what the link leads to.
    static func withoutSlashes(_ path: String) -> String {
        path.lastIndex { $0 != "/" }.map { String(path[...$0]) } ?? ""
    }

    /// `path`, or else the nearest folder above it that exists.
    static func existing(_ path: String) -> String {
        var path = path
        while target(path) == nil, path != "/", path != "." { path = folder(of: path) }
        return path
    }

    /// Whether this process may make files in `directory`: 0, or a negative errno.
    static func making(in directory: String) -> Int32 {
        guard let status = target(directory) else { return -ENOENT }
        return status.st_mode & S_IFMT == S_IFDIR ? access(directory, W_OK | X_OK) : -ENOTDIR
    }

    /// Whether this process may append to the file at `path`, or make it: 0, or a negative errno.
    static func appending(_ path: String) -> Int32 {
        guard let status = target(path) else { return making(in: folder(of: path)) }
        return status.st_mode & S_IFMT == S_IFDIR ? -EISDIR : access(path, W_OK)
    }

    /// The paths that match `pattern` (glob(7)), sorted.
    static func matching(_ pattern: String) -> [String] {
        var found = unsafe glob_t()
        defer { unsafe globfree(&found) }
        guard unsafe glob(pattern, 0, nil, &found) == 0, let paths = unsafe found.gl_pathv else { return [] }
        // Safe: there are gl_pathc zero-terminated paths until globfree.
        return unsafe (0..<Int(found.gl_pathc)).compactMap { unsafe paths[$0].map { unsafe String(cString: $0) } }
            .sorted()
    }

    /// Bytes that this process may still fill on the file system of `path`; nil when the system does not say.
    static func freeBytes(_ path: String) -> Int? { room(path)?.free }

    /// Bytes that this process may still fill on the file system of `path`, and that it could fill if nothing were
    /// there; nil when the system does not say. What is kept for root counts as nothing of either.
    static func room(_ path: String) -> (free: Int, total: Int)? {
        var status = statvfs()
        // Some file systems of other programs and machines have no sizes at all.
        guard unsafe statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        func bytes(_ blocks: UInt) -> Int {
            let (bytes, isOver) = blocks.multipliedReportingOverflow(by: status.f_frsize)
            return isOver ? .max : Int(clamping: bytes)
        }
        let used = status.f_blocks - min(status.f_bfree, status.f_blocks)
        return (bytes(status.f_bavail), bytes(used &+ status.f_bavail))
    }

    /// Whether nothing can be written to the file system of `path` where it is mounted; false when the system does not
    /// say.
    static func isReadOnly(_ path: String) -> Bool {
        var status = statvfs()
        return unsafe statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Sets `count` bytes from `offset` on aside for a file, whose size stays as it is. False where there is no room
    /// for it, and where the file system cannot do that.
    static func reserve(_ descriptor: Int32, at offset: Int, count: Int) -> Bool {
        kymo_reserve(descriptor, offset, count) == 0
    }

    /// Gives back what is set aside behind the end of a file of `size` bytes, if it takes more than `slack` bytes more
    /// on the disk. The file stays as it is; nothing is done where the file system says that it has another size.
    static func releaseReserved(_ descriptor: Int32, size: Int, slack: Int = 0) {
        guard let status = status(descriptor), Int(status.st_size) == size, Int(status.st_blocks) * 512 > size + slack
        else { return }
        // What cannot be given back is room that nobody uses, and no reason to fail.
        ftruncate(descriptor, size)
    }

    /// Writes some of `bytes`, at least one; waits when the descriptor is non-blocking and full.
    static func write(_ descriptor: Int32, _ bytes: ByteView) -> Int {
        while true {
            let size = unsafe Glibc.write(descriptor, bytes.unsafeBuffer.baseAddress, bytes.count)
            if size >= 0 { return size }
            switch errno {
            case EINTR: continue
            case EAGAIN: waitUntilWritable(descriptor)
            default: return -Int(errno)
            }
        }
    }

    /// Writes all of `bytes`: how many they are, or the negative errno of a call that took nothing.
    static func writeAll(_ descriptor: Int32, _ bytes: ByteView) -> Int {
        var done = 0
        while done < bytes.count {
            let size = write(descriptor, bytes[done..<bytes.count])
            guard size > 0 else { return size < 0 ? size : -Int(ENOSPC) }
            done += size
        }
        return done
    }

    /// Writes some of `bytes` at `offset` of a file; a negative errno when it took nothing.
    static func write(_ descriptor: Int32, _ bytes: ByteView, at offset: Int) -> Int {
        let size = unsafe pwrite(descriptor, bytes.unsafeBuffer.baseAddress, bytes.count, offset)
        return size < 0 ? -Int(errno) : size
    }

    /// Writes some of `bytes` to a socket, without waiting and without SIGPIPE; a negative errno when it took nothing.
    static func send(_ descriptor: Int32, _ bytes: ByteView) -> Int {
        let size = unsafe Glibc.send(
            descriptor, bytes.unsafeBuffer.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        return size < 0 ? -Int(errno) : size
    }

    /// What has come to a socket, at most `count` bytes, which stay there; nil, with `errno`, when nothing has come.
    static func peek(_ descriptor: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        // Safe: the array has this room.
        let size = unsafe recv(descriptor, &bytes, count, Int32(MSG_PEEK | MSG_DONTWAIT))
        return size < 0 ? nil : Array(bytes.prefix(size))
    }

    /// The byte at `offset`, or nil.
    static func byte(_ descriptor: Int32, at offset: Int) -> UInt8? {
        var byte: UInt8 = 0
        return unsafe pread(descriptor, &byte, 1, offset) == 1 ? byte : nil
    }

    /// Where the first zero is among the first `size` bytes of an open file; nil when there is none, or they cannot be
    /// read.
    static func firstZero(_ descriptor: Int32, before size: Int) -> Int? {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var place = 0
        while place < size {
            let count = unsafe pread(descriptor, &chunk, min(chunk.count, size - place), place)
            guard count > 0 else { return nil }
            if let zero = chunk[..<count].firstIndex(of: 0) { return place + zero }
            place += count
        }
        return nil
    }

    /// Bytes from where an open file stands to its end, but not many more than `limit`; nil, with `errno`, when they
    /// cannot be read.
    static func read(_ descriptor: Int32, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= limit {
            let size = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if size < 0 { return nil }
            if size == 0 { break }
            bytes += chunk.prefix(size)
        }
        return bytes
    }

    /// Appends what comes next of an open file, at most `count` bytes, and tells how many: 0 at its end; nil when it
    /// cannot be read.
    static func read(_ descriptor: Int32, _ count: Int, into bytes: inout [UInt8]) -> Int? {
        while true {
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                // Safe: the buffer has this room during the call. A failure is told by errno.
                errno = 0
                filled = unsafe max(0, Glibc.read(descriptor, buffer.baseAddress, count))
            }
            if !piece.isEmpty || errno == 0 {
                bytes += piece
                return piece.count
            }
            if errno != EINTR { return nil }
        }
    }

    /// The content of a file of up to `limit` bytes, 4 MiB unless more are meant; nil when it cannot be read.
    static func content(_ path: String, limit: Int = 4 << 20) -> [UInt8]? {
        let raw = open(path, O_RDONLY)
        guard raw >= 0 else { return nil }
        let file = Descriptor(raw)
        guard let bytes = read(file.raw, limit: limit), bytes.count <= limit else { return nil }
        return bytes
    }

    private static func waitUntilWritable(_ descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&entry, 1, -1)
    }

    private static func result(_ value: Int32) -> Int32 {
        value < 0 ? -errno : value
    }
}
