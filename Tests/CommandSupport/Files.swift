import Glibc

/// An open descriptor, closed with its last reference and never passed on to other programs.
package final class OpenFile: Sendable {
    package let descriptor: Int32

    private init(_ descriptor: Int32, _ name: String) throws {
        self.descriptor = descriptor
        if descriptor < 0 { throw WaitError(description: "cannot open \(name): errno \(errno)") }
    }

    package convenience init(reading path: String) throws {
        try self.init(unsafe open(path, O_RDONLY | O_CLOEXEC), path)
    }

    package convenience init(writing path: String) throws {
        try self.init(unsafe open(path, O_WRONLY | O_CLOEXEC), path)
    }

    package convenience init(creating path: String) throws {
        try self.init(unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600), path)
    }

    deinit { close(descriptor) }

    package static func pipe() throws -> (reader: OpenFile, writer: OpenFile) {
        var ends: [Int32] = [-1, -1]
        unsafe Glibc.pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (try OpenFile(ends[0], "a pipe"), try OpenFile(ends[1], "a pipe"))
    }

    /// Writes everything; false when the reader has gone.
    package func write(_ bytes: [UInt8]) -> Bool {
        signal(SIGPIPE, SIG_IGN)
        var rest = bytes[...]
        while !rest.isEmpty {
            let size = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if size <= 0 { return false }
            rest = rest.dropFirst(size)
        }
        return true
    }

    /// Reads to the end; calls `meanwhile` before each part, and again and again while none comes: who writes may wait
    /// for something else to be read.
    package func readAll(meanwhile: () -> Void = {}) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            meanwhile()
            guard unsafe poll(&entry, 1, 100) > 0 else { continue }
            let size = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            guard size > 0 else { return bytes }
            bytes += chunk[..<size]
        }
    }
}

/// A directory for one test, removed with everything in it.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array("\(Files.temporaryDirectory)/kymo-cli-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&template)
        precondition(unsafe made != nil, "cannot make a directory for the test")
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { Files.removeAll(path) }

    /// The path of `name`.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, making its folder if need be, and returns its path.
    @discardableResult
    package func write(_ name: String, _ text: String) -> String {
        Files.write(Array(text.utf8), to: file(name))
        return file(name)
    }
}

/// Plain file access for tests.
package enum Files {
    static var temporaryDirectory: String { SharedMaterial.environment["TMPDIR"] ?? "/tmp" }

    package static func read(_ path: String) -> [UInt8] {
        (try? OpenFile(reading: path))?.readAll() ?? []
    }

    package static func text(_ path: String) -> String { String(decoding: read(path), as: UTF8.self) }

    package static func write(_ bytes: [UInt8], to path: String) {
        if let slash = path.lastIndex(of: "/") { unsafe mkdir(String(path[..<slash]), 0o755) }
        let isWritten = (try? OpenFile(creating: path))?.write(bytes) ?? false
        precondition(isWritten, "cannot write \(path)")
    }

    /// The names in a directory, hidden ones included, sorted.
    package static func names(_ directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe String(cString: UnsafeRawPointer(tuple).assumingMemoryBound(to: CChar.self))
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Gives a file or folder another path, in the place of a file that is there.
    package static func move(_ path: String, to target: String) {
        precondition(unsafe rename(path, target) == 0, "cannot rename \(path)")
    }

    package static func exists(_ path: String) -> Bool { status(path) != nil }

    /// The permission bits.
    package static func mode(_ path: String) -> UInt32 { status(path).map { $0.st_mode & 0o777 } ?? 0 }

    package static func isDirectory(_ path: String) -> Bool {
        status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    package static func isSocket(_ path: String) -> Bool {
        status(path).map { $0.st_mode & S_IFMT == S_IFSOCK } ?? false
    }

    package static func removeAll(_ path: String) {
        if status(path).map({ $0.st_mode & S_IFMT == S_IFDIR }) ?? false {
            for name in names(path) { removeAll("\(path)/\(name)") }
            unsafe rmdir(path)
        } else {
            unsafe unlink(path)
        }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }
}
