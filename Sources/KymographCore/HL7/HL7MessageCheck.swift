/// Whether a message is one that is read: results, whole, of production, in a character set that is known.
enum HL7MessageCheck {
    /// Most bytes of MSH-10 (HL7 v2.7).
    private static let longestControlID = 199

    /// The character set of the message `bytes`.
    ///
    /// - Throws: ``ScanFailure`` when it is no message, or not of a known character set.
    static func charset(of bytes: ByteView) throws(ScanFailure) -> HL7Charset {
        let header = HL7Header(of: bytes)
        guard header.isReadable else { throw ScanFailure(reason: .malformedMessage, offset: 0) }
        let named = header.field(18)
        guard named.firstIndex(of: header.delimiters.repetition, from: 0) == nil,
            let charset = HL7Charset(named: named), charset.holds(bytes)
        else { throw ScanFailure(reason: .unsupportedCharset, offset: 0) }
        return charset
    }

    /// Looks at the header and the names of the segments.
    ///
    /// - Throws: ``ScanFailure`` with the reason for which the message is not read.
    static func check(_ header: HL7Header, _ segments: borrowing HL7SegmentList) throws(ScanFailure) {
        for index in 1..<max(segments.count, 1) {
            let segment = segments[index]
            if segment.name == .msh { throw ScanFailure(reason: .malformedMessage, offset: segment.start) }
            if segment.name.isPartial { throw ScanFailure(reason: .unsupportedMessage, offset: segment.start) }
        }
        let control = header.field(10)
        guard (1...longestControlID).contains(control.count), (0..<control.count).allSatisfy({ control[$0] >= 0x20 })
        else { throw ScanFailure(reason: .malformedMessage, offset: 0) }
        let (type, event) = (header.component(1, of: 9), header.component(2, of: 9))
        let isResult = type.equals(ByteView("ORU")) && event.equals(ByteView("R01"))
        let version = header.component(1, of: 12)
        guard isResult, version.count >= 3, version[0..<2].equals(ByteView("2.")), header.field(14).count == 0 else {
            throw ScanFailure(reason: .unsupportedMessage, offset: 0)
        }
        let processing = header.component(1, of: 11)
        if processing.equals(ByteView("T")) || processing.equals(ByteView("D")) {
            throw ScanFailure(reason: .testMeasurement, offset: 0)
        }
        guard processing.equals(ByteView("P")) else { throw ScanFailure(reason: .unsupportedMessage, offset: 0) }
    }
}
