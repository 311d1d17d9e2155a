/// Why a packet or frame gave nothing, and at which of its bytes that showed.
package struct PacketFailure: Error {
    package var reason: Rejection
    package var offset: Int
}

/// Takes little-endian fields off a packet, one after the other, and never reads beyond its end.
struct PacketReader {
    private let bytes: ByteView
    /// The first byte that was not taken yet.
    private(set) var index = 0

    init(_ bytes: ByteView) { self.bytes = bytes }

    /// Bytes that were not taken yet.
    var left: Int { bytes.count - index }

    /// The failure of what was found at the current place.
    func failure(_ reason: Rejection) -> PacketFailure { PacketFailure(reason: reason, offset: index) }

    /// The next byte.
    @inline(__always)
    mutating func byte() throws(PacketFailure) -> UInt8 {
        guard index < bytes.count else { throw failure(.truncatedPacket) }
        index += 1
        return bytes[index - 1]
    }

    /// The next `count` (1…8) bytes as an unsigned number.
    @inline(__always)
    mutating func unsigned(_ count: Int) throws(PacketFailure) -> UInt64 {
        guard left >= count else { throw failure(.truncatedPacket) }
        var value: UInt64 = 0
        for place in 0..<count { value |= UInt64(bytes[index + place]) << UInt64(8 * place) }
        index += count
        return value
    }

    /// The next two bytes as an unsigned number.
    @inline(__always)
    mutating func short() throws(PacketFailure) -> Int { Int(try unsigned(2)) }

    /// The next two bytes as a SFLOAT.
    mutating func sfloat() throws(PacketFailure) -> MedicalFloat {
        MedicalFloat(sfloat: UInt16(truncatingIfNeeded: try unsigned(2)))
    }

    /// A SFLOAT that cannot be below zero in nature: what says so is no measurement.
    mutating func magnitude(atMost limit: Int64 = .max) throws(PacketFailure) -> MedicalFloat {
        let start = index
        let value = try sfloat()
        if case .number(let number) = value,
            number.mantissa < 0 || Decimal64(mantissa: limit).isLess(than: number)
        {
            throw PacketFailure(reason: .implausibleValue, offset: start)
        }
        return value
    }

    /// The next four bytes as a FLOAT.
    mutating func float() throws(PacketFailure) -> MedicalFloat {
        let start = index
        guard let value = MedicalFloat(float: UInt32(truncatingIfNeeded: try unsigned(4))) else {
            throw PacketFailure(reason: .inexactNumber, offset: start)
        }
        return value
    }

    /// The next `count` bytes as they are.
    mutating func run(_ count: Int) throws(PacketFailure) -> ByteView {
        guard count >= 0, left >= count else { throw failure(.truncatedPacket) }
        index += count
        return bytes[(index - count)..<index]
    }
}
