/// One value in a measurement's payload: a text, or a number beyond the four inline ones.
///
/// Layout: slot (1 byte), kind (1), length (2, little-endian), then the bytes: a text's UTF-8, or a number's mantissa
/// (8, little-endian) and exponent (1). Records follow each other in rising slot order.
public struct ValueRecord {
    /// Value slot.
    public var slot: Int
    /// Whether it is a number.
    public var isNumber: Bool
    /// Where its bytes are in the payload.
    public var bytes: Range<Int>

    /// Bytes before the content.
    public static let headerBytes = 4

    /// Reads the record at `offset` of `payload`, or nil at the end.
    public static func read(_ payload: ByteView, at offset: Int) -> ValueRecord? {
        guard offset + headerBytes <= payload.count else { return nil }
        let length = Int(payload[offset + 2]) | Int(payload[offset + 3]) << 8
        let start = offset + headerBytes
        precondition(start + length <= payload.count)
        return ValueRecord(
            slot: Int(payload[offset]), isNumber: payload[offset + 1] == 1, bytes: start..<(start + length))
    }

    /// Finds the record of `slot`, or nil.
    public static func find(_ slot: Int, in payload: ByteView) -> ValueRecord? {
        var offset = 0
        while let record = read(payload, at: offset) {
            if record.slot == slot { return record }
            offset = record.bytes.upperBound
        }
        return nil
    }

    /// The number in `payload`; the record must be one.
    public func number(in payload: ByteView) -> Decimal64 {
        precondition(isNumber && bytes.count == 9)
        var mantissa: UInt64 = 0
        for index in 0..<8 { mantissa |= UInt64(payload[bytes.lowerBound + index]) << UInt64(index * 8) }
        let exponent = Int8(bitPattern: payload[bytes.lowerBound + 8])
        return Decimal64(mantissa: Int64(bitPattern: mantissa), exponent: exponent)
    }

    /// Appends a text record. `text` must be at most 65,535 bytes.
    public static func append(slot: Int, text: ByteView, to writer: inout ByteWriter) {
        appendHeader(slot: slot, kind: 0, length: text.count, to: &writer)
        writer.append(text)
    }

    /// Appends a number record.
    public static func append(slot: Int, number: Decimal64, to writer: inout ByteWriter) {
        appendHeader(slot: slot, kind: 1, length: 9, to: &writer)
        let bits = UInt64(bitPattern: number.mantissa)
        for index in 0..<8 { writer.append(UInt8(truncatingIfNeeded: bits >> UInt64(index * 8))) }
        writer.append(UInt8(bitPattern: number.exponent))
    }

    private static func appendHeader(slot: Int, kind: UInt8, length: Int, to writer: inout ByteWriter) {
        precondition(slot < 256 && length < 65_536)
        writer.append(UInt8(slot))
        writer.append(kind)
        writer.append(UInt8(truncatingIfNeeded: length))
        writer.append(UInt8(truncatingIfNeeded: length >> 8))
    }
}
