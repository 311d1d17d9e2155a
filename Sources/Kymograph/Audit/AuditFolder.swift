import Glibc
import KymographCore

/// The files of an audit trail, `audit-000001.ndjson` and so on, in the folder `audit` of a data directory. Several
/// processes may append, one at a time.
struct AuditFolder: Sendable {
    let path: String
    /// A file of this many bytes is followed by another.
    private let largestFile: Int

    init(dataDirectory: String, largestFile: Int = 8 << 20) {
        path = "\(dataDirectory)/audit"
        self.largestFile = largestFile
    }

    /// Names of the files, the oldest first.
    var files: [String] { FileSystem.names(in: path).filter { Self.number($0) != nil } }

    private static func number(_ name: String) -> Int? {
        let digits = name.dropFirst("audit-".count).dropLast(".ndjson".count)
        return digits.count >= 6 && name == "audit-\(digits).ndjson" ? Int(digits) : nil
    }

    private static func name(_ number: Int) -> String {
        "audit-\(String(repeating: "0", count: max(0, 6 - String(number).count)))\(number).ndjson"
    }

    /// Appends what `lines` makes of the head of the trail, durably, while no other process does; returns the new head.
    /// Waits at most two seconds for others.
    ///
    /// - Throws: ``AuditError``; then nothing was appended.
    func append(_ lines: (AuditHead) -> (bytes: [UInt8], head: AuditHead)) throws(AuditError) -> AuditHead {
        let made = FileSystem.createDirectory(path, mode: 0o700)
        guard made >= 0 || made == -EEXIST else { throw fault(-made, "make") }
        let raw = FileSystem.open(path, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { throw fault(-raw, "open") }
        let folder = Descriptor(raw)
        try lock(folder)
        let (file, size, isNew) = try openLast()
        let (head, isTorn) = try head(file, size)
        let (bytes, newHead) = lines(head)
        // A part of a line, which a crash has left, stays as it is: nothing is ever cut from the trail.
        try write(isTorn ? [0x0A] + bytes : bytes, file, size)
        if isNew, fsync(folder.raw) != 0 { throw fault(errno, "make durable") }
        return newHead
    }

    private func lock(_ folder: Descriptor) throws(AuditError) {
        for _ in 0..<200 {
            if flock(folder.raw, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw fault(errno, "lock") }
            Wait.milliseconds(10)
        }
        throw AuditError(message: "another process holds \(path) for more than two seconds")
    }

    /// The file to append to, its size, and whether it was made now.
    private func openLast() throws(AuditError) -> (file: Descriptor, size: Int, isNew: Bool) {
        var number = files.last.flatMap(Self.number) ?? 1
        for _ in 0..<2 {
            let isThere = FileSystem.status("\(path)/\(Self.name(number))") != nil
            let raw = FileSystem.open("\(path)/\(Self.name(number))", O_RDWR | O_CREAT | O_APPEND, mode: 0o600)
            guard raw >= 0 else { throw fault(-raw, "open") }
            let file = Descriptor(raw)
            guard let size = FileSystem.status(raw).map({ Int($0.st_size) }) else { throw fault(errno, "open") }
            if size < largestFile { return (file, size, !isThere) }
            number += 1
        }
        throw AuditError(message: "the newest file in \(path) cannot be appended to")
    }

    /// The last record of the trail, of which `file` is the last file; and whether that ends within a line.
    private func head(_ file: Descriptor, _ size: Int) throws(AuditError) -> (AuditHead, isTorn: Bool) {
        let (found, isTorn) = try lastRecord(file, size)
        if let found { return (found, isTorn) }
        // A new file follows those before; one without any whole record, too.
        for name in files.dropLast().reversed() {
            let raw = FileSystem.open("\(path)/\(name)", O_RDONLY)
            guard raw >= 0 else { throw fault(-raw, "read") }
            let former = Descriptor(raw)
            guard let size = FileSystem.status(raw).map({ Int($0.st_size) }) else { throw fault(errno, "read") }
            if let found = try lastRecord(former, size).head { return (found, isTorn) }
        }
        return (.origin, isTorn)
    }

    /// The last whole record of a file, nil without one; and whether the file ends within a line.
    private func lastRecord(_ file: Descriptor, _ size: Int) throws(AuditError) -> (head: AuditHead?, isTorn: Bool) {
        let start = max(0, size - 2 * AuditRecord.longestLine)
        var bytes: [UInt8] = []
        guard lseek(file.raw, off_t(start), SEEK_SET) >= 0 else { throw fault(errno, "read") }
        while bytes.count < size - start {
            guard let count = FileSystem.read(file.raw, size - start - bytes.count, into: &bytes) else {
                throw fault(errno, "read")
            }
            if count == 0 { break }
        }
        let isTorn = !bytes.isEmpty && bytes.last != 0x0A
        for line in bytes.split(separator: 0x0A).reversed() {
            guard let (record, digest) = AuditRecord.read(Array(line)) else { continue }
            return (AuditHead(sequence: record.sequence, digest: digest), isTorn)
        }
        return (nil, isTorn)
    }

    /// Writes all of `bytes` behind the `size` bytes of `file`, or nothing.
    private func write(_ bytes: [UInt8], _ file: Descriptor, _ size: Int) throws(AuditError) {
        var done = 0
        while done < bytes.count {
            let count = Array(bytes[done...]).withByteView { FileSystem.write(file.raw, $0) }
            guard count > 0 else {
                ftruncate(file.raw, off_t(size))
                throw fault(Int32(-count), "write to")
            }
            done += count
        }
        guard fdatasync(file.raw) == 0 else {
            let code = errno
            ftruncate(file.raw, off_t(size))
            throw fault(code, "make durable")
        }
    }

    private func fault(_ code: Int32, _ what: String) -> AuditError {
        AuditError(message: SystemError(code, what, "the audit trail in \(path)").message)
    }
}
