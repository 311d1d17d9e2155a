import CommandSupport
import KymographTestKit

/// A way from a bridge to kymo.
enum BridgeRoute: String, CaseIterable {
    /// A pseudo-terminal, with a frame in JSON on each line, the packet in base64.
    case terminalLines
    /// A pseudo-terminal, with binary frames and a checksum in SLIP.
    case terminalSLIP
    /// A Unix stream socket, with a frame in JSON on each line, the packet in hexadecimal.
    case streamLines
    /// A Unix stream socket, with binary frames behind their lengths.
    case streamLengths
    /// A Unix socket of datagrams, with two binary frames in each.
    case datagrams
    /// A Unix socket of messages, with a frame in JSON in each.
    case messages

    var usesTerminal: Bool { self == .terminalLines || self == .terminalSLIP }

    /// Settings besides the source.
    var framing: [String] {
        switch self {
        case .terminalLines, .streamLines, .datagrams, .messages: []
        case .terminalSLIP: ["--framing", "slip,crc16-ccitt"]
        case .streamLengths: ["--framing", "length,u16be"]
        }
    }

    /// The source, for `kymo run`.
    func source(_ terminal: PseudoTerminal?, _ folder: TemporaryFolder) -> [String] {
        switch self {
        case .terminalLines, .terminalSLIP: ["--serial", "\(terminal?.path ?? ""):115200,8N1"]
        case .streamLines, .streamLengths: ["--unix", folder.file("s.sock")]
        case .datagrams: ["--unixgram", folder.file("s.sock")]
        case .messages: ["--seqpacket", folder.file("s.sock")]
        }
    }

    /// What goes into the source, in one write, datagram or message each.
    func payloads(_ packets: [DevicePacket]) -> [[UInt8]] {
        switch self {
        case .terminalLines: packets.map { Array($0.json(base64: true).utf8) + [0x0A] }
        case .streamLines: packets.map { Array($0.json(base64: false).utf8) + [0x0A] }
        case .terminalSLIP: packets.map { BridgeRoute.slip($0.binary) }
        case .streamLengths: packets.map { [UInt8($0.binary.count >> 8), UInt8($0.binary.count & 255)] + $0.binary }
        case .datagrams:
            stride(from: 0, to: packets.count, by: 2).map { start in
                packets[start..<min(start + 2, packets.count)].flatMap(\.binary)
            }
        case .messages: packets.map { Array($0.json(base64: false).utf8) }
        }
    }

    /// RFC 1055, with an end mark on both sides, around the frame and its CRC-16/IBM-3740, the lowest byte first.
    private static func slip(_ frame: [UInt8]) -> [UInt8] {
        var check: UInt16 = 0xFFFF
        for byte in frame {
            check ^= UInt16(byte) << 8
            for _ in 0..<8 { check = check & 0x8000 == 0 ? check << 1 : check << 1 ^ 0x1021 }
        }
        let content = frame + [UInt8(check & 255), UInt8(check >> 8)]
        let stuffed = content.flatMap { byte -> [UInt8] in
            switch byte {
            case 0xC0: [0xDB, 0xDC]
            case 0xDB: [0xDB, 0xDD]
            default: [byte]
            }
        }
        return [0xC0] + stuffed + [0xC0]
    }
}
