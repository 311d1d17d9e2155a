package import KymographCore

extension Framing {
    /// One of each kind, and of each way to write a length: what holds of all framings is tried with these.
    package static let oneOfEach: [Framing] = [
        Framing(.delimiter([0])), Framing(.delimiter([0x0D, 0x0A])), Framing(.delimiter([0x61, 0x61, 0x62])),
        Framing(.slip), Framing(.slip, check: .crc16x25), Framing(.cobs), Framing(.cobs, check: .crc16ccitt),
        Framing(.cobs, check: .crc32, isCheckBigEndian: true), Framing(.fixed(7)),
        Framing(.fixed(5), check: .crc16modbus),
        Framing(.length(LengthField(.fixed(width: 1, isBigEndian: false)))),
        Framing(.length(LengthField(.fixed(width: 2, isBigEndian: true), offset: 3, adjustment: -5, keepsHead: true))),
        Framing(.length(LengthField(.fixed(width: 3, isBigEndian: false), adjustment: 2)), check: .crc16kermit),
        Framing(.length(LengthField(.fixed(width: 4, isBigEndian: true)))),
        Framing(.length(LengthField(.varint, offset: 1)), check: .crc32c),
    ]
}
