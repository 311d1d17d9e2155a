import Glibc
import Kymograph

/// The descriptors 0, 1 and 2: the only place where this command calls the system by pointers.
enum StandardDescriptors {
    /// What `path` is when it is neither a file nor a folder, such as a pipe of the shell (`<(…)`), or a link that
    /// leads nowhere; nil for others.
    static func oddity(of path: String) -> String? {
        var status = stat()
        // Safe: the path is a C string for the call, and the struct is ours; the same below.
        guard unsafe stat(path, &status) != 0 else {
            return status.st_mode & S_IFMT == S_IFREG
                ? nil : "it is a pipe, a device or a socket, and no file (- is standard input)"
        }
        if errno == ELOOP { return "its links lead to each other" }
        guard errno == ENOENT, unsafe lstat(path, &status) == 0 else { return nil }
        return "it is a link to a file that is not there"
    }

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

    /// Whether standard input can be read: one that the parent process has closed cannot (``reserve()``).
    static var isInputReadable: Bool {
        let flags = fcntl(STDIN_FILENO, F_GETFL)
        return flags >= 0 && flags & O_ACCMODE != O_WRONLY
    }

    /// Makes the file at `path` the standard input; false when it is none that can be read, and then `errno` says why.
    static func replaceInput(by path: String) -> Bool {
        // Safe: the path is a C string for the call.
        let descriptor = unsafe open(path, O_RDONLY)
        var status = stat()
        // Safe: the struct is ours.
        guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            return false
        }
        dup2(descriptor, STDIN_FILENO)
        close(descriptor)
        return true
    }

    /// Whether a call has just failed for want of permission.
    static var lacksPermission: Bool { errno == EACCES || errno == EPERM }

    /// How much of standard input has been read, as a part of 1; nil when it is no file.
    static func inputProgress() -> Double? {
        var status = stat()
        // Safe: the struct is ours.
        guard unsafe fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return nil
        }
        let place = lseek(STDIN_FILENO, 0, SEEK_CUR)
        return place >= 0 ? min(Double(place) / Double(status.st_size), 1) : nil
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

    // MARK: The terminal

    /// How a terminal was before ``takeKeys()``.
    struct TerminalMode {
        fileprivate var attributes: termios
    }

    /// Has the terminal of standard input give each key at once, and show none; nil where that is no terminal.
    static func takeKeys() -> TerminalMode? {
        var attributes = termios()
        // Safe: the struct is ours.
        guard unsafe tcgetattr(STDIN_FILENO, &attributes) == 0 else { return nil }
        let former = TerminalMode(attributes: attributes)
        attributes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Safe: the struct is ours.
        return unsafe tcsetattr(STDIN_FILENO, TCSANOW, &attributes) == 0 ? former : nil
    }

    /// Gives the terminal back as it was.
    static func restore(_ mode: TerminalMode) {
        var attributes = mode.attributes
        // Safe: the struct is ours.
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
    }

    /// Columns and lines of the terminal of standard output; nil when it does not say.
    static func terminalSize() -> (columns: Int, lines: Int)? {
        var size = winsize()
        // Safe: the struct is ours.
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// q, Q, Ctrl-C and Ctrl-D.
    private static let endKeys: [UInt8] = [0x71, 0x51, 0x03, 0x04]

    /// Waits for `milliseconds`; true when a signal asks for the end, or with `keys` the key q, Ctrl-C or Ctrl-D.
    static func waitForEnd(_ signals: SignalWatcher, keys: Bool, milliseconds: Int32) -> Bool {
        let end = ContinuousClock.now.advanced(by: .milliseconds(Int(milliseconds)))
        var reads = keys
        while true {
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            guard left > 0 else { return false }
            var entries = [
                pollfd(fd: signals.fileDescriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: reads ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
            ]
            // Safe: the array's storage outlives the call.
            _ = unsafe poll(&entries, 2, Int32(left) + 1)
            if signals.next() != nil { return true }
            guard reads, entries[1].revents != 0 else { continue }
            let pressed = readPiece()
            if pressed.contains(where: { endKeys.contains($0) }) { return true }
            // A terminal that has gone.
            if pressed.isEmpty { reads = false }
        }
    }
}
