/// Times of HL7 v2, `YYYYMMDDHHMM[SS[.S…]][±ZZZZ]`, as ISO 8601 has them.
enum HL7Time {
    /// What can be made of one.
    enum Outcome {
        /// The text has been written.
        case written
        /// There is none.
        case missing
        /// It is no time, or says less than the minute.
        case invalid
        /// Nothing says of which offset from UTC it is.
        case withoutZone
    }

    /// The offset of `text`, its last five bytes; nil when it has none.
    static func offset(of text: ByteView) -> ByteView? {
        guard text.count > 5, case let sign = text[text.count - 5], sign == 0x2B || sign == 0x2D else { return nil }
        let offset = text[(text.count - 5)..<text.count]
        return (1..<5).allSatisfy { isDigit(offset[$0]) } ? offset : nil
    }

    /// Writes `text` as `2026-03-01T08:00:00.123+01:00`. One without offset is of `zone`, or of a wall clock that is
    /// known where the text is read (`hasClock`).
    static func append(_ text: ByteView, zone: ByteView?, hasClock: Bool, to writer: inout ByteWriter) -> Outcome {
        if text.count == 0 || text.isHL7Null { return .missing }
        let own = offset(of: text)
        let local = own == nil ? text : text[0..<(text.count - 5)]
        guard isTime(local) else { return .invalid }
        guard let offset = own ?? zone else {
            guard hasClock else { return .withoutZone }
            appendLocal(local, to: &writer)
            return .written
        }
        appendLocal(local, to: &writer)
        writer.append(offset[0..<3])
        writer.append(":")
        writer.append(offset[3..<5])
        return .written
    }

    /// Whether `text` is digits down to the minute or second, and a fraction of that.
    private static func isTime(_ text: ByteView) -> Bool {
        guard text.count == 12 || text.count >= 14 else { return false }
        guard (0..<min(text.count, 14)).allSatisfy({ isDigit(text[$0]) }) else { return false }
        guard text.count > 14 else { return true }
        return text[14] == UInt8(ascii: ".") && text.count > 15 && (15..<text.count).allSatisfy { isDigit(text[$0]) }
    }

    private static func appendLocal(_ text: ByteView, to writer: inout ByteWriter) {
        writer.append(text[0..<4])
        writer.append("-")
        writer.append(text[4..<6])
        writer.append("-")
        writer.append(text[6..<8])
        writer.append("T")
        writer.append(text[8..<10])
        writer.append(":")
        writer.append(text[10..<12])
        writer.append(":")
        if text.count == 12 { return writer.append("00") }
        writer.append(text[12..<text.count])
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
