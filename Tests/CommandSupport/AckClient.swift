import CKymographLinux
import Glibc

/// A client of a Unix stream socket that asks for acknowledgements, as docs/durability.md says.
package final class AckClient {
    private let descriptor: Int32
    private var unread: [UInt8] = []
    /// Lines that are durable, as the other side last said.
    package private(set) var acknowledged = 0
    /// What the other side said besides.
    package private(set) var error: String?
    /// Whether the other side is there.
    package private(set) var isOpen = true

    /// Connects to the socket `path`, of a stream or of messages, and asks, with `lineEnd` after the request.
    package init(_ path: String, hasMessages: Bool = false, lineEnd: String = "\n") throws {
        descriptor = kymo_unix_open(Int32(hasMessages ? SOCK_SEQPACKET.rawValue : SOCK_STREAM.rawValue))
        guard descriptor >= 0, unsafe kymo_unix_connect(descriptor, path) == 0 else {
            throw WaitError(description: "cannot connect to \(path)")
        }
        send(Array("{\"kymo\":\"ack\"}\(lineEnd)".utf8))
    }

    /// Connects to `address`, as `kymo run` names a TCP source of 127.0.0.1, and asks.
    package init(tcp address: String) throws {
        descriptor = try Loopback.connect(port: address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0)
        send(Array("{\"kymo\":\"ack\"}\n".utf8))
    }

    deinit { close(descriptor) }

    /// Sends everything, reading what comes back meanwhile; gives up when the other side has gone.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty, isOpen {
            let size = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if size > 0 { rest = rest.dropFirst(size) } else if errno != EAGAIN { isOpen = false }
            receive()
            if size <= 0 { usleep(500) }
        }
    }

    /// Says that nothing more will be sent.
    package func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads what has come.
    package func receive() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let size = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            if size == 0 || size < 0 && errno != EAGAIN { isOpen = false }
            guard size > 0 else { return }
            unread += buffer[..<size]
            while let end = unread.firstIndex(of: 0x0A) {
                take(String(decoding: unread[..<end], as: UTF8.self))
                unread.removeFirst(end + 1)
            }
        }
    }

    private func take(_ line: String) {
        let digits = line.filter(\.isNumber)
        if line.hasPrefix("{\"ack\":"), let count = Int(digits) { acknowledged = count } else { error = line }
    }
}
