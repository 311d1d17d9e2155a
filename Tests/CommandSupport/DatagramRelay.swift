import CKymographLinux
import Glibc

/// A network between one client and one server of this machine, which loses, doubles and changes datagrams.
package final class DatagramRelay {
    /// Where datagrams go.
    package enum Direction: Hashable {
        case toServer
        case toClient
    }

    private let front: Int32
    private let back: Int32
    private var counts: [Direction: Int] = [:]
    private var hasClient = false
    /// What becomes of a datagram: those that are sent in its place. Its number is that of its direction, from 0 on.
    package var change: (Direction, Int, [UInt8]) -> [[UInt8]]

    /// The port where the client sends to.
    package let port: UInt16

    /// A network to `server`, a port of 127.0.0.1.
    package init(
        to server: UInt16, _ change: @escaping (Direction, Int, [UInt8]) -> [[UInt8]] = { _, _, bytes in [bytes] }
    ) throws {
        (front, port) = try Loopback.datagrams()
        back = try Loopback.connect(port: server, isUDP: true)
        self.change = change
    }

    deinit {
        close(front)
        close(back)
    }

    /// Sends `bytes` as if they had come.
    package func inject(_ bytes: [UInt8], _ direction: Direction) {
        let socket = direction == .toServer ? back : front
        // Safe: the array is lent for the call.
        unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    /// Hands on what has come.
    package func pump() {
        while let bytes = take(front) { pass(bytes, .toServer) }
        while let bytes = take(back) { pass(bytes, .toClient) }
    }

    private func pass(_ bytes: [UInt8], _ direction: Direction) {
        let number = counts[direction, default: 0]
        counts[direction] = number + 1
        for datagram in change(direction, number, bytes) { inject(datagram, direction) }
    }

    private func take(_ socket: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // Safe: all that is lent lives during the call.
        let size = unsafe withUnsafeMutableBytes(of: &name) { place in
            let address = unsafe place.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            let size = unsafe recvfrom(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT), address, &length)
            if size >= 0, socket == front, !hasClient { hasClient = unsafe connect(socket, address, length) == 0 }
            return size
        }
        return size < 0 ? nil : Array(buffer.prefix(size))
    }
}
