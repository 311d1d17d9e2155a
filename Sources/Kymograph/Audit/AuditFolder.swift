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
    /// Its name in the data directory.
    static let name = "audit"

    init(dataDirectory: String, largestFile: Int = 8 << 20) {
        path = "\(dataDirectory)/\(Self.name)"
        self.dataDirectory = dataDirectory
        self.largestFile = largestFile
    }

    /// The folder for reading; nil when there is none.
    ///
    /// - Throws: ``AuditError`` when it cannot be opened.
    func opened() throws(AuditError) -> AuditFiles? { try AuditFiles(in: dataDirectory, isMaking: false) }

    // MARK: Names

    /// The number of the first record of a file; nil when it is none of the trail.
    static func number(_ name: String) -> Int? {
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
        guard let files = try AuditFiles(in: dataDirectory, isMaking: true) else {
            throw AuditFiles.fault(ENOENT, "open", path)
        }
        // The lock goes with the descriptor.
        defer { withExtendedLifetime(files) {} }
        try files.lock()
        let names = try files.names()
        var last: Tail?
        if let name = names.last?.name { last = try tail(files.openForAppending(name, isMaking: false)) }
        var head = last?.head
        if head == nil { head = try former(names.dropLast(), files) }
        let known = head ?? .origin
        let (bytes, newHead) = lines(known)
        if last.map({ $0.size >= largestFile }) ?? true {
            last = try tail(files.openForAppending(Self.name(known.sequence + 1), isMaking: true))
        }
        guard let last else { throw AuditFiles.fault(ENOENT, "open", path) }
        // A crash may have left an empty file, too. What is on the disk must not be of a file that is not.
        if last.size == 0 { try files.synchronise() }
        // A part of a line, which a crash has left, stays as it is: nothing is ever cut from the trail.
        try write(last.isTorn ? [0x0A] + bytes : bytes, to: last)
        return newHead
    }

    /// The last record of `names`, of which later ones have none.
    private func former(
        _ names: ArraySlice<(name: String, first: Int)>, _ files: AuditFiles
    ) throws(AuditError) -> AuditHead? {
        for (name, _) in names.reversed() {
            if let head = try tail(files.open(name)).head { return head }
        }
        return nil
    }

    private func tail(_ opened: (file: Descriptor, size: Int)) throws(AuditError) -> Tail {
        let (file, size) = opened
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
        guard lseek(file.raw, off_t(start), SEEK_SET) >= 0 else { throw AuditFiles.fault(errno, "read", path) }
        var bytes: [UInt8] = []
        while bytes.count < size - start {
            guard let count = FileSystem.read(file.raw, size - start - bytes.count, into: &bytes) else {
                throw AuditFiles.fault(errno, "read", path)
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
                throw AuditFiles.fault(Int32(-count), "write to", path)
            }
            done += count
        }
        guard fdatasync(tail.file.raw) == 0 else {
            let code = errno
            ftruncate(tail.file.raw, off_t(tail.size))
            throw AuditFiles.fault(code, "make durable", path)
        }
    }
}
