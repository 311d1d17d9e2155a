/// A checksum at the end of a frame. Names and parameters are those of the catalogue of CRC algorithms
/// (reveng.sourceforge.io), where one name stands for one algorithm; "CRC-16" alone stands for many.
package enum FrameCheck: String, CaseIterable, Sendable {
    /// None.
    case none
    /// CRC-16/IBM-3740, also called CCITT-FALSE: polynomial 1021, begins with FFFF, not reflected.
    case crc16ccitt = "crc16-ccitt"
    /// CRC-16/XMODEM: as the former, begins with 0.
    case crc16xmodem = "crc16-xmodem"
    /// CRC-16/KERMIT: polynomial 1021 reflected, begins with 0.
    case crc16kermit = "crc16-kermit"
    /// CRC-16/MCRF4XX: polynomial 1021 reflected, begins with FFFF; the E2E-CRC of Bluetooth.
    case crc16mcrf4xx = "crc16-mcrf4xx"
    /// CRC-16/IBM-SDLC, also called X-25: as the former, inverted at the end; HDLC and PPP.
    case crc16x25 = "crc16-x25"
    /// CRC-16/MODBUS: polynomial 8005 reflected, begins with FFFF.
    case crc16modbus = "crc16-modbus"
    /// CRC-32/ISO-HDLC: Ethernet, zip.
    case crc32 = "crc32"
    /// CRC-32/ISCSI, also called CRC-32C.
    case crc32c = "crc32c"

    /// Bytes in a frame.
    package var width: Int {
        switch self {
        case .none: 0
        case .crc16ccitt, .crc16xmodem, .crc16kermit, .crc16mcrf4xx, .crc16x25, .crc16modbus: 2
        case .crc32, .crc32c: 4
        }
    }

    /// Whether the lowest bit of a byte goes first.
    var isReflected: Bool { self != .crc16ccitt && self != .crc16xmodem }

    /// The polynomial, reflected where the algorithm is.
    var polynomial: UInt32 {
        switch self {
        case .none: 0
        case .crc16ccitt, .crc16xmodem: 0x1021
        case .crc16kermit, .crc16mcrf4xx, .crc16x25: 0x8408
        case .crc16modbus: 0xA001
        case .crc32: 0xEDB8_8320
        case .crc32c: 0x82F6_3B78
        }
    }

    /// The register before the first byte.
    var initial: UInt32 {
        switch self {
        case .none, .crc16xmodem, .crc16kermit: 0
        case .crc16ccitt, .crc16mcrf4xx, .crc16x25, .crc16modbus: 0xFFFF
        case .crc32, .crc32c: 0xFFFF_FFFF
        }
    }

    /// What the register is combined with after the last byte.
    var final: UInt32 {
        switch self {
        case .none, .crc16ccitt, .crc16xmodem, .crc16kermit, .crc16mcrf4xx, .crc16modbus: 0
        case .crc16x25: 0xFFFF
        case .crc32, .crc32c: 0xFFFF_FFFF
        }
    }
}
