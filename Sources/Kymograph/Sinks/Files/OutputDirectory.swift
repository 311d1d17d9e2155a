import CKymographLinux
import Glibc
import KymographCore

/// What became of a file that a crash left unfinished.
package struct RecoveredFile: Hashable, Sendable {
    /// The name it has now, within the directory.
    package var name: String
    /// Bytes of an unfinished last line that were cut off.
    package var bytesCut: Int
    /// Whether the file is only the beginning of one: it ends with `.partial` and was left as it was. What a
    /// compressed one holds up to there is what `zstd -dc` prints of it.
    package var isPartial: Bool
}

/// A directory that one sink owns: locked, with files that get their names only when they are whole.
struct OutputDirectory: Sendable {
    let path: String
    private let descriptor: Descriptor
    /// Whether the group may read it, too, and not the owner alone.
    private let isGroupReadable: Bool
    /// What its encrypted files can be finished with.
    private let seal: StoreSeal?

    /// Opens `path`, creating it with mode 0700, or 0750 if it `isGroupReadable`, and locks it.
    init(_ path: String, isGroupReadable: Bool = false, seal: StoreSeal? = nil) throws(SinkError) {
        (self.path, self.isGroupReadable, self.seal) = (path, isGroupReadable, seal)
        let created = FileSystem.createDirectory(path, mode: 0o700)
        guard created >= 0 || created == -EEXIST else { throw .system(-created, "create the directory", path) }
        // The umask would take the group's permissions away.
        if created >= 0, isGroupReadable { _ = FileSystem.setMode(path, 0o750) }
        let raw = FileSystem.open(path, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { throw .system(-raw, "open the directory", path) }
        descriptor = Descriptor(raw)
        // Recovery must not touch the files of a living process. File systems without locks go without.
        guard flock(raw, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw OutputDirectory.inUse(path) }
    }

    /// Looks whether `path` could be opened. Nothing is made.
    ///
    /// - Throws: ``SinkError`` when it could not be used.
    static func probe(_ path: String) throws(SinkError) {
        guard FileSystem.target(path) != nil else {
            let code = FileSystem.making(in: FileSystem.folder(of: path))
            guard code >= 0 else { throw .system(-code, "create the directory", path) }
            return
        }
        let raw = FileSystem.open(path, O_RDONLY | O_DIRECTORY)
        guard raw >= 0 else { throw .system(-raw, "open the directory", path) }
        let directory = Descriptor(raw)
        // Shared, so that two that look do not see each other; given back when the descriptor is closed.
        guard flock(directory.raw, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw inUse(path) }
        let code = FileSystem.making(in: path)
        guard code >= 0 else { throw .system(-code, "write to the directory", path) }
    }

    private static func inUse(_ path: String) -> SinkError {
        SinkError(kind: .inUse, message: "another sink writes to the directory \(path): give each its own directory")
    }

    /// Unlocks the directory.
    func close() {
        descriptor.close()
    }

    /// The path of `name`.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The name that sorts last of the whole files in it; nil without any.
    var lastName: OutputName? {
        FileSystem.names(in: path).compactMap(OutputName.init(final:)).max { $0.isBefore($1) }
    }

    /// Creates the growing file of `name`, or of the first later sequence that is free.
    func create(_ name: OutputName) throws(SinkError) -> (OutputName, Descriptor) {
        var name = name
        while true {
            let isTaken = FileSystem.status(file(name.final)) != nil
            let flags = O_WRONLY | O_CREAT | O_EXCL
            let raw = isTaken ? -EEXIST : FileSystem.open(file(name.open), flags, mode: 0o600)
            if raw >= 0 {
                if isGroupReadable { _ = fchmod(raw, 0o640) }
                return (name, Descriptor(raw))
            }
            guard raw == -EEXIST else { throw .system(-raw, "create", file(name.final)) }
            name = name.next
        }
    }

    /// Gives the file `grown` the name `name`, or that of the first later sequence that is free, with `ending` after
    /// it; then makes the directory durable. Never replaces a file. Returns the name.
    func publish(_ grown: String, as name: OutputName, ending: String = "") throws(SinkError) -> String {
        var name = name
        while true {
            let whole = name.final + ending
            let code = FileSystem.renameExclusively(file(grown), to: file(whole))
            if code >= 0 {
                try synchroniseNames()
                return whole
            }
            guard code == -EEXIST else { throw .system(-code, "rename to", file(whole)) }
            name = name.next
        }
    }

    /// Makes the names of its files durable.
    func synchroniseNames() throws(SinkError) { try synchronise(descriptor.raw, path) }

    /// Makes a file's content, or the directory's names, durable.
    func synchronise(_ raw: Int32, _ name: String) throws(SinkError) {
        guard fsync(raw) == 0 || errno == EINVAL else {
            throw SinkError(
                kind: .syncFailed,
                message: "cannot make \(name) durable: \(ErrorText.of(errno)); end the process and check the disk")
        }
    }
}

// MARK: Recovery

extension OutputDirectory {
    /// Finishes the files that a crash left: complete lines become a whole file, beginnings of compressed files and
    /// of first lines become `.partial`.
    func recover() throws(SinkError) -> [RecoveredFile] {
        var recovered: [RecoveredFile] = []
        for grown in FileSystem.names(in: path) {
            guard let name = OutputName(open: grown) else { continue }
            if let file = try recover(grown, name) { recovered.append(file) }
        }
        return recovered
    }

    private func recover(_ grown: String, _ name: OutputName) throws(SinkError) -> RecoveredFile? {
        let raw = FileSystem.open(file(grown), O_RDWR)
        guard raw >= 0 else { throw .system(-raw, "recover", file(grown)) }
        let open = Descriptor(raw)
        let size = FileSystem.status(open.raw).map { Int($0.st_size) } ?? 0
        guard size > 0 else {
            FileSystem.remove(file(grown))
            return nil
        }
        if name.suffix.hasSuffix(OutputName.sealedSuffix) { return try recoverSealed(open, grown, name, size) }
        let kept = name.suffix.hasSuffix(".zst") ? 0 : OutputDirectory.completeLines(open.raw, size)
        let isPartial = kept == 0
        if !isPartial, kept < size, ftruncate(open.raw, kept) != 0 {
            throw .system(errno, "cut the unfinished line of", file(grown))
        }
        // No file system takes as much for a file beside its bytes: others stay untouched.
        FileSystem.releaseReserved(open.raw, size: isPartial ? size : kept, slack: 1 << 18)
        try synchronise(open.raw, file(grown))
        let whole = try publish(grown, as: name, ending: isPartial ? ".partial" : "")
        return RecoveredFile(name: whole, bytesCut: isPartial ? 0 : size - kept, isPartial: isPartial)
    }

    /// The same of an encrypted file: whole chunks, which are whole lines, become a whole file.
    private func recoverSealed(
        _ open: Descriptor, _ grown: String, _ name: OutputName, _ size: Int
    ) throws(SinkError) -> RecoveredFile {
        var isPartial = name.suffix.hasSuffix(".zst" + OutputName.sealedSuffix)
        var kept = size
        if !isPartial, let seal {
            let ended = try SinkError.ofSeal { () throws(SealError) in
                try SealedFile.end(open, file(grown), seal)
            }
            if let ended { kept = ended } else { isPartial = true }
        } else {
            isPartial = true
        }
        FileSystem.releaseReserved(open.raw, size: FileSystem.status(open.raw).map { Int($0.st_size) } ?? size)
        try synchronise(open.raw, file(grown))
        let whole = try publish(grown, as: name, ending: isPartial ? ".partial" : "")
        return RecoveredFile(name: whole, bytesCut: isPartial ? 0 : size - kept, isPartial: isPartial)
    }

    /// Bytes up to and with the last newline before what was not written. After a power cut a file may have what came
    /// last, and zeros, which no line has, in the place of what came before that. Nothing from there on was durable.
    private static func completeLines(_ raw: Int32, _ size: Int) -> Int {
        var end = FileSystem.firstZero(raw, before: size) ?? size
        while end > 0, FileSystem.byte(raw, at: end - 1) != 0x0A { end -= 1 }
        return end
    }
}
