import KymographCore

/// A value of AMQP 1.0, as Event Hubs gives properties of events in headers of records (OASIS AMQP 1.0, part 1, section
/// 1.6).
enum AMQPValue: Equatable {
    case null
    case flag(Bool)
    case integer(String)
    /// The shortest digits that are it.
    case real(String)
    /// In milliseconds since 1970.
    case time(Int64)
    case text([UInt8])
    /// Bytes, described values, and others that are no text.
    case opaque

    /// The value that `bytes` are, from the first to the last; nil when they are none, or a list, map or array.
    init?(_ bytes: [UInt8]) {
        guard let code = bytes.first else { return nil }
        let content = Array(bytes.dropFirst())
        // A described value, such as a duration: its type is a value of its own.
        guard code != 0x00 else {
            self = .opaque
            return
        }
        let value: AMQPValue? =
            switch code >> 4 {
            case 0xA: Self.sized(code, content, sizeBytes: 1)
            case 0xB: Self.sized(code, content, sizeBytes: 4)
            case 0x4: content.isEmpty ? Self.empty(code) : nil
            case 0x5...0x9: content.count == 1 << (code >> 4 - 5) ? Self.fixed(code, content) : nil
            default: nil
            }
        guard let value else { return nil }
        self = value
    }

    private static func empty(_ code: UInt8) -> AMQPValue? {
        switch code {
        case 0x40: .null
        case 0x41: .flag(true)
        case 0x42: .flag(false)
        case 0x43, 0x44: .integer("0")
        default: nil
        }
    }

    private static func fixed(_ code: UInt8, _ content: [UInt8]) -> AMQPValue? {
        let number = content.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let unused = 64 - 8 * min(content.count, 8)
        let signed = Int64(bitPattern: number << UInt64(unused)) >> Int64(unused)
        switch code {
        case 0x50, 0x52, 0x53, 0x60, 0x70, 0x80: return .integer("\(number)")
        case 0x51, 0x54, 0x55, 0x61, 0x71, 0x81: return .integer("\(signed)")
        case 0x56: return number <= 1 ? .flag(number == 1) : nil
        case 0x72: return real(Float(bitPattern: UInt32(number)))
        case 0x73: return Unicode.Scalar(UInt32(number)).map { .text(Array(String(Character($0)).utf8)) }
        case 0x82: return real(Double(bitPattern: number))
        case 0x83: return .time(signed)
        case 0x98: return .text(uuid(content))
        // Decimal floating point, in IEEE 754's own form.
        case 0x74, 0x84, 0x94: return .opaque
        default: return nil
        }
    }

    /// JSON has no other numbers than finite ones.
    private static func real(_ number: some BinaryFloatingPoint & LosslessStringConvertible) -> AMQPValue {
        number.isFinite ? .real(number.description) : .opaque
    }

    private static func sized(_ code: UInt8, _ content: [UInt8], sizeBytes: Int) -> AMQPValue? {
        guard content.count >= sizeBytes else { return nil }
        let size = content[..<sizeBytes].reduce(0) { $0 << 8 | Int($1) }
        let rest = Array(content[sizeBytes...])
        guard rest.count == size else { return nil }
        switch code & 0x0F {
        case 0x0: return .opaque
        case 0x1: return rest.withByteView { $0.isUTF8 } ? .text(rest) : nil
        // A symbol is ASCII.
        case 0x3: return rest.allSatisfy { $0 < 0x80 } ? .text(rest) : nil
        default: return nil
        }
    }

    /// RFC 4122, section 3.
    private static func uuid(_ content: [UInt8]) -> [UInt8] {
        var text = ByteWriter(capacity: 36)
        for (place, byte) in content.enumerated() {
            if [4, 6, 8, 10].contains(place) { text.append("-") }
            text.appendHex(byte)
        }
        return text.view.array
    }
}
