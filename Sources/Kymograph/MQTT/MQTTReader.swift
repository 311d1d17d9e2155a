import KymographCore

/// Reads the fields of a packet one after the other, and never beyond its end.
struct MQTTReader {
    private let bytes: ByteView
    private(set) var place = 0

    init(_ bytes: ByteView) { self.bytes = bytes }

    /// Bytes that are left.
    var left: Int { bytes.count - place }

    /// All that is left.
    mutating func rest() -> ByteView {
        defer { place = bytes.count }
        return bytes[place..<bytes.count]
    }

    /// The next `count` bytes.
    ///
    /// - Throws: ``MQTTFault`` when the packet has fewer; so do all others.
    mutating func take(_ count: Int) throws(MQTTFault) -> ByteView {
        guard count <= left else { throw MQTTFault("a packet is shorter than its fields") }
        defer { place += count }
        return bytes[place..<(place + count)]
    }

    /// A number of one byte.
    mutating func byte() throws(MQTTFault) -> UInt8 { try take(1)[0] }

    /// A number of two bytes.
    mutating func two() throws(MQTTFault) -> UInt16 {
        let field = try take(2)
        return UInt16(field[0]) << 8 | UInt16(field[1])
    }

    /// A number of four bytes.
    mutating func four() throws(MQTTFault) -> UInt32 { UInt32(try two()) << 16 | UInt32(try two()) }

    /// A number of one to four bytes, as short as it can be.
    mutating func variable() throws(MQTTFault) -> Int {
        switch MQTTVariableNumber(bytes[place..<bytes.count]) {
        case .number(let value, let length):
            place += length
            return value
        case .unfinished: throw MQTTFault("a packet is shorter than its fields")
        case .malformed: throw MQTTFault("a number of variable length is malformed")
        }
    }

    /// Bytes behind their number.
    mutating func binary() throws(MQTTFault) -> ByteView { try take(Int(try two())) }

    /// Text behind the number of its bytes.
    mutating func text() throws(MQTTFault) -> ByteView {
        let text = try binary()
        guard text.isMQTTText else { throw MQTTFault("a text is not UTF-8, or has a zero") }
        return text
    }
}

/// A number of variable length at the beginning of bytes (MQTT 5.0, section 1.5.5).
enum MQTTVariableNumber: Equatable {
    case number(Int, length: Int)
    /// More bytes are needed.
    case unfinished
    /// It has more than four bytes, or more than it needs.
    case malformed

    init(_ bytes: ByteView) {
        var value = 0
        for place in 0..<min(4, bytes.count) {
            let byte = bytes[place]
            value |= Int(byte & 0x7F) << (7 * place)
            guard byte & 0x80 == 0 else { continue }
            self = byte == 0 && place > 0 ? .malformed : .number(value, length: place + 1)
            return
        }
        self = bytes.count < 4 ? .unfinished : .malformed
    }
}

extension ByteView {
    /// Whether the bytes may be a text of MQTT: well-formed UTF-8 without U+0000.
    var isMQTTText: Bool { isUTF8 && firstIndex(of: 0, from: 0) == nil }
}
