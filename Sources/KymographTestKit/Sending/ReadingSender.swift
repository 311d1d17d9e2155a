import Glibc
package import KymographCore

/// Where readings are sent.
package enum ReadingDestination: Sendable, Hashable {
    /// UDP, one reading a datagram; the host may be a name, an IPv4 or an IPv6 address.
    case udp(host: String, port: UInt16)
    /// TCP, NDJSON; the host as for UDP.
    case tcp(host: String, port: UInt16)
    /// A Unix stream socket, NDJSON.
    case unixStream(path: String)
    /// A Unix datagram socket, one reading a datagram.
    case unixDatagram(path: String)
    /// A Unix socket of messages (SOCK_SEQPACKET), one reading a message.
    case unixSeqpacket(path: String)
    /// Standard output, NDJSON.
    case standardOutput
}

/// Readings cannot be sent.
package struct SendingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What failed and what to do, in one line.
    package var description: String
}

/// Sends lines to one destination. Datagrams leave one by one; streams are written in blocks of up to 64 KiB.
package struct ReadingSender: ~Copyable {
    /// Lines handed to the kernel, or waiting in the block.
    package private(set) var sent = 0
    /// Datagrams that came back because nobody listened; the last one's return may stay unseen.
    package private(set) var refused = 0

    /// Refusals since a datagram was last accepted.
    private var lastRefused = 0
    private let socket: Int32
    private let isDatagram: Bool
    private let name: String
    private var block = ByteWriter(capacity: 65_536)

    /// Connects. A receiver that takes nothing for `patience` seconds is given up; with nil it is waited for.
    ///
    /// - Throws: ``SendingError`` when the destination does not exist or nobody accepts.
    package init(to destination: ReadingDestination, patience: Int? = nil) throws(SendingError) {
        switch destination {
        case .udp(let host, let port):
            name = "udp \(host):\(port)"
            isDatagram = true
            socket = try SendingSocket.network(host: host, port: port, SOCK_DGRAM, patience, name: name)
        case .tcp(let host, let port):
            name = "tcp \(host):\(port)"
            isDatagram = false
            socket = try SendingSocket.network(host: host, port: port, SOCK_STREAM, patience, name: name)
        case .unixStream(let path):
            name = "unix \(path)"
            isDatagram = false
            socket = try SendingSocket.unix(path: path, SOCK_STREAM, patience, name: name)
        case .unixDatagram(let path):
            name = "unixgram \(path)"
            isDatagram = true
            socket = try SendingSocket.unix(path: path, SOCK_DGRAM, patience, name: name)
        case .unixSeqpacket(let path):
            name = "seqpacket \(path)"
            isDatagram = true
            socket = try SendingSocket.unix(path: path, SOCK_SEQPACKET, patience, name: name)
        case .standardOutput:
            name = "standard output"
            isDatagram = false
            socket = STDOUT_FILENO
        }
    }

    deinit {
        if socket != STDOUT_FILENO { close(socket) }
    }

    /// Sends `line`, which ends with a line end. A receiver of datagrams needs none, and does not get it.
    ///
    /// - Throws: ``SendingError`` when the other end takes no more; refused datagrams are counted first.
    package mutating func send(_ line: ByteView) throws(SendingError) {
        let hasEnd = line.count > 0 && line[line.count - 1] == UInt8(ascii: "\n")
        try send(exactly: isDatagram && hasEnd ? line[0..<(line.count - 1)] : line)
    }

    /// Sends `bytes` as they are: a datagram, or a part of a stream.
    ///
    /// - Throws: ``SendingError`` as ``send(_:)``.
    package mutating func send(exactly bytes: ByteView) throws(SendingError) {
        sent += 1
        guard isDatagram else {
            block.append(bytes)
            if block.count >= 65_536 { try flush() }
            return
        }
        while !SendingSocket.sendDatagram(bytes, to: socket) { try noteFailure(errno) }
        lastRefused = 0
    }

    /// Writes what waits in the block; call it before pausing and at the end.
    ///
    /// - Throws: ``SendingError`` when the other end takes no more.
    package mutating func flush() throws(SendingError) {
        var start = 0
        while start < block.count {
            let written = SendingSocket.write(block.view(start..<block.count), to: socket)
            if written > 0 {
                start += written
            } else if errno != EINTR {
                throw SendingError(description: "\(name): \(SendingSocket.reason(errno)) after \(sent) readings")
            }
        }
        block.removeAll()
    }

    /// A UDP receiver that is not there costs datagrams and not the run: the kernel reports a refused datagram at the
    /// next one, which then has to be sent again.
    private mutating func noteFailure(_ code: Int32) throws(SendingError) {
        if code == ECONNREFUSED, lastRefused < 3 {
            refused += 1
            lastRefused += 1
        } else if code == ENOBUFS {
            usleep(1000)
        } else {
            throw SendingError(description: "\(name): \(SendingSocket.reason(code)) after \(sent) readings")
        }
    }
}
