/// Computes one ``FrameCheck``, a table look-up a byte.
struct FrameChecksum: ~Copyable {
    /// The algorithm.
    let check: FrameCheck
    private var table: RawArray<UInt32>

    /// Fills the table of `check`.
    init(_ check: FrameCheck) {
        self.check = check
        table = RawArray(capacity: check == .none ? 0 : 256)
        guard check != .none else { return }
        for byte in 0..<UInt32(256) { table.append(FrameChecksum.entry(byte, check)) }
    }

    private static func entry(_ byte: UInt32, _ check: FrameCheck) -> UInt32 {
        var value = check.isReflected ? byte : byte << 8
        for _ in 0..<8 {
            if check.isReflected {
                value = value & 1 != 0 ? value >> 1 ^ check.polynomial : value >> 1
            } else {
                value = value & 0x8000 != 0 ? value << 1 ^ check.polynomial : value << 1
            }
        }
        return check.width == 2 ? value & 0xFFFF : value
    }

    /// The checksum of `bytes`.
    func value(of bytes: ByteView) -> UInt32 {
        var register = check.initial
        if check.isReflected {
            for index in 0..<bytes.count {
                register = register >> 8 ^ table[Int((register ^ UInt32(bytes[index])) & 0xFF)]
            }
        } else {
            for index in 0..<bytes.count {
                let place = Int((register >> 8 ^ UInt32(bytes[index])) & 0xFF)
                register = (register << 8 ^ table[place]) & 0xFFFF
            }
        }
        return register ^ check.final
    }

    /// Whether `bytes` end with their checksum.
    func isRight(_ bytes: ByteView, isBigEndian: Bool) -> Bool {
        let end = bytes.count - check.width
        var stated: UInt32 = 0
        for index in 0..<check.width {
            let place = isBigEndian ? index : check.width - 1 - index
            stated = stated << 8 | UInt32(bytes[end + place])
        }
        return value(of: bytes[0..<end]) == stated
    }
}
