import KymographCore

/// A message. Its views are those of the packet.
struct MQTTMessage {
    var topic: ByteView
    var quality: MQTTQuality
    /// The number by which it is acknowledged; 0 with QoS 0.
    var number: UInt16
    var payload: ByteView
}

/// A packet that a broker sends to a client.
enum MQTTPacket {
    case connack(hasSession: Bool, code: UInt8, serverKeepAlive: UInt16?)
    case publish(MQTTMessage)
    case pubrel(number: UInt16)
    case suback(number: UInt16, codes: [UInt8])
    case pingresp
    case disconnect(code: UInt8)

    /// Reads the packet whose bytes behind ``MQTTHead`` are `body`; of a message there may be a part of the payload
    /// only.
    ///
    /// - Throws: ``MQTTFault`` when it is malformed.
    init(_ head: MQTTHead, _ body: ByteView, _ version: MQTTVersion) throws(MQTTFault) {
        var reader = MQTTReader(body)
        switch head.kind {
        case .connack: self = try Self.connack(&reader, version)
        case .publish: self = .publish(try Self.message(head, &reader, version))
        case .pubrel: self = .pubrel(number: try Self.release(&reader, version))
        case .suback: self = try Self.suback(&reader, version)
        case .pingresp: self = .pingresp
        case .disconnect: self = .disconnect(code: try Self.disconnect(&reader, version))
        case .connect, .puback, .pubrec, .pubcomp, .subscribe, .unsubscribe, .unsuback, .pingreq, .auth:
            throw MQTTFault("the broker has sent a packet that was not asked for")
        }
        guard reader.left == 0 else { throw MQTTFault("a packet is longer than its fields") }
    }

    private static func connack(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) -> MQTTPacket {
        let (flags, code) = (try reader.byte(), try reader.byte())
        guard flags & 0xFE == 0 else { throw MQTTFault("reserved flags of a packet are set") }
        guard flags == 0 || code == 0 else { throw MQTTFault("a refusal has a session") }
        // A broker that does not know version 5 answers in that of 3.1.1.
        let hasProperties = version == .v5 && (reader.left > 0 || code == 0)
        let properties = hasProperties ? try MQTTProperties(&reader, of: .connack) : MQTTProperties()
        return .connack(hasSession: flags == 1, code: code, serverKeepAlive: properties.serverKeepAlive)
    }

    private static func message(
        _ head: MQTTHead, _ reader: inout MQTTReader, _ version: MQTTVersion
    ) throws(MQTTFault) -> MQTTMessage {
        let topic = try reader.binary()
        guard topic.count > 0 else { throw MQTTFault("a message has no topic") }
        guard let quality = MQTTQuality(rawValue: head.flags >> 1 & 3) else {
            throw MQTTFault("a message has a QoS that there is not")
        }
        let number = quality == .atMostOnce ? 0 : try reader.two()
        guard quality == .atMostOnce || number > 0 else { throw MQTTFault("a packet has the number 0") }
        if version == .v5 { _ = try MQTTProperties(&reader, of: .publish) }
        return MQTTMessage(topic: topic, quality: quality, number: number, payload: reader.rest())
    }

    private static func release(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) -> UInt16 {
        let number = try reader.two()
        guard number > 0 else { throw MQTTFault("a packet has the number 0") }
        guard version == .v5, reader.left > 0 else { return number }
        let code = try reader.byte()
        guard code == 0 || code == 0x92 else { throw MQTTFault("a packet has a reason that there is not") }
        if reader.left > 0 { _ = try MQTTProperties(&reader, of: .pubrel) }
        return number
    }

    private static func suback(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) -> MQTTPacket {
        let number = try reader.two()
        if version == .v5 { _ = try MQTTProperties(&reader, of: .suback) }
        let codes = reader.rest().array
        guard codes.allSatisfy({ $0 <= 2 || $0 >= 0x80 }) else {
            throw MQTTFault("a packet has a reason that there is not")
        }
        return .suback(number: number, codes: codes)
    }

    private static func disconnect(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) -> UInt8 {
        guard version == .v5 else { throw MQTTFault("the broker has sent a packet that was not asked for") }
        guard reader.left > 0 else { return 0 }
        let code = try reader.byte()
        if reader.left > 0 { _ = try MQTTProperties(&reader, of: .disconnect) }
        return code
    }
}
