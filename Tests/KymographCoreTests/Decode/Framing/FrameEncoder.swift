import KymographCore

/// The sending side of framings, written apart from the decoder: byte by byte, as their specifications say.
enum FrameEncoder {
    /// `payload` as one frame.
    static func encode(_ payload: [UInt8], _ framing: Framing) -> [UInt8] {
        let content = payload + checksum(payload, framing)
        switch framing.borders {
        case .delimiter(let bytes): return content + bytes
        case .fixed: return content
        case .slip: return slip(content)
        case .cobs: return cobs(content) + [0]
        case .length(let field):
            let head = (0..<field.offset).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            let number = content.count - field.adjustment
            let whole = head + self.number(number, field.form)
            return field.keepsHead ? whole + payload + checksum(whole + payload, framing) : whole + content
        }
    }

    /// What ``encode(_:_:)`` puts before a payload whose framing keeps it.
    static func head(_ payload: [UInt8], _ framing: Framing) -> [UInt8] {
        guard case .length(let field) = framing.borders, field.keepsHead else { return [] }
        let frame = encode(payload, framing)
        return Array(frame.dropLast(payload.count + framing.check.width))
    }

    private static func number(_ value: Int, _ form: LengthField.Form) -> [UInt8] {
        switch form {
        case .fixed(let width, let isBigEndian):
            let bytes = (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isBigEndian ? bytes.reversed() : bytes
        case .varint:
            var (rest, bytes) = (value, [UInt8]())
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7F | 0x80))
                rest >>= 7
            }
            return bytes + [UInt8(rest)]
        }
    }

    private static func slip(_ content: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0xC0]
        for byte in content {
            switch byte {
            case 0xC0: frame += [0xDB, 0xDC]
            case 0xDB: frame += [0xDB, 0xDD]
            default: frame.append(byte)
            }
        }
        return frame + [0xC0]
    }

    /// COBS without the zero after it.
    static func cobs(_ content: [UInt8]) -> [UInt8] {
        var (frame, block): ([UInt8], [UInt8]) = ([], [])
        var isOpen = true
        for byte in content {
            isOpen = true
            if byte == 0 {
                frame += [UInt8(block.count + 1)] + block
                block = []
                continue
            }
            block.append(byte)
            if block.count == 254 {
                frame += [0xFF] + block
                (block, isOpen) = ([], false)
            }
        }
        return isOpen ? frame + [UInt8(block.count + 1)] + block : frame
    }

    /// The checksum bit by bit.
    static func checksum(_ bytes: [UInt8], _ framing: Framing) -> [UInt8] {
        guard framing.check != .none else { return [] }
        let (width, polynomial, initial, isReflected, final) = parameters(framing.check)
        let mask = UInt64(1) << UInt64(width) - 1
        var register = initial
        for byte in bytes {
            for bit in 0..<8 {
                let next = UInt64(byte >> UInt8(isReflected ? bit : 7 - bit) & 1)
                let top = register >> UInt64(width - 1) & 1
                register = register << 1 & mask ^ (next ^ top == 1 ? polynomial : 0)
            }
        }
        if isReflected { register = (0..<width).reduce(0) { $0 << 1 | register >> UInt64($1) & 1 } }
        register ^= final
        let low = (0..<width / 8).map { UInt8(truncatingIfNeeded: register >> UInt64(8 * $0)) }
        return framing.isCheckBigEndian ? low.reversed() : low
    }

    /// Width, polynomial, initial register, reflection and final value as the catalogue of CRC algorithms has them.
    private static func parameters(_ check: FrameCheck) -> (Int, UInt64, UInt64, Bool, UInt64) {
        switch check {
        case .none: (8, 0, 0, false, 0)
        case .crc16ccitt: (16, 0x1021, 0xFFFF, false, 0)
        case .crc16xmodem: (16, 0x1021, 0, false, 0)
        case .crc16kermit: (16, 0x1021, 0, true, 0)
        case .crc16mcrf4xx: (16, 0x1021, 0xFFFF, true, 0)
        case .crc16x25: (16, 0x1021, 0xFFFF, true, 0xFFFF)
        case .crc16modbus: (16, 0x8005, 0xFFFF, true, 0)
        case .crc32: (32, 0x04C1_1DB7, 0xFFFF_FFFF, true, 0xFFFF_FFFF)
        case .crc32c: (32, 0x1EDC_6F41, 0xFFFF_FFFF, true, 0xFFFF_FFFF)
        }
    }
}

extension FrameEncoder {
    /// What ends whatever came before, so that the next frame is found.
    static func border(_ framing: Framing) -> [UInt8] {
        switch framing.borders {
        case .delimiter(let bytes): bytes
        case .slip: [0xC0]
        case .cobs: [0]
        case .length, .fixed: []
        }
    }
}

extension Framing {
    /// Whether the next good frame is found after bytes that are none.
    var canResynchronise: Bool { !FrameEncoder.border(self).isEmpty }
}
