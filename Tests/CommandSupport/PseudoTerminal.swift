import Glibc

/// The far end of a serial line: what is written here arrives at ``path``.
package final class PseudoTerminal {
    private var descriptor: Int32
    /// The device.
    package let path: String

    /// Requests of ioctl_tty(2), whose macros Swift cannot read: the number of the device, and its lock.
    private static let (number, lock): (UInt, UInt) = (0x8004_5430, 0x4004_5431)

    package init() throws {
        descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (device, unlocked): (Int32, Int32) = (0, 0)
        guard descriptor >= 0, unsafe ioctl(descriptor, PseudoTerminal.number, &device) == 0,
            unsafe ioctl(descriptor, PseudoTerminal.lock, &unlocked) == 0
        else { throw WaitError(description: "no pseudo-terminal") }
        path = "/dev/pts/\(device)"
    }

    deinit { unplug() }

    /// Ends the line: who reads it gets what was sent, and then nothing any more.
    package func unplug() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Whether it gives whole lines and shows what is typed, as a terminal does for a shell.
    package var isOfAShell: Bool {
        var attributes = termios()
        let usual = tcflag_t(ICANON | ECHO)
        return unsafe tcgetattr(descriptor, &attributes) == 0 && attributes.c_lflag & usual == usual
    }

    /// What has been written to the device since the last time.
    package func received() -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLIN) != 0 {
            let size = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            guard size > 0 else { break }
            bytes += chunk[..<size]
        }
        return bytes
    }

    /// Sends everything; what the line cannot hold waits until it is read.
    package func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let size = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard size > 0 else { return }
            rest = rest.dropFirst(size)
        }
    }
}
