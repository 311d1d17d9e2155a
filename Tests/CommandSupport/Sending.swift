import Glibc
import KymographCore
package import KymographTestKit

/// Sends what tests have to a source that `kymo run` named.
package enum Sending {
    /// The destination that a source's name stands for.
    package static func destination(_ address: String) throws -> ReadingDestination {
        let parts = address.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw WaitError(description: "'\(address)' is no address") }
        switch parts[0] {
        case "unix": return .unixStream(path: parts[1])
        case "unixgram": return .unixDatagram(path: parts[1])
        case "seqpacket": return .unixSeqpacket(path: parts[1])
        default:
            guard let colon = parts[1].lastIndex(of: ":"), let port = UInt16(parts[1][parts[1].index(after: colon)...])
            else { throw WaitError(description: "'\(address)' has no port") }
            let host = String(parts[1][..<colon].filter { $0 != "[" && $0 != "]" })
            return parts[0] == "tcp" ? .tcp(host: host, port: port) : .udp(host: host, port: port)
        }
    }

    /// Sends each of `payloads`: as a datagram, or one after the other into one connection, which is then closed.
    package static func send(_ payloads: [[UInt8]], to address: String) throws {
        var sender = try ReadingSender(to: try destination(address))
        for payload in payloads { try payload.withByteView { try sender.send($0) } }
        try sender.flush()
        if sender.refused > 0 { throw WaitError(description: "\(sender.refused) were refused") }
    }

    /// Sends each of `messages` as it is, even if it ends as a line does.
    package static func send(exactly messages: [[UInt8]], to address: String) throws {
        var sender = try ReadingSender(to: try destination(address))
        for message in messages { try message.withByteView { try sender.send(exactly: $0) } }
        try sender.flush()
        if sender.refused > 0 { throw WaitError(description: "\(sender.refused) were refused") }
    }

    /// Sends lines.
    package static func send(lines: [String], to address: String) throws {
        try send(lines.map { Array(($0 + "\n").utf8) }, to: address)
    }
}

/// A connection that stays open.
package final class OpenConnection {
    private var sender: ReadingSender

    package init(_ address: String) throws {
        sender = try ReadingSender(to: try Sending.destination(address))
    }

    package func send(_ text: String) throws {
        try Array(text.utf8).withByteView { try sender.send($0) }
        try sender.flush()
    }
}
