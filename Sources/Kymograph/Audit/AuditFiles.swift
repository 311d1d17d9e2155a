import Glibc

/// A file of a trail: another one of the same name is another one.
struct AuditFileMark {
    var name: String
    /// The number of its first record.
    var first: Int
    var size: Int
    fileprivate(set) var device: dev_t
    fileprivate(set) var number: ino_t

    /// Whether both are one file, perhaps at different times.
    func isSame(as other: AuditFileMark) -> Bool {
        name == other.name && device == other.device && number == other.number
    }
}

/// The open folder of an audit trail, and its files.
///
/// They are reached by its descriptor and through no link: root appends to trails in directories of other users, who
/// may put what they like in the place of a folder or file. What was there before is never given away.
struct AuditFiles {
    private let path: String
    private let folder: Descriptor
    /// Whom the data directory belongs to.
    private let owner: stat

    /// Opens the folder `audit` of `dataDirectory`, where need be a new one if `isMaking`; nil when there is none.
    ///
    /// - Throws: ``AuditError``.
    init?(in dataDirectory: String, isMaking: Bool) throws(AuditError) {
        path = "\(dataDirectory)/\(AuditFolder.name)"
        let raw = FileSystem.open(dataDirectory, O_RDONLY | O_DIRECTORY)
        if raw == -ENOENT, !isMaking { return nil }
        guard raw >= 0 else { throw Self.fault(-raw, "open", path) }
        let parent = Descriptor(raw)
        defer { withExtendedLifetime(parent) {} }
        guard let owner = FileSystem.status(parent.raw) else { throw Self.fault(errno, "open", path) }
        self.owner = owner
        var isNew = false
        if isMaking {
            let made = FileSystem.createDirectory(AuditFolder.name, in: parent.raw, mode: 0o700)
            guard made >= 0 || made == -EEXIST else { throw Self.fault(-made, "make", path) }
            isNew = made >= 0
        }
        let opened = FileSystem.open(AuditFolder.name, in: parent.raw, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        if opened == -ENOENT, !isMaking { return nil }
        guard opened >= 0 else { throw Self.refusal(-opened, "open", path, "a folder") }
        folder = Descriptor(opened)
        if isNew {
            giveToOwner(folder)
            guard fsync(parent.raw) == 0 else { throw Self.fault(errno, "make durable", path) }
        }
    }

    /// What root makes belongs to whom the data directory belongs to: the instance must be able to append to it.
    private func giveToOwner(_ made: Descriptor) {
        guard geteuid() == 0, owner.st_uid != 0 else { return }
        // Where that cannot be, the instance says what it cannot append to.
        _ = fchown(made.raw, owner.st_uid, owner.st_gid)
    }

    /// Keeps other processes from appending while this is there; waits at most two seconds for them.
    ///
    /// - Throws: ``AuditError``.
    func lock() throws(AuditError) {
        for _ in 0..<200 {
            if flock(folder.raw, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw Self.fault(errno, "lock", path) }
            Wait.milliseconds(10)
        }
        throw AuditError(message: "another process holds \(path) for more than two seconds")
    }

    /// The files, the oldest first.
    ///
    /// - Throws: ``AuditError`` when the folder cannot be read.
    func names() throws(AuditError) -> [(name: String, first: Int)] {
        let names = FileSystem.names(in: folder.raw)
        // A folder that can be read has at least itself.
        guard !names.isEmpty else { throw AuditError(message: "the folder \(path) cannot be read") }
        return names.compactMap { name in AuditFolder.number(name).map { (name, $0) } }.sorted { $0.1 < $1.1 }
    }

    /// Opens a file for reading. It may have other names: backups are often made of hard links.
    ///
    /// - Throws: ``AuditError`` when it cannot be, or is no regular file.
    func open(_ name: String) throws(AuditError) -> (file: Descriptor, size: Int) {
        let (file, status) = try regular(name, O_RDONLY)
        return (file, Int(status.st_size))
    }

    /// What is in a file.
    ///
    /// - Throws: ``AuditError`` when it cannot be read.
    func content(_ name: String) throws(AuditError) -> [UInt8] {
        let (file, _) = try open(name)
        defer { withExtendedLifetime(file) {} }
        guard let bytes = FileSystem.read(file.raw, limit: AuditFolder.mostOfFile),
            bytes.count <= AuditFolder.mostOfFile
        else { throw AuditError(message: "\(path)/\(name) cannot be read") }
        return bytes
    }

    /// The files, the oldest first, as they are now.
    ///
    /// - Throws: ``AuditError`` when the folder, or one of them, cannot be read.
    func marks() throws(AuditError) -> [AuditFileMark] {
        var marks: [AuditFileMark] = []
        for (name, first) in try names() {
            let (file, status) = try regular(name, O_RDONLY)
            withExtendedLifetime(file) {
                marks.append(
                    AuditFileMark(
                        name: name, first: first, size: Int(status.st_size), device: status.st_dev,
                        number: status.st_ino))
            }
        }
        return marks
    }

    /// What is in a file from `offset` on, but for what is being written to it now and may be taken back: about `most`
    /// bytes, and more where a line is longer.
    ///
    /// - Throws: ``AuditError`` when it cannot be read.
    func lines(of name: String, from offset: Int, most: Int) throws(AuditError) -> [UInt8] {
        try lock()
        defer { _ = flock(folder.raw, LOCK_UN) }
        let (file, size) = try open(name)
        defer { withExtendedLifetime(file) {} }
        guard offset < size else { return [] }
        guard lseek(file.raw, off_t(offset), SEEK_SET) >= 0 else { throw Self.fault(errno, "read", "\(path)/\(name)") }
        var bytes: [UInt8] = []
        while bytes.count < size - offset, bytes.count < most || !bytes.contains(0x0A) {
            guard let count = FileSystem.read(file.raw, min(most, size - offset - bytes.count), into: &bytes) else {
                throw Self.fault(errno, "read", "\(path)/\(name)")
            }
            if count == 0 { break }
        }
        return bytes
    }

    /// Opens a file for appending, a new one if it is not there and `isMaking`. With another name, in a folder that
    /// its owner cannot read perhaps, it is somebody else's file.
    ///
    /// - Throws: ``AuditError`` when it cannot be, or is no regular file with this name alone.
    func openForAppending(_ name: String, isMaking: Bool) throws(AuditError) -> (file: Descriptor, size: Int) {
        let flags = O_RDWR | O_APPEND | O_NONBLOCK | O_NOFOLLOW
        if isMaking {
            let raw = FileSystem.open(name, in: folder.raw, flags | O_CREAT | O_EXCL, mode: 0o600)
            if raw >= 0 {
                let file = Descriptor(raw)
                giveToOwner(file)
                return (file, 0)
            }
            guard raw == -EEXIST else { throw Self.fault(-raw, "make", "\(path)/\(name)") }
        }
        let (file, status) = try regular(name, flags)
        guard status.st_nlink == 1 else {
            throw AuditError(
                message: "\(path)/\(name) has other names (hard links): it is not appended to; move it to an archive")
        }
        return (file, Int(status.st_size))
    }

    private func regular(_ name: String, _ flags: Int32) throws(AuditError) -> (file: Descriptor, status: stat) {
        // A FIFO would wait for its other end.
        let raw = FileSystem.open(name, in: folder.raw, flags | O_NONBLOCK | O_NOFOLLOW)
        guard raw >= 0 else { throw Self.refusal(-raw, "open", "\(path)/\(name)", "a regular file") }
        let file = Descriptor(raw)
        guard let status = FileSystem.status(file.raw) else { throw Self.fault(errno, "open", "\(path)/\(name)") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw AuditError(message: "\(path)/\(name) is no regular file: move it away")
        }
        return (file, status)
    }

    /// Makes names in the folder durable.
    ///
    /// - Throws: ``AuditError``.
    func synchronise() throws(AuditError) {
        guard fsync(folder.raw) == 0 else { throw Self.fault(errno, "make durable", path) }
    }

    /// Why `path`, which has to be `what`, was not opened.
    private static func refusal(_ code: Int32, _ action: String, _ path: String, _ what: String) -> AuditError {
        guard code == ELOOP || code == ENOTDIR else { return fault(code, action, path) }
        return AuditError(
            message: "cannot \(action) the audit trail in \(path): it is not \(what), and links are not followed; "
                + "move it away")
    }

    static func fault(_ code: Int32, _ action: String, _ path: String) -> AuditError {
        AuditError(message: SystemError(code, action, "the audit trail in \(path)").message)
    }
}
