import CKymoSeal
import Glibc

/// A key of sealed datagrams, as a device has it.
package struct SealedKey: Hashable, Sendable {
    package var id: UInt32
    package var bytes: [UInt8]
    package var name: String?

    /// The key `bytes`, or one that follows from `id`.
    package init(_ id: UInt32, bytes: [UInt8]? = nil, name: String? = nil) {
        (self.id, self.name) = (id, name)
        self.bytes = bytes ?? (0..<16).map { UInt8(truncatingIfNeeded: id >> (8 * ($0 % 4))) ^ UInt8(0xA0 + $0) }
    }

    /// Its line in a file of keys.
    package var line: String {
        Self.digits(id.bigEndianBytes) + ":" + Self.digits(bytes) + (name.map { ":\($0)" } ?? "") + "\n"
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The datagram of `payload`, by the encoder that devices have.
    package func seal(_ payload: [UInt8], sequence: UInt64) -> [UInt8] {
        var datagram = [UInt8](repeating: 0, count: payload.count + Int(KYMO_SEAL_EXTRA_BYTES))
        // Safe: it is told how much room there is.
        let count = unsafe kymo_seal_datagram(id, bytes, sequence, payload, payload.count, &datagram, datagram.count)
        precondition(count == datagram.count, "there is no libcrypto")
        return datagram
    }

    /// The same of a text.
    package func seal(_ text: String, sequence: UInt64) -> [UInt8] { seal(Array(text.utf8), sequence: sequence) }
}

extension UInt32 {
    fileprivate var bigEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) } }
}

/// Sends datagrams to a port of this machine.
package final class DatagramClient {
    private let socket: Int32

    package init(port: UInt16) throws { socket = try Loopback.connect(port: port, isUDP: true) }

    deinit { close(socket) }

    package func send(_ bytes: [UInt8]) {
        // Safe: lent for the call. Nobody there is no fault of the test: what comes is counted.
        _ = unsafe Glibc.send(socket, bytes, bytes.count, 0)
    }
}
