import Glibc
import KymographCore

/// A file that has a hidden name until it is whole.
struct GrowingFile: ~Copyable {
    /// The name that it gets when it is whole, and the one before that.
    let name: String
    let path: String
    private let descriptor: Descriptor

    /// Makes the file that is to be called `name`.
    init(_ name: String, in folder: String) throws(SinkError) {
        self.name = "\(folder)/\(name)"
        // Of this export alone: a name that a killed one has left is of no matter.
        path = "\(folder)/.\(name).\(String(UInt64.random(in: 1 << 32...UInt64.max), radix: 36))"
        let raw = FileSystem.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        guard raw >= 0 else { throw .system(-raw, "create", path) }
        descriptor = Descriptor(raw)
    }

    /// Appends `bytes`.
    func write(_ bytes: [UInt8]) throws(SinkError) {
        let code = bytes.withByteView { append($0) }
        guard code == 0 else { throw .system(code, "write", path) }
    }

    /// Appends `bytes`.
    func write(_ bytes: ByteView) throws(SinkError) {
        let code = append(bytes)
        guard code == 0 else { throw .system(code, "write", path) }
    }

    /// Appends `bytes`; 0 or an errno.
    private func append(_ bytes: ByteView) -> Int32 {
        var done = 0
        while done < bytes.count {
            let size = FileSystem.write(descriptor.raw, bytes[done..<bytes.count])
            if size < 0 { return Int32(-size) }
            done += size
        }
        return 0
    }

    /// Makes the content durable, and closes the file.
    func finish() throws(SinkError) {
        guard fsync(descriptor.raw) == 0 || errno == EINVAL else { throw .system(errno, "make durable", path) }
        descriptor.close()
    }
}

/// Files of one export with hidden names, until all of them are whole: nobody reads a part of an export for all of it.
struct HiddenFiles: ~Copyable {
    /// Names of whole files, and those that they are to get, in that order.
    private var whole: [(hidden: String, name: String)] = []
    /// Folders that were made, outer ones first.
    private var made: [String] = []
    /// The numbers of the next files, by folder and name.
    private var numbers: [IdentifierText: Int] = [:]

    /// How many are whole.
    var count: Int { whole.count }

    /// Makes `folder` if it is not there.
    mutating func make(_ folder: String) throws(SinkError) {
        let code = FileSystem.createDirectory(folder, mode: 0o700)
        if code >= 0 { made.append(folder) }
        guard code >= 0 || code == -EEXIST else { throw .system(-code, "create the directory", folder) }
    }

    /// Makes the folder of an export, in which files can be made.
    mutating func makeRoot(_ folder: String) throws(SinkError) {
        try make(folder)
        let code = FileSystem.making(in: folder)
        guard code >= 0 else { throw .system(-code, "write to the directory", folder) }
    }

    /// Makes a file in `folder` that is to be called `name` and a number, then `suffix`: the first is number 0.
    mutating func begin(in folder: String, _ name: String, _ suffix: String) throws(SinkError) -> GrowingFile {
        let place = IdentifierText("\(folder)/\(name)")
        let number = numbers[place, default: 0]
        numbers[place] = number + 1
        return try GrowingFile("\(name)-\(number)\(suffix)", in: folder)
    }

    /// Notes that the file with the name `hidden` is to be called `name`.
    mutating func add(_ hidden: String, as name: String) { whole.append((hidden, name)) }

    /// Gives all files their names, durably. If one cannot get its name, none has it.
    mutating func publish() throws(SinkError) {
        for (place, file) in whole.enumerated() {
            let code = FileSystem.renameExclusively(file.hidden, to: file.name)
            guard code >= 0 else {
                for former in whole[..<place] { FileSystem.remove(former.name) }
                throw .system(-code, "rename to", file.name)
            }
        }
        for folder in Set(whole.map { FileSystem.folder(of: $0.name) }).sorted() + made.reversed() {
            let code = FileSystem.synchronise(folder: folder)
            guard code >= 0 else { throw .system(-code, "make durable", folder) }
        }
        whole = []
    }

    /// Removes what is not published, as far as that is possible.
    mutating func abandon() {
        for file in whole { FileSystem.remove(file.hidden) }
        for folder in made.reversed() { FileSystem.removeDirectory(folder) }
    }
}
