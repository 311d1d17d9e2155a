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
struct ShapeTree: ~Copyable {
    /// What comes behind the bytes of a segment.
    enum Following {
        static let number: UInt8 = 0
        static let text: UInt8 = 1
        /// More bytes that are always the same.
        static let bytes: UInt8 = 2
        /// The end of the document.
        static let nothing: UInt8 = 3
    }

    /// Bytes that lead to a value, from the end of the value before. One cache line.
    struct Segment: BitwiseCopyable {
        /// The first and the last eight bytes, and for more than sixteen bytes those next to them.
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        /// Which bits of ``words`` count: not all where there are fewer than eight bytes.
        var mask: UInt64 = 0
        /// Where there are others, and this is the first of them: which bits of the word that tells them apart are
        /// of all of them.
        var forkMask: UInt64 = 0
        /// The first segment that can follow, or the number of the shape where nothing follows.
        var next: UInt16 = 0
        /// Another segment for the same place; 0 when there is none.
        var other: UInt16 = 0
        /// Where that word begins.
        var forkOffset: UInt8 = 0
        /// How many bytes there are.
        var length: UInt8 = 0
        /// Where the last word begins.
        var last: UInt8 = 0
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

        /// Whether it is at `index`, and none that is a piece of another one with the same beginning: before a number
        /// that can be what is before a text.
        @inline(__always)
        func isChoice(_ bytes: ByteView, at index: Int) -> Bool {
            guard matches(bytes, at: index) else { return false }
            return following != Following.number || bytes[index &+ Int(length)] &- UInt8(ascii: "0") < 10
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
    var layouts = DocumentLayouts()
    /// Of the document that was followed last, and how many there are.
    private var values = RawArray<Value>(repeating: Value(), count: mostValues)
    private var valueCount = 0
    /// The place behind the document that was found last.
    private(set) var end = 0
    /// Whether that document was found by its layout.
    private var isLaidOut = false
    /// Where its shape was told from others last.
    private var forkPlace = ForkPlace()
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

    /// Where shapes are told apart: the place of a word, and the bits of it that count.
    struct ForkPlace: BitwiseCopyable {
        var offset: UInt32 = 0
        var mask: UInt64 = 0
    }

    /// The values of the document that was found last, those of other documents behind them.
    @inline(__always)
    var followed: ElementList<Value> { isLaidOut ? layouts.followed : values.list(0..<values.count) }

    /// The number of the shape that the document at the beginning of `bytes` has, or -1 when it is none that is known.
    /// `bytes` must be padded; they may be only the beginning of a document when a newline is to be behind it.
    ///
    /// A call of its own, because the compiler inlines less of a long function, and the callers are long.
    @inline(never)
    mutating func find(_ bytes: ByteView, _ ending: DocumentEnding) -> Int {
        isLaidOut = false
        guard bytes.count > 0, bytes[0] == UInt8(ascii: "{") else { return -1 }
        guard layouts.looks() else { return follow(bytes) }
        let line = ending.lineLength(bytes, limit: DocumentLayouts.longest)
        let mayBeCut = ending == .newline && line >= bytes.count
        let number = layouts.find(bytes, line: line, mayBeCut: mayBeCut)
        guard number >= 0 else { return followAnew(bytes, line: line) }
        (isLaidOut, end) = (true, layouts.end)
        return number
    }

    /// Follows the document at the beginning of `bytes`, and learns its layout.
    @inline(never)
    private mutating func followAnew(_ bytes: ByteView, line: Int) -> Int {
        forkPlace = ForkPlace()
        let number = follow(bytes)
        if number >= 0 {
            layouts.learn(
                bytes, line: line, shape: number, end: end, values: values, count: valueCount, fork: forkPlace)
        }
        return number
    }

    /// The same, without a look at layouts.
    ///
    /// Bytes behind the end of `bytes` may be read, but nothing that depends on them is given: the place only ever
    /// moves forward, and must end within. A call of its own: its state fits in the registers that way.
    @inline(never)
    private mutating func follow(_ bytes: ByteView) -> Int {
        let segments = self.segments.list(0..<self.segments.count)
        var index = 0
        var number = 0
        var place = 0
        while true {
            if segments[number].other > 0 {
                number = choose(number, bytes, at: index)
                guard number >= 0 else { return -1 }
            } else if !segments[number].matches(bytes, at: index) {
                return -1
            }
            let start = index &+ Int(segments[number].length)
            var point = 0
            switch segments[number].following {
            case Following.text: index = PlainValue.textEnd(bytes, start)
            case Following.number: index = PlainValue.numberEnd(bytes, start, &point)
            case Following.bytes:
                index = start
                number = Int(segments[number].next)
                guard index < bytes.count, number > 0 else { return -1 }
                continue
            default:
                (end, valueCount) = (start, place)
                return start <= bytes.count ? Int(segments[number].next) : -1
            }
            values[place] = Value(
                start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: index),
                point: UInt32(truncatingIfNeeded: point))
            place &+= 1
            number = Int(segments[number].next)
            // Nothing follows a piece of a shape that was not learnt to its end.
            guard UInt(bitPattern: index) < UInt(bitPattern: bytes.count), number > 0 else { return -1 }
        }
    }

    /// The segment, of `first` and its others, that is at `index`; -1 when none is.
    @inline(never)
    private mutating func choose(_ first: Int, _ bytes: ByteView, at index: Int) -> Int {
        let offset = index &+ Int(segments[first].forkOffset)
        forkPlace = ForkPlace(offset: UInt32(truncatingIfNeeded: offset), mask: segments[first].forkMask)
        var number = first
        while !segments[number].isChoice(bytes, at: index) {
            number = Int(segments[number].other)
            if number == 0 { return -1 }
        }
        return number
    }
}

extension PlainValue {
    /// The number that `value` of the document in `bytes` says if that is one to eight digits.
    @inline(__always)
    static func shortInteger(_ value: ShapeTree.Value, _ bytes: ByteView) -> Int64? {
        let count = Int(value.end) &- Int(value.start)
        guard value.point == 0, count &- 1 < 8, count > 0 else { return nil }
        return leading(bytes, Int(value.start), count)
    }

    /// The number that `value` of the document in `bytes` says; nil when it has too many digits for this way.
    @inline(__always)
    static func number(_ value: ShapeTree.Value, _ bytes: ByteView) -> Decimal64? {
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
