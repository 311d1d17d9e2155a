/// One source of a lane and its limits.
public struct SourceConfiguration: Hashable, Sendable {
    /// Where readings come from.
    public var kind: SourceKind
    /// The number that the consumer gets with every payload.
    public var number: Int
    /// Receive buffer to ask the kernel for, in bytes. Sockets only.
    public var receiveBufferBytes = 4 << 20
    /// How the bytes of a stream become payloads. Streams and serial lines only.
    public var framing = StreamFraming.lines
    /// Longest line in bytes, without its end, or longest payload of a frame. Streams and serial lines only.
    public var lineCap = 1 << 20
    /// Permissions of a Unix socket's file.
    public var socketMode: UInt32 = 0o660
    /// Whether other lanes may listen to the same UDP port (SO_REUSEPORT).
    public var sharesPort = false
    /// Whether the kernel hands over datagrams of one sender that came together as one message (UDP_GRO). It is
    /// quicker, but then counts each such message that it drops as one datagram.
    public var coalesces = false
    /// Most nanoseconds that UDP datagrams may gather in the receive buffer while they come densely; 0 when each is to
    /// be received at once. A lane rests no longer than all of its sources let it.
    public var longestRest: Int64 = 0
    /// Most clients of a Unix stream socket at a time; further ones wait in the kernel's queue.
    public var maxConnections = 1024

    /// Makes a configuration with default limits.
    public init(_ kind: SourceKind, number: Int = 0) {
        self.kind = kind
        self.number = number
    }
}

extension SourceConfiguration {
    /// Whether a payload may have begun before the source was opened, or go on after it has gone, and nothing but its
    /// content tells: on a serial line, unless frames have checksums. Where borders are told by lengths, all that comes
    /// after a wrong beginning is wrong, and not the first payload only.
    var hasOpenEnds: Bool {
        guard case .serial = kind else { return false }
        guard case .frames(let framing) = framing else { return true }
        return switch framing.borders {
        case .delimiter, .slip, .cobs: framing.check == .none
        case .length, .fixed: false
        }
    }
}
