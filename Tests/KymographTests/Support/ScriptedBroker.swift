import CKymographLinux
import Glibc

/// A port of 127.0.0.1 at which a test plays the broker, packet by packet.
final class ScriptedBroker {
    /// Something did not come in time.
    struct Missing: Error {
        var what: String
    }

    private let listener: Int32
    let port: UInt16
    private var connection: Int32 = -1
    private var received: [UInt8] = []

    init() {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let code = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let isBound = unsafe bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0
                return unsafe isBound ? getsockname(descriptor, address, &size) : -1
            }
        }
        precondition(code == 0, "cannot bind a broker")
        port = UInt16(bigEndian: name.sin_port)
    }

    deinit {
        close(listener)
        hangUp()
    }

    /// Ends the connection.
    func hangUp() {
        if connection >= 0 { close(connection) }
        connection = -1
    }

    /// Takes the next client.
    func accept() throws {
        hangUp()
        received = []
        guard isReady(listener) else { throw Missing(what: "a client") }
        connection = Glibc.accept(listener, nil, nil)
    }

    /// Takes the next client, and its subscription; the first bytes that it sent.
    @discardableResult
    func welcome(hasSession: Bool = false, granted: [UInt8] = [1]) throws -> [UInt8] {
        try accept()
        let first = try packet()
        send(BrokerPackets.connack(hasSession: hasSession))
        guard try packet().first == 0x82 else { throw Missing(what: "a subscription") }
        send(BrokerPackets.suback(granted))
        return first
    }

    func send(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// The next packet of the client, of fewer than 128 bytes.
    func packet() throws -> [UInt8] {
        while received.count < 2 || received.count < 2 + Int(received[1]) {
            guard read() else { throw Missing(what: "a packet; there is \(received)") }
        }
        defer { received.removeFirst(2 + Int(received[1])) }
        return Array(received[..<(2 + Int(received[1]))])
    }

    /// Whether the client ends the connection before it sends anything more.
    func seesTheEnd() -> Bool { received.isEmpty && !read() && connection >= 0 }

    /// Whether anything came.
    private func read() -> Bool {
        guard isReady(connection) else { return false }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let size = unsafe recv(connection, &buffer, buffer.count, 0)
        if size > 0 { received += buffer[..<size] }
        return size > 0
    }

    private func isReady(_ descriptor: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&wanted, 1, 20_000) == 1
    }
}
