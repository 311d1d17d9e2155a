import Glibc

/// A connection to a port of 127.0.0.1 that sends and reads bytes as they are.
package final class RawConnection {
    private let descriptor: Int32
    /// All that has come.
    package private(set) var received: [UInt8] = []
    /// Whether the other side has ended, or cut, the connection.
    package private(set) var hasEnded = false

    /// Connects, from the address 127.0.0.`host`.
    ///
    /// - Throws: ``WaitError`` when it is refused.
    package init(port: UInt16, from host: UInt8 = 1) throws {
        descriptor = try Loopback.connect(port: port, from: host)
    }

    deinit { close(descriptor) }

    /// What has come, as text.
    package var text: String { String(decoding: received, as: UTF8.self) }

    /// Sends `text`, reading meanwhile; stops when the other side takes nothing any more.
    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends `bytes`, reading meanwhile; stops when the other side takes nothing any more.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty, !hasEnded {
            let size = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            // What refuses to send tells its end only once: what came before it is read in any case.
            let isRefused = size <= 0 && errno != EAGAIN
            if size > 0 { rest = rest.dropFirst(size) }
            receive()
            if isRefused { hasEnded = true }
            if size <= 0 { usleep(500) }
        }
    }

    /// Sends what is taken of `bytes` at once, and reads nothing; how many bytes were taken.
    package func sendUnread(_ bytes: [UInt8]) -> Int {
        let size = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        return max(size, 0)
    }

    /// Says that nothing more will be sent.
    package func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads what has come.
    package func receive() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !hasEnded {
            let size = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            if size == 0 || size < 0 && errno != EAGAIN { hasEnded = true }
            guard size > 0 else { return }
            received += buffer[..<size]
        }
    }

    /// Waits until `condition` holds of what has come.
    ///
    /// - Throws: ``WaitError`` after `seconds`.
    package func wait(_ what: String, seconds: Double = 60, _ condition: (RawConnection) -> Bool) throws {
        try Waiting.until("\(what); there is: \(text.prefix(2_000))", seconds: seconds) {
            receive()
            return condition(self)
        }
    }

    /// Sends `request`, and gives all that comes until the other side ends.
    ///
    /// - Throws: ``WaitError`` when it does not end.
    package static func exchange(_ request: String, port: UInt16) throws -> String {
        let connection = try RawConnection(port: port)
        connection.send(request)
        try connection.wait("the end of the connection") { $0.hasEnded }
        return connection.text
    }
}
