import CKymographLinux
import Glibc

/// Connections within this machine.
package enum Loopback {
    /// Whether a Unix stream socket at `path` takes connections; its file is there before it does.
    package static func listens(at path: String) -> Bool {
        let descriptor = kymo_unix_open(Int32(SOCK_STREAM.rawValue))
        defer { close(descriptor) }
        return unsafe kymo_unix_connect(descriptor, path) == 0
    }

    /// A socket, of UDP or else of TCP, that is connected to `port` of 127.0.0.`server`, from the address
    /// 127.0.0.`host`.
    ///
    /// - Throws: ``WaitError`` when the connection is refused.
    package static func connect(
        port: UInt16, to server: UInt8 = 1, from host: UInt8 = 1, isUDP: Bool = false
    ) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32((isUDP ? SOCK_DGRAM : SOCK_STREAM).rawValue), 0)
        // Safe: the name lives during the calls.
        let isBound = unsafe host == 1 || with(host, port: 0) { unsafe bind(descriptor, $0, $1) } == 0
        guard isBound, unsafe with(server, port: port, { unsafe Glibc.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            throw WaitError(description: "cannot connect to port \(port)")
        }
        return descriptor
    }

    /// A UDP socket at a free port of 127.0.0.1, and the port.
    static func datagrams() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        // Safe: all that is lent lives during the calls.
        let isBound = unsafe with(1, port: 0) { unsafe bind(descriptor, $0, $1) } == 0
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = unsafe withUnsafeMutableBytes(of: &name) { bytes in
            unsafe getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        guard isBound, isNamed else {
            close(descriptor)
            throw WaitError(description: "there is no port for datagrams")
        }
        return (descriptor, UInt16(bigEndian: name.sin_port))
    }

    /// Calls `body` with the name of `port` of 127.0.0.`host`.
    @unsafe
    private static func with(
        _ host: UInt8, port: UInt16, _ body: (UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) -> Int32 {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = (0x7F00_0000 + UInt32(host)).bigEndian
        return unsafe withUnsafeBytes(of: &name) { bytes in
            unsafe body(bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }
}
