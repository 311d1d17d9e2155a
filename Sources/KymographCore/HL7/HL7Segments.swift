/// The name of a segment: its three characters.
package struct HL7SegmentName: BitwiseCopyable, Hashable {
    fileprivate let word: UInt32

    fileprivate init(word: UInt32) { self.word = word }

    /// A name that this program knows.
    init(_ name: StaticString) {
        precondition(name.utf8CodeUnitCount == 3)
        self.init(at: 0, in: ByteView(name))
    }

    /// The three bytes of `bytes` from `start` on.
    init(at start: Int, in bytes: ByteView) {
        word = UInt32(bytes[start]) | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2]) << 16
    }

    /// Whether it is a letter and two letters or digits, all of them capital.
    var isValid: Bool {
        func isLetter(_ byte: UInt32) -> Bool { byte >= 0x41 && byte <= 0x5A }
        func isDigit(_ byte: UInt32) -> Bool { byte >= 0x30 && byte <= 0x39 }
        let (first, second, third) = (word & 0xFF, word >> 8 & 0xFF, word >> 16)
        return isLetter(first) && (isLetter(second) || isDigit(second)) && (isLetter(third) || isDigit(third))
    }

    /// The name as text.
    var text: [UInt8] { [UInt8(word & 0xFF), UInt8(word >> 8 & 0xFF), UInt8(word >> 16)] }

    static let msh = HL7SegmentName("MSH")
    static let pid = HL7SegmentName("PID")
    static let orc = HL7SegmentName("ORC")
    static let obr = HL7SegmentName("OBR")
    static let obx = HL7SegmentName("OBX")
    static let nte = HL7SegmentName("NTE")
    static let prt = HL7SegmentName("PRT")

    /// Those that a group has once.
    private static let single: Set<HL7SegmentName> = [
        msh, pid, orc, obr, HL7SegmentName("PD1"), HL7SegmentName("PV1"), HL7SegmentName("PV2"),
    ]
    /// Those that say the message is a part of one, or several messages.
    private static let partial: Set<HL7SegmentName> = [
        HL7SegmentName("DSC"), HL7SegmentName("ADD"), HL7SegmentName("FHS"), HL7SegmentName("BHS"),
        HL7SegmentName("BTS"), HL7SegmentName("FTS"),
    ]

    /// Whether a group has the segment once, so that a document has an object for it, and an array otherwise.
    var isSingle: Bool { Self.single.contains(self) }
    /// Whether it says that the message is no whole one.
    var isPartial: Bool { Self.partial.contains(self) }
}

/// One segment of a message: its name, and the bytes from its name to its end.
struct HL7Segment: BitwiseCopyable {
    var name: HL7SegmentName
    var start: Int
    var end: Int

    var range: Range<Int> { start..<end }
}

/// The segments of one message.
struct HL7SegmentList: ~Copyable {
    private var segments = RawArray<HL7Segment>()

    var count: Int { segments.count }

    subscript(index: Int) -> HL7Segment { segments[index] }

    /// Divides `bytes` at carriage returns, or at line feeds where there is none. Line feeds behind carriage returns
    /// are passed over, and so is one at the end.
    ///
    /// - Throws: ``ScanFailure`` at a segment without a name.
    mutating func read(_ bytes: ByteView, field: UInt8) throws(ScanFailure) {
        segments.removeAll()
        let end: UInt8 = bytes.firstIndex(of: 0x0D, from: 0) == nil ? 0x0A : 0x0D
        // The last one is that of the file.
        let count = bytes.count > 0 && bytes[bytes.count - 1] == 0x0A ? bytes.count - 1 : bytes.count
        var start = 0
        while start < count {
            let stop = min(bytes.firstIndex(of: end, from: start) ?? count, count)
            if stop > start { try append(bytes, start, stop, field) }
            start = stop + 1
            if end == 0x0D, start < count, bytes[start] == 0x0A { start += 1 }
        }
    }

    private mutating func append(_ bytes: ByteView, _ start: Int, _ end: Int, _ field: UInt8) throws(ScanFailure) {
        guard end - start >= 3, end - start == 3 || bytes[start + 3] == field,
            case let name = HL7SegmentName(at: start, in: bytes), name.isValid
        else { throw ScanFailure(reason: .malformedMessage, offset: start) }
        segments.append(HL7Segment(name: name, start: start, end: end))
    }
}
