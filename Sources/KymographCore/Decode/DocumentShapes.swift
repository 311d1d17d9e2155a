/// What flat documents of a source look like: all that is not a value, as a tree whose paths are the shapes of
/// documents that were read before.
///
/// Devices send the same members in the same order, and the same texts where a text says what is measured. A document
/// of a known shape is read by comparing what is between its values with what was there last time, and by finding the
/// ends of the values; which template it matches, and which of its values that template reads, is then known as well.
/// What is not of a known shape is scanned, and may be learnt.
///
/// It accepts nothing that the scan refuses: what is compared was valid, and a value is plain ASCII text without
/// escapes or a number of digits with or without fraction.
struct DocumentShapes: ~Copyable {
    /// What comes behind the bytes of a segment.
    enum Following {
        static let number: UInt8 = 0
        static let text: UInt8 = 1
        /// More bytes that are always the same.
        static let bytes: UInt8 = 2
        /// The end of the document.
        static let nothing: UInt8 = 3
    }

    /// Bytes that lead to a value, from the end of the value before.
    struct Segment: BitwiseCopyable {
        /// The first and the last eight bytes, and for more than sixteen bytes those next to them.
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        /// Which bits of ``words`` count: not all where there are fewer than eight bytes.
        var mask: UInt64 = 0
        /// How many bytes there are.
        var length: UInt32 = 0
        /// Where the last word begins.
        var last: UInt32 = 0
        /// The first segment that can follow, or the number of the shape where nothing follows.
        var next: UInt16 = 0
        /// Another segment for the same place; 0 when there is none.
        var other: UInt16 = 0
        /// One of ``Following``.
        var following: UInt8 = 0

        /// Whether the same bytes are at `index`.
        @inline(__always)
        func matches(_ bytes: ByteView, at index: Int) -> Bool {
            let end = index &+ Int(last)
            let outer = (bytes.word(at: index) ^ words.0) | (bytes.word(at: end) ^ words.3)
            guard outer & mask == 0 else { return false }
            guard length > 16 else { return true }
            return (bytes.word(at: index &+ 8) ^ words.1) | (bytes.word(at: end &- 8) ^ words.2) == 0
        }
    }

    /// Most bytes of a segment.
    static let longest = 32
    /// Most values of a document.
    static let mostValues = 64
    /// Most segments that are kept.
    static let most = 512
    /// Most segments for the same place: more would have to be tried than scanning costs.
    static let mostOthers = 16
    /// Documents of which a shape is sought before they are known well enough: what does not repeat itself is scanned.
    static let mostTries = 1_024
    /// Further documents that had to be scanned, after which all is forgotten: devices may have changed.
    static let patience = 100_000

    var segments = RawArray<Segment>(capacity: 1)
    /// Of the document that was followed last.
    private var values = RawArray<Value>(repeating: Value(), count: mostValues)
    /// The place behind the document that was followed last.
    private(set) var end = 0
    /// Shapes that are known.
    var count = 0
    /// Documents that had to be scanned.
    var tries = 0

    /// Where a value is.
    struct Value: BitwiseCopyable {
        var start: UInt32 = 0
        var end: UInt32 = 0
        /// Place of the decimal point; 0 where there is none.
        var point: UInt32 = 0

        /// The value's bytes.
        @inline(__always)
        var range: Range<Int> { Int(start)..<max(Int(start), Int(end)) }
    }

    /// The values of the document that was followed last, those of other documents behind them.
    var followed: ElementList<Value> { values.list(0..<values.count) }

    /// The number of the shape that the document at `start` has, or -1 when it is none that is known.
    ///
    /// Bytes behind the end of `bytes` may be read, but nothing that depends on them is given: the place only ever
    /// moves forward, and must end within. A call of its own: its state fits in the registers that way.
    @inline(never)
    mutating func follow(_ bytes: ByteView, from start: Int) -> Int {
        let segments = self.segments.list(0..<self.segments.count)
        var index = start
        var number = 0
        var place = 0
        while true {
            let segment = segments[number]
            var end = PlainValue.none
            if segment.matches(bytes, at: index) {
                let start = index &+ Int(segment.length)
                var point = 0
                switch segment.following {
                case Following.number: end = PlainValue.numberEnd(bytes, start, &point)
                case Following.text: end = PlainValue.textEnd(bytes, start)
                case Following.bytes:
                    index = start
                    number = Int(segment.next)
                    guard index < bytes.count, number > 0 else { return -1 }
                    continue
                default:
                    self.end = start
                    return start <= bytes.count ? Int(segment.next) : -1
                }
                if end >= 0 {
                    values[place] = Value(
                        start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end),
                        point: UInt32(truncatingIfNeeded: point))
                    place &+= 1
                    index = end
                    number = Int(segment.next)
                    // Nothing follows a piece of a shape that was not learnt to its end.
                    guard end < bytes.count, number > 0 else { return -1 }
                    continue
                }
            }
            number = Int(segment.other)
            if number == 0 { return -1 }
        }
    }
}

extension PlainValue {
    /// The number that `value` of the document in `bytes` says; nil when it has too many digits for this way.
    @inline(__always)
    static func number(_ value: DocumentShapes.Value, _ bytes: ByteView) -> Decimal64? {
        let (start, count) = (Int(value.start), Int(value.end) &- Int(value.start))
        guard count <= mostDigits else { return nil }
        guard value.point != 0 else { return Decimal64(mantissa: integer(bytes, start, count: count)) }
        let point = Int(value.point)
        let decimals = Int(value.end) &- point &- 1
        var mantissa = integer(bytes, start, count: point &- start)
        for _ in 0..<decimals { mantissa &*= 10 }
        mantissa &+= integer(bytes, point &+ 1, count: decimals)
        return Decimal64(mantissa: mantissa, exponent: Int8(truncatingIfNeeded: -decimals))
    }
}
