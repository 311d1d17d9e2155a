import KymographCore

/// Kinds of packets, by their number.
enum MQTTPacketKind: UInt8 {
    case connect = 1
    case connack = 2
    case publish = 3
    case puback = 4
    case pubrec = 5
    case pubrel = 6
    case pubcomp = 7
    case subscribe = 8
    case suback = 9
    case unsubscribe = 10
    case unsuback = 11
    case pingreq = 12
    case pingresp = 13
    case disconnect = 14
    case auth = 15
}

/// The beginning of a packet, which says how long it is (MQTT 5.0, section 2.1).
struct MQTTHead: Equatable {
    /// Most bytes of a packet besides the payload of a message.
    static let mostFields = 1 << 18

    var kind: MQTTPacketKind
    /// The lower half of the first byte.
    var flags: UInt8
    /// Its own bytes.
    var count: Int
    /// Bytes of the packet behind it.
    var length: Int

    /// The head at the beginning of `bytes`, from a broker; nil while it is not complete.
    ///
    /// - Throws: ``MQTTFault`` when no broker may send such a packet.
    init?(_ bytes: ByteView) throws(MQTTFault) {
        guard bytes.count > 0 else { return nil }
        guard let kind = MQTTPacketKind(rawValue: bytes[0] >> 4) else { throw MQTTFault("a packet has no kind") }
        (self.kind, flags) = (kind, bytes[0] & 0x0F)
        try Self.check(kind, flags)
        switch MQTTVariableNumber(bytes[1..<bytes.count]) {
        case .number(let value, let length): (count, self.length) = (1 + length, value)
        case .unfinished: return nil
        case .malformed: throw MQTTFault("the length of a packet is malformed")
        }
        guard kind == .publish || length <= Self.mostFields else {
            throw MQTTFault("a packet that is no message is longer than \(Self.mostFields) bytes")
        }
    }

    /// Bytes of the whole packet.
    var total: Int { count + length }

    private static func check(_ kind: MQTTPacketKind, _ flags: UInt8) throws(MQTTFault) {
        switch kind {
        case .publish:
            let quality = flags >> 1 & 3
            guard quality < 3 else { throw MQTTFault("a message has a QoS that there is not") }
            guard quality > 0 || flags & 8 == 0 else { throw MQTTFault("a message of QoS 0 comes again") }
        case .pubrel: guard flags == 2 else { throw MQTTFault("reserved flags of a packet are set") }
        case .connack, .suback, .pingresp, .disconnect:
            guard flags == 0 else { throw MQTTFault("reserved flags of a packet are set") }
        case .connect, .puback, .pubrec, .pubcomp, .subscribe, .unsubscribe, .unsuback, .pingreq, .auth:
            throw MQTTFault("the broker has sent a packet that was not asked for")
        }
    }
}
