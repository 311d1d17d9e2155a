import CKymographLinux
import Glibc

/// The calls to the system that a listener for HTTP needs besides those of files.
enum HTTPSocket {
    /// Listens to `address`; the descriptor, or a negative errno.
    static func listen(_ address: NetworkAddress) -> Int32 {
        // Safe: Swift lends the host as a C string for the call.
        unsafe kymo_tcp_listen(address.host, address.port)
    }

    /// Waits up to `milliseconds`, -1 for ever, until one of `entries` is ready, and notes in them which are.
    static func wait(_ entries: inout [pollfd], milliseconds: Int32) {
        // Safe: the array's storage outlives the call, which is told its size.
        _ = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
    }

    /// Reads what has come by `transport` into `chunk`; 0 at the end, a negative errno when there is nothing.
    static func receive(_ descriptor: Int32, _ transport: StreamTransport, into chunk: inout [UInt8]) -> Int {
        switch transport {
        case .plain: receive(descriptor, into: &chunk)
        // Safe: the array's storage outlives the call, which is told its size.
        case .tls(let connection): unsafe connection.read(&chunk, count: chunk.count)
        }
    }

    private static func receive(_ descriptor: Int32, into chunk: inout [UInt8]) -> Int {
        // Safe: the array's storage outlives the call, which is told its size.
        let count = unsafe recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        return count < 0 ? -Int(errno) : count
    }
}
