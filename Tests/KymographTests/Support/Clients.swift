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
    static func udp(_ source: any SourceAddress) -> Client {
        guard let address = (source as? UDPSource)?.address else { preconditionFailure("not UDP") }
        return connected(address, SOCK_DGRAM)
    }

    /// Connects to a TCP or HTTP source.
    static func tcp(_ source: any SourceAddress) -> Client {
        guard let address = (source as? TCPSource)?.address ?? (source as? HTTPSource)?.address else {
            preconditionFailure("not TCP")
        }
        return connected(address, SOCK_STREAM)
    }

    private static func connected(_ address: NetworkAddress, _ type: __socket_type) -> Client {
        address.host.contains(":") ? loopback6(address.port, type) : loopback4(address.port, type)
    }

    private static func loopback4(_ port: UInt16, _ type: __socket_type) -> Client {
        let client = Client(socket(AF_INET, Int32(type.rawValue), 0))
        client.connect4(port)
        return client
    }

    private func connect4(_ port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let code = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        precondition(code == 0, "a test's connect failed")
    }

    private static func loopback6(_ port: UInt16, _ type: __socket_type) -> Client {
        let client = Client(socket(AF_INET6, Int32(type.rawValue), 0))
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

    /// Connects to a TCP source of 127.0.0.1 from another address of this machine.
    static func tcp(_ source: any SourceAddress, from host: UInt32) -> Client {
        guard let address = (source as? TCPSource)?.address else { preconditionFailure("not TCP") }
        let client = Client(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = host.bigEndian
        let code = unsafe withUnsafeBytes(of: &own) { bytes in
            unsafe bind(
                client.descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        precondition(code == 0, "a test's bind failed")
        client.connect4(address.port)
        return client
    }

    /// Has the connection break when it is closed, as it does when its machine fails.
    func breakAtClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        let code = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, size)
        precondition(code == 0, "a test's setsockopt failed")
    }

    /// The port that the kernel gave this end of a connection.
    var port: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        _ = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        return UInt16(bigEndian: address.sin_port)
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
    func send(_ text: String) -> Bool { send(bytes: Array(text.utf8)) }

    /// The same of bytes.
    func send(bytes: [UInt8]) -> Bool {
        unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Writes to a stream.
    func write(_ text: String) {
        Files.write(descriptor, Array(text.utf8))
    }
}
