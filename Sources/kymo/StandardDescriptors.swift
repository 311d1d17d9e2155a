import Glibc

/// The descriptors 0, 1 and 2: the only place where this command calls the system by pointers.
enum StandardDescriptors {
    /// Puts something that can be neither read nor written, as each needs, in place of those that the parent process
    /// has closed. Otherwise the next socket or file that is opened would take the number, and be read as input or
    /// written over with output.
    static func reserve() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one. Safe: the path is a C string for the call.
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Why the last write failed, and what to do.
    static var lastError: String {
        switch errno {
        case EBADF: "it is closed; redirect it to a file or a pipe"
        case ENOSPC: "no space is left; free some, or write elsewhere"
        case EPIPE: "its reader has ended"
        // Safe: the text is copied before another call can change it.
        default: unsafe String(cString: strerror(errno))
        }
    }

    /// Whether standard error is the stream that systemd names in `variable` (JOURNAL_STREAM, systemd.exec(5)): a
    /// process that was started with another one has the variable, too.
    static func isJournal(_ variable: String?) -> Bool {
        var status = stat()
        // Safe: the struct is ours.
        guard let variable, unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return variable == "\(status.st_dev):\(status.st_ino)"
    }

    /// Standard input to its end; nil when it cannot be read.
    static func readInput() -> [UInt8]? {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            // Safe: the array's storage outlives the call.
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count < 0 { return nil }
            if count == 0 { return content }
            content += chunk[..<count]
        }
    }

    /// What standard input has next, at most 256 KiB; empty at its end, and when it cannot be read.
    static func readPiece() -> ArraySlice<UInt8> {
        unsafe [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, count in
            // Safe: the buffer has this room during the call.
            count = unsafe max(0, read(STDIN_FILENO, buffer.baseAddress, buffer.count))
        }[...]
    }

    /// Writes all of `bytes` to `descriptor`; false when it did not take all.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Safe: the slice's storage outlives the call.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
