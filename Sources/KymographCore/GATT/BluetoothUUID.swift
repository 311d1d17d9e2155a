/// The number of a characteristic: 128 bits, or 16 bits that stand for those with the Bluetooth base.
package struct BluetoothUUID: BitwiseCopyable, Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// 00000000-0000-1000-8000-00805F9B34FB (Bluetooth Core Specification, vol. 3 part B, section 2.5.1).
    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    /// The UUID of a number that the SIG assigned.
    init(number: UInt16) {
        high = UInt64(number) << 32 | Self.baseHigh
        low = Self.baseLow
    }

    /// Both halves, the first as it is written.
    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads `2A37`, `0x2A37`, `00002A37` or all 32 digits with hyphens between groups, in any case.
    init?(_ text: ByteView) {
        var start = 0
        if text.count == 6, text[0] == UInt8(ascii: "0"), text[1] | 0x20 == UInt8(ascii: "x") { start = 2 }
        var digits = 0
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in start..<text.count {
            if text[index] == UInt8(ascii: "-"), [8, 13, 18, 23].contains(index), text.count == 36 { continue }
            guard digits < 32, let digit = JSONUnescape.hexValue(text[index]) else { return nil }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(digit)
            digits += 1
        }
        switch digits {
        case 4, 8: self.init(high: low << 32 | Self.baseHigh, low: Self.baseLow)
        case 32 where text.count != 36 || text[8] == UInt8(ascii: "-"): self.init(high: high, low: low)
        default: return nil
        }
    }

    /// Reads a text of a mapping file.
    package init?(_ text: String) {
        guard let uuid = Array(text.utf8).withByteView({ BluetoothUUID($0) }) else { return nil }
        self = uuid
    }

    /// The characteristic that is understood, when it is one.
    var characteristic: GATTCharacteristic? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
        return UInt16(exactly: high >> 32).flatMap(GATTCharacteristic.init(rawValue:))
    }

    /// The number as ``append(to:)`` writes it.
    var text: String {
        var writer = ByteWriter(capacity: 64)
        append(to: &writer)
        return writer.view.string
    }

    /// Writes the SIG's numbers as `2A37`, others as 32 lower-case digits with hyphens.
    func append(to writer: inout ByteWriter) {
        if low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh, high >> 48 == 0 {
            for place in 0..<4 { writer.append(Self.upperDigit(high >> UInt64(44 - 4 * place))) }
            return
        }
        for place in 0..<16 {
            if place == 4 || place == 6 || place == 8 || place == 10 { writer.append(UInt8(ascii: "-")) }
            let half = place < 8 ? high : low
            writer.appendHex(UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (place & 7))))
        }
    }

    private static func upperDigit(_ value: UInt64) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: value & 15)
        return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }
}
