import KymographCore

/// Properties of a packet of MQTT 5 (section 2.2.2), of which most only have to be well-formed.
struct MQTTProperties: Equatable {
    /// Seconds without a packet that the broker allows, in place of those asked for.
    private(set) var serverKeepAlive: UInt16?

    /// Packets that a property may be in, as bits by their kinds.
    private struct Packets: OptionSet {
        let rawValue: UInt16
        static let connack = Packets(rawValue: 1)
        static let publish = Packets(rawValue: 2)
        static let pubrel = Packets(rawValue: 4)
        static let suback = Packets(rawValue: 8)
        static let disconnect = Packets(rawValue: 16)
        static let all: Packets = [.connack, .publish, .pubrel, .suback, .disconnect]

        init(rawValue: UInt16) { self.rawValue = rawValue }

        init(_ kind: MQTTPacketKind) {
            switch kind {
            case .connack: self = .connack
            case .publish: self = .publish
            case .pubrel: self = .pubrel
            case .suback: self = .suback
            case .disconnect: self = .disconnect
            case .connect, .puback, .pubrec, .pubcomp, .subscribe, .unsubscribe, .unsuback, .pingreq, .pingresp, .auth:
                self = []
            }
        }
    }

    private enum Form {
        case flag, two, four, variable, text, binary, pair
    }

    /// No properties.
    init() {}

    /// Reads those of a packet of `kind`, with the number of bytes before them.
    ///
    /// - Throws: ``MQTTFault`` when one may not be there, or not with that value.
    init(_ reader: inout MQTTReader, of kind: MQTTPacketKind) throws(MQTTFault) {
        var properties = MQTTReader(try reader.take(try reader.variable()))
        var seen: UInt64 = 0
        while properties.left > 0 {
            let number = try properties.variable()
            let (form, packets) = try Self.property(number)
            guard packets.contains(Packets(kind)) else { throw MQTTFault("a property is in a packet of another kind") }
            let isRepeatable = number == 11 || number == 38
            guard isRepeatable || seen & 1 << number == 0 else { throw MQTTFault("a property is there twice") }
            seen |= 1 << number
            try take(number, form, &properties)
        }
    }

    private static func property(_ number: Int) throws(MQTTFault) -> (Form, Packets) {
        switch number {
        case 1: (.flag, .publish)  // payload format
        case 2: (.four, .publish)  // message expiry
        case 3, 8: (.text, .publish)  // content type, response topic
        case 9: (.binary, .publish)  // correlation data
        case 11: (.variable, .publish)  // subscription identifier
        case 17, 39: (.four, .connack)  // session expiry, maximum packet size
        case 18, 21, 26: (.text, .connack)  // assigned client identifier, authentication method, response information
        case 19, 33, 34: (.two, .connack)  // server keep alive, receive maximum, topic alias maximum
        case 22: (.binary, .connack)  // authentication data
        case 28: (.text, [.connack, .disconnect])  // server reference
        case 31: (.text, [.connack, .pubrel, .suback, .disconnect])  // reason
        case 35: (.two, .publish)  // topic alias
        case 36, 37, 40, 41, 42: (.flag, .connack)  // maximum QoS; retain, wildcards, identifiers, shares available
        case 38: (.pair, .all)  // user property
        default: throw MQTTFault("a property has no meaning")
        }
    }

    private mutating func take(_ number: Int, _ form: Form, _ reader: inout MQTTReader) throws(MQTTFault) {
        switch form {
        case .flag: guard try reader.byte() <= 1 else { throw MQTTFault("a property is neither 0 nor 1") }
        case .two: try takeTwo(number, try reader.two())
        case .four:
            let value = try reader.four()
            guard number != 39 || value > 0 else { throw MQTTFault("a property is 0") }
        case .variable: guard try reader.variable() > 0 else { throw MQTTFault("a property is 0") }
        case .text: _ = try reader.text()
        case .binary: _ = try reader.binary()
        case .pair: _ = (try reader.text(), try reader.text())
        }
    }

    private mutating func takeTwo(_ number: Int, _ value: UInt16) throws(MQTTFault) {
        switch number {
        case 19: serverKeepAlive = value
        case 33: guard value > 0 else { throw MQTTFault("a property is 0") }
        // None was allowed.
        case 35: throw MQTTFault("a message has a topic alias, which was not allowed")
        default: break
        }
    }
}
