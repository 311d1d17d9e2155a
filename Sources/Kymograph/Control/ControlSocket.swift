import CKymographLinux
import Glibc

/// One line each way over a Unix stream socket: how commands talk to a running instance.
package enum ControlSocket {
    /// Bytes of the longest line.
    private static let mostBytes = 16 << 20
    /// Milliseconds that either side waits for the other.
    package static let patience: Int32 = 15_000

    /// The socket's path in a data directory.
    static func path(in directory: String) -> String { "\(directory)/control.sock" }

    /// Connects to the instance that uses `directory`; nil when there is none.
    static func connect(_ directory: String) -> Descriptor? {
        let raw = kymo_unix_open(Int32(SOCK_STREAM.rawValue))
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(raw)
        // Safe: Swift lends the path as a C string for the call.
        return unsafe kymo_unix_connect(raw, path(in: directory)) >= 0 ? descriptor : nil
    }

    /// Reads up to the first line feed; nil when the other side ends before it, or is too slow. With `onlyLine` nothing
    /// behind that is taken, which is slower.
    static func readLine(
        _ descriptor: Descriptor, milliseconds: Int32 = patience, onlyLine: Bool = false
    ) -> [UInt8]? {
        var line: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: onlyLine ? 1 : 65_536)
        while line.count < mostBytes {
            // Safe: the array's storage outlives the call.
            let count = unsafe chunk.withUnsafeMutableBytes { bytes in
                unsafe recv(descriptor.raw, bytes.baseAddress, bytes.count, 0)
            }
            if count < 0, errno == EAGAIN || errno == EINTR {
                guard wait(descriptor, POLLIN, milliseconds) else { return nil }
                continue
            }
            guard count > 0 else { return nil }
            if let end = chunk[..<count].firstIndex(of: 0x0A) { return line + chunk[..<end] }
            line += chunk[..<count]
        }
        return nil
    }

    /// Writes `line` and a line feed; false when the other side does not take it.
    @discardableResult
    static func write(_ line: [UInt8], to descriptor: Descriptor) -> Bool {
        var rest = (line + [0x0A])[...]
        while !rest.isEmpty {
            // Safe: the slice's storage outlives the call.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe send(descriptor.raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EAGAIN || errno == EINTR {
                guard wait(descriptor, POLLOUT, patience) else { return false }
                continue
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends what the other side has room for now: how many bytes, and nil when it has gone.
    static func sendNow(_ bytes: [UInt8], to descriptor: Descriptor) -> Int? {
        // Safe: the array's storage outlives the call.
        let count = unsafe bytes.withUnsafeBytes { bytes in
            unsafe send(descriptor.raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        guard count < 0 else { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// What has come: empty when there is nothing yet, and nil when the other side has gone.
    static func receiveNow(_ descriptor: Descriptor) -> ArraySlice<UInt8>? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        // Safe: the array's storage outlives the call.
        let count = unsafe chunk.withUnsafeMutableBytes { bytes in
            unsafe recv(descriptor.raw, bytes.baseAddress, bytes.count, 0)
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        return count > 0 ? chunk[..<count] : nil
    }

    /// Waits until the other side has closed, `event` is readable, or `milliseconds` are over: whether it has closed.
    /// One that only says that it sends nothing more is still there.
    static func waitForEnd(of descriptor: Descriptor, or event: Descriptor?, milliseconds: Int32) -> Bool {
        var entries = [
            pollfd(fd: descriptor.raw, events: 0, revents: 0),
            pollfd(fd: event?.raw ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        // Safe: the array's storage outlives the call.
        let count = unsafe entries.withUnsafeMutableBufferPointer { entries in
            unsafe poll(entries.baseAddress, nfds_t(entries.count), milliseconds)
        }
        return count > 0 && Int32(entries[0].revents) & (POLLHUP | POLLERR) != 0
    }

    private static func wait(_ descriptor: Descriptor, _ event: Int32, _ milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor.raw, events: Int16(event), revents: 0)
        // Safe: one entry, for the call.
        return unsafe poll(&entry, 1, milliseconds) > 0
    }
}
