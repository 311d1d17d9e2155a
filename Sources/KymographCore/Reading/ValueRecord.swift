/// One value in a measurement's payload: a text, a number beyond the four inline ones, or the samples of a waveform.
///
/// Layout: slot (1 byte), kind (1), length (2, little-endian), then the bytes: a text's UTF-8, a number's mantissa
/// (8, little-endian) and exponent (1), or a ``SampleRecord``. Records follow each other in rising slot order.
package struct ValueRecord {
    /// What a record holds. Raw values are kept in archives.
    package enum Kind: UInt8, Sendable, BitwiseCopyable {
        case text = 0
        case number = 1
        case samples = 2
    }

    /// Value slot.
    package var slot: Int
    /// What it holds.
    package var kind: Kind
    /// Where its bytes are in the payload.
    package var bytes: Range<Int>

    /// Most bytes of a text, or of the samples of one value.
    static let longestContent = 65_535
    /// Bytes before the content.
    package static let headerBytes = 4

    /// Whether it is a number.
    package var isNumber: Bool { kind == .number }

    /// Reads the record at `offset` of `payload`, or nil at the end.
    package static func read(_ payload: ByteView, at offset: Int) -> ValueRecord? {
        guard offset + headerBytes <= payload.count else { return nil }
        let length = Int(payload[offset + 2]) | Int(payload[offset + 3]) << 8
        let start = offset + headerBytes
        precondition(start + length <= payload.count)
        return ValueRecord(
            slot: Int(payload[offset]), kind: Kind(rawValue: payload[offset + 1]) ?? .text,
            bytes: start..<(start + length))
    }

    /// Finds the record of `slot`, or nil.
    package static func find(_ slot: Int, in payload: ByteView) -> ValueRecord? {
        var offset = 0
        while let record = read(payload, at: offset) {
            if record.slot == slot { return record }
            offset = record.bytes.upperBound
        }
        return nil
    }

    /// The number in `payload`; the record must be one.
    package func number(in payload: ByteView) -> Decimal64 {
        precondition(isNumber && bytes.count == 9)
        var mantissa: UInt64 = 0
        for index in 0..<8 { mantissa |= UInt64(payload[bytes.lowerBound + index]) << UInt64(index * 8) }
        let exponent = Int8(bitPattern: payload[bytes.lowerBound + 8])
        return Decimal64(mantissa: Int64(bitPattern: mantissa), exponent: exponent)
    }

    /// Appends what the record says as text: a number's digits, samples as SampledData has them.
    package func appendText(of payload: ByteView, to writer: inout ByteWriter) {
        switch kind {
        case .text: writer.append(payload[bytes])
        case .number: writer.append(number(in: payload))
        case .samples: writer.append(samples: SampleReader(payload[bytes]))
        }
    }

    /// Appends a text record. `text` must be at most 65,535 bytes.
    package static func append(slot: Int, text: ByteView, to writer: inout ByteWriter) {
        append(slot: slot, .text, text, to: &writer)
    }

    /// Appends a record of texts or samples. `content` must be at most 65,535 bytes.
    static func append(slot: Int, _ kind: Kind, _ content: ByteView, to writer: inout ByteWriter) {
        appendHeader(slot: slot, kind, length: content.count, to: &writer)
        writer.append(content)
    }

    /// Appends a number record.
    package static func append(slot: Int, number: Decimal64, to writer: inout ByteWriter) {
        appendHeader(slot: slot, .number, length: 9, to: &writer)
        let bits = UInt64(bitPattern: number.mantissa)
        for index in 0..<8 { writer.append(UInt8(truncatingIfNeeded: bits >> UInt64(index * 8))) }
        writer.append(UInt8(bitPattern: number.exponent))
    }

    private static func appendHeader(slot: Int, _ kind: Kind, length: Int, to writer: inout ByteWriter) {
        precondition(slot < 256 && length <= longestContent)
        writer.append(UInt8(slot))
        writer.append(kind.rawValue)
        writer.append(UInt8(truncatingIfNeeded: length))
        writer.append(UInt8(truncatingIfNeeded: length >> 8))
    }
}
