import CKymographLinux
import Glibc
import Kymograph

/// A sender of datagrams or a stream, closed with its last reference.
final class Client: Sendable {
    let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Sends to a UDP source.
    static func udp(_ address: SourceKind) -> Client {
        guard case .udp(let host, let port) = address else { preconditionFailure("not UDP") }
        return host.contains(":") ? udp6(port) : udp4(port)
    }

    private static func udp4(_ port: UInt16) -> Client {
        let client = Client(socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(
                client.descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        precondition(code == 0)
        return client
    }

    private static func udp6(_ port: UInt16) -> Client {
        let client = Client(socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        let code = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(
                client.descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        precondition(code == 0)
        return client
    }

    /// Connects to a Unix socket and waits where the kernel wants it to.
    static func unix(_ path: String, stream: Bool) -> Client {
        let type = Int32(stream ? SOCK_STREAM.rawValue : SOCK_DGRAM.rawValue)
        let client = Client(kymo_unix_open(type))
        precondition(unsafe kymo_unix_connect(client.descriptor, path) == 0, "a test's connect failed")
        _ = fcntl(client.descriptor, F_SETFL, 0)
        return client
    }

    /// Connects to a Unix socket of messages, and waits where the kernel wants it to.
    static func messages(_ path: String) -> Client {
        let client = Client(kymo_unix_open(Int32(SOCK_SEQPACKET.rawValue)))
        precondition(unsafe kymo_unix_connect(client.descriptor, path) == 0, "a test's connect failed")
        _ = fcntl(client.descriptor, F_SETFL, 0)
        return client
    }

    /// Lets the kernel cut what is sent into datagrams of `length` bytes (UDP_SEGMENT); 0 not to.
    func segments(of length: Int32) {
        let (udp, segment): (Int32, Int32) = (17, 103)
        var length = length
        let code = unsafe setsockopt(descriptor, udp, segment, &length, socklen_t(MemoryLayout<Int32>.size))
        precondition(code == 0, "a test's setsockopt failed")
    }

    /// Sends one datagram; false when the socket has gone.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Writes to a stream.
    func write(_ text: String) {
        Files.write(descriptor, Array(text.utf8))
    }
}
