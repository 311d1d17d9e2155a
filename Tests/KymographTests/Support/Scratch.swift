import Glibc

/// A directory for one test, removed with everything in it.
final class Scratch {
    let path: String

    /// Makes one; in memory, if there is such a place, where a test would wait for the disk thousands of times.
    init(inMemory: Bool = false) {
        let place = inMemory && Files.exists("/dev/shm") ? "/dev/shm" : "/tmp"
        var template = Array("\(place)/kymo-test-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&template)
        precondition(unsafe made != nil, "cannot make a directory for the test")
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for name in names { unsafe unlink(file(name)) }
        unsafe rmdir(path)
    }

    /// The path of `name`.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in the directory, hidden ones included.
    var names: [String] { Files.names(path) }
}

/// Plain file access for tests.
enum Files {
    static func names(_ directory: String) -> [String] {
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

    static func read(_ path: String) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return readAll(descriptor)
    }

    static func readAll(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let size = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            guard size > 0 else { return bytes }
            bytes += chunk[..<size]
        }
    }

    static func text(_ path: String) -> String { String(decoding: read(path), as: UTF8.self) }

    static func write(_ path: String, _ bytes: [UInt8]) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        precondition(descriptor >= 0)
        write(descriptor, bytes)
        close(descriptor)
    }

    static func write(_ descriptor: Int32, _ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let size = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            precondition(size > 0, "a test's write failed")
            rest = rest.dropFirst(size)
        }
    }

    static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    static func pipe() -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [0, 0]
        precondition(unsafe Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }
}
