import Glibc
import KymographCore

/// The files of an audit trail in the folder `audit` of a data directory. Each is named for the number of its first
/// record: `audit-000000001.ndjson`, so that what is missing can only be whole files. Several processes may append, one
/// at a time.
struct AuditFolder: Sendable {
    /// A file, and where it ends.
    private struct Tail {
        var file: Descriptor
        var size: Int
        /// Its last whole record; nil without one.
        var head: AuditHead?
        /// Whether it ends within a line.
        var isTorn: Bool
    }

    let path: String
    private let dataDirectory: String
    /// A file of this many bytes is followed by another.
    private let largestFile: Int
    /// Bytes that a reader has to expect of one: the last append may be of many records.
    static let mostOfFile = 256 << 20

    init(dataDirectory: String, largestFile: Int = 8 << 20) {
        path = "\(dataDirectory)/audit"
        self.dataDirectory = dataDirectory
        self.largestFile = largestFile
    }

    // MARK: Names

    /// The files, the oldest first; none when there is no folder.
    ///
    /// - Throws: ``AuditError`` when the folder cannot be read.
    func files() throws(AuditError) -> [(name: String, first: Int)] {
        guard FileSystem.status(path) != nil else { return [] }
        let names = FileSystem.names(in: path)
        // A folder that can be read has at least itself.
        guard !names.isEmpty else { throw AuditError(message: "the folder \(path) cannot be read") }
        return names.compactMap { name in Self.number(name).map { (name, $0) } }.sorted { $0.1 < $1.1 }
    }

    private static func number(_ name: String) -> Int? {
        let digits = name.dropFirst("audit-".count).dropLast(".ndjson".count)
        guard let number = Int(digits), number > 0, Self.name(number) == name else { return nil }
        return number
    }

    private static func name(_ number: Int) -> String {
        "audit-\(String(repeating: "0", count: max(0, 9 - String(number).count)))\(number).ndjson"
    }

    // MARK: Appending

    /// Appends what `lines` makes of the head of the trail, durably, while no other process does; returns the new head.
    /// Waits at most two seconds for others.
    ///
    /// - Throws: ``AuditError``; then nothing was appended.
    func append(_ lines: (AuditHead) -> (bytes: [UInt8], head: AuditHead)) throws(AuditError) -> AuditHead {
        let folder = try openFolder()
        try lock(folder)
        let names = try files()
        var last: Tail?
        if let name = names.last?.name { last = try tail(name, O_RDWR | O_APPEND) }
        var head = last?.head
        if head == nil { head = try former(names.dropLast()) }
        let known = head ?? .origin
        let (bytes, newHead) = lines(known)
        guard let last, last.size < largestFile else {
            let made = try tail(Self.name(known.sequence + 1), O_RDWR | O_APPEND | O_CREAT)
            try write(bytes, to: made)
            try synchronise(folder)
            return newHead
        }
        // A part of a line, which a crash has left, stays as it is: nothing is ever cut from the trail.
        try write(last.isTorn ? [0x0A] + bytes : bytes, to: last)
        return newHead
    }

    private func openFolder() throws(AuditError) -> Descriptor {
        let made = FileSystem.createDirectory(path, mode: 0o700)
        guard made >= 0 || made == -EEXIST else { throw fault(-made, "make") }
        let raw = FileSystem.open(path, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { throw fault(-raw, "open") }
        let folder = Descriptor(raw)
        giveToOwner(folder)
        if made >= 0 {
            let parent = FileSystem.open(dataDirectory, O_RDONLY | O_DIRECTORY)
            guard parent >= 0 else { throw fault(-parent, "open") }
            try synchronise(Descriptor(parent))
        }
        return folder
    }

    /// What root makes belongs to whom the data directory belongs to: the instance must be able to append to it.
    private func giveToOwner(_ file: Descriptor) {
        guard geteuid() == 0, let owner = FileSystem.target(dataDirectory), let own = FileSystem.status(file.raw),
            own.st_uid != owner.st_uid
        else { return }
        // Where that cannot be, the instance says what it cannot append to.
        _ = fchown(file.raw, owner.st_uid, owner.st_gid)
    }

    private func lock(_ folder: Descriptor) throws(AuditError) {
        for _ in 0..<200 {
            if flock(folder.raw, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw fault(errno, "lock") }
            Wait.milliseconds(10)
        }
        throw AuditError(message: "another process holds \(path) for more than two seconds")
    }

    /// The last record of `files`, of which later ones have none.
    private func former(_ files: ArraySlice<(name: String, first: Int)>) throws(AuditError) -> AuditHead {
        for file in files.reversed() {
            if let head = try tail(file.name, O_RDONLY).head { return head }
        }
        return .origin
    }

    private func tail(_ name: String, _ flags: Int32) throws(AuditError) -> Tail {
        let raw = FileSystem.open("\(path)/\(name)", flags, mode: 0o600)
        guard raw >= 0 else { throw fault(-raw, "open") }
        let file = Descriptor(raw)
        if flags & O_CREAT != 0 { giveToOwner(file) }
        guard let size = FileSystem.status(raw).map({ Int($0.st_size) }) else { throw fault(errno, "open") }
        let bytes = try end(of: file, size)
        let isTorn = !bytes.isEmpty && bytes.last != 0x0A
        for line in bytes.split(separator: 0x0A).reversed() {
            guard let (record, digest) = AuditRecord.read(Array(line)) else { continue }
            return Tail(
                file: file, size: size, head: AuditHead(sequence: record.sequence, digest: digest), isTorn: isTorn)
        }
        return Tail(file: file, size: size, head: nil, isTorn: isTorn)
    }

    /// The last bytes of a file, in which a whole record is if there is one.
    private func end(of file: Descriptor, _ size: Int) throws(AuditError) -> [UInt8] {
        let start = max(0, size - 4 * AuditRecord.longestLine)
        guard lseek(file.raw, off_t(start), SEEK_SET) >= 0 else { throw fault(errno, "read") }
        var bytes: [UInt8] = []
        while bytes.count < size - start {
            guard let count = FileSystem.read(file.raw, size - start - bytes.count, into: &bytes) else {
                throw fault(errno, "read")
            }
            if count == 0 { break }
        }
        return bytes
    }

    /// Writes all of `bytes` behind the end of a file, or nothing.
    private func write(_ bytes: [UInt8], to tail: Tail) throws(AuditError) {
        var done = 0
        while done < bytes.count {
            let count = Array(bytes[done...]).withByteView { FileSystem.write(tail.file.raw, $0) }
            guard count > 0 else {
                ftruncate(tail.file.raw, off_t(tail.size))
                throw fault(Int32(-count), "write to")
            }
            done += count
        }
        guard fdatasync(tail.file.raw) == 0 else {
            let code = errno
            ftruncate(tail.file.raw, off_t(tail.size))
            throw fault(code, "make durable")
        }
    }

    private func synchronise(_ directory: Descriptor) throws(AuditError) {
        guard fsync(directory.raw) == 0 else { throw fault(errno, "make durable") }
    }

    private func fault(_ code: Int32, _ what: String) -> AuditError {
        AuditError(message: SystemError(code, what, "the audit trail in \(path)").message)
    }
}
