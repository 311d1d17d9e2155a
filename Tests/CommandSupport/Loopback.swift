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

    /// A TCP socket that is connected to `port` of 127.0.0.1.
    ///
    /// - Throws: ``WaitError`` when the connection is refused.
    static func connect(port: UInt16) throws -> Int32 {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let code = unsafe withUnsafeBytes(of: &name) { bytes in
            unsafe Glibc.connect(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard code == 0 else {
            close(descriptor)
            throw WaitError(description: "cannot connect to port \(port)")
        }
        return descriptor
    }
}
