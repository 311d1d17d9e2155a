/// Where readings come from.
public enum SourceKind: Hashable, Sendable {
    /// UDP on a numeric IPv4 or IPv6 host (without brackets); port 0 lets the kernel choose. An IPv6 host does not
    /// receive IPv4, so that `0.0.0.0` and `::` can be given together.
    case udp(host: String, port: UInt16)
    /// A Unix stream socket at a path.
    case unixStream(path: String)
    /// A Unix socket at a path whose clients connect and send messages with borders (SOCK_SEQPACKET).
    case unixSeqpacket(path: String)
    /// A Unix datagram socket at a path.
    case unixDatagram(path: String)
    /// An open file descriptor: 0 is standard input. It is not closed by the lane.
    case standardInput(descriptor: Int32)
    /// A serial line. It need not be there when the lane begins, and may be unplugged: the lane waits for it.
    case serial(SerialLine)

    /// Reads `127.0.0.1:5757` or `[::1]:5757`.
    ///
    /// - Throws: ``SourceError`` of kind ``SourceError/Kind/invalidAddress``.
    public static func udp(parsing text: String) throws(SourceError) -> SourceKind {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw .invalidAddress(text, "it has no port from 0 to 65535; write 127.0.0.1:5757 or [::1]:5757")
        }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard host.contains(":") == isBracketed, !host.isEmpty else {
            throw .invalidAddress(text, "write an IPv4 address as 127.0.0.1:5757 and an IPv6 address as [::1]:5757")
        }
        return .udp(host: String(host), port: port)
    }

    /// The name used in messages, summaries and dead letters, such as `udp 127.0.0.1:5757`.
    public var name: String {
        switch self {
        case .udp(let host, let port): "udp \(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unixStream(let path): "unix \(path)"
        case .unixSeqpacket(let path): "seqpacket \(path)"
        case .unixDatagram(let path): "unixgram \(path)"
        case .serial(let line): "serial \(line.path)"
        case .standardInput(let descriptor): descriptor == 0 ? "stdin" : "descriptor \(descriptor)"
        }
    }

    /// Whether clients connect to it.
    var isListener: Bool {
        switch self {
        case .unixStream, .unixSeqpacket: true
        default: false
        }
    }

    /// Whether bytes come without borders.
    var hasFraming: Bool {
        switch self {
        case .unixStream, .serial, .standardInput: true
        case .udp, .unixSeqpacket, .unixDatagram: false
        }
    }

    /// Whether the source can come to an end of its own.
    var canEnd: Bool {
        if case .standardInput = self { true } else { false }
    }
}
