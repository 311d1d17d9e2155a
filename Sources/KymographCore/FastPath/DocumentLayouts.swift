/// Where everything stands in documents that were read: what is no value, byte by byte, and values of so many bytes.
///
/// The parts of most documents of a source are as long as those of one before. Then each byte is looked at once,
/// sixteen at a time and all in the same way, whatever is to be there: nothing waits for the place where the value
/// before it ends (decision 15). Which layout a document may have is guessed by the length of its line and the bytes
/// that told shapes apart. It is a guess all the same: a document that has none is followed (``ShapeTree``).
///
/// It accepts what ``ShapeTree`` does, and gives the same places.
struct DocumentLayouts: ~Copyable {
    /// Most bytes of the line that a document is in. Of an element of an array, here and below, that is the element.
    static let longest = 256
    /// Most values of a document.
    static let mostValues = 16
    /// Most layouts that are kept.
    static let most = 96
    /// Sets of four layouts to choose from, the last one that was found first: lines of the same length may be laid out
    /// differently.
    private static let setBits: UInt64 = 8
    private static let blocks = longest / 16
    /// How many documents with a layout outweigh the next ones without; one without weighs as much as two with one.
    private static let mostCredit = 512
    /// Documents that are followed without a look, after most had no layout.
    private static let rest = 16_384

    struct Layout: BitwiseCopyable {
        /// Bytes of the document, and of its line without the line feed.
        var length: UInt16 = 0
        var line: UInt16 = .max
        var shape: UInt16 = 0
        var blocks: UInt8 = 0
        /// The blocks that have texts.
        var textStart: UInt8 = 0
        var textEnd: UInt8 = 0
    }

    /// What may be in sixteen bytes, in words of eight. One cache line.
    struct Rules: BitwiseCopyable {
        /// Added to each byte: makes the least one that may be there the least signed number.
        var added: (UInt64, UInt64) = (0, 0)
        /// The greatest signed number that may then be there.
        var highest: (UInt64, UInt64) = (0, 0)
        /// All bits of the bytes that may be neither quote nor backslash.
        var texts: (UInt64, UInt64) = (0, 0)
        var unused: (UInt64, UInt64) = (0, 0)
    }

    /// The first one is of no document.
    private var layouts = RawArray<Layout>(repeating: Layout(), count: 1)
    private var rules = RawArray<Rules>()
    private var values = RawArray<ShapeTree.Value>()
    /// For each set the numbers of its layouts, the first in the lowest byte.
    private var sets = RawArray<UInt32>(repeating: 0, count: 1 << Int(DocumentLayouts.setBits))
    /// The layout that was found last.
    private var found = 0
    /// Where shapes are told apart, by which bits of a word.
    private var fork = ShapeTree.ForkPlace()
    private var credit = DocumentLayouts.mostCredit
    private var pause = 0

    /// Whether to look for the layout of a document.
    @inline(__always)
    mutating func looks() -> Bool {
        if pause == 0 { return true }
        pause &-= 1
        return false
    }

    /// The number of the shape of the document at the beginning of `bytes`, which must be padded; -1 when it has no
    /// layout that is known. `line` is its ``DocumentEnding/lineLength(_:limit:)`` with the limit ``longest``. One that
    /// may be cut off does not count as a document without a layout.
    @inline(__always)
    mutating func find(_ bytes: ByteView, line: Int, mayBeCut: Bool) -> Int {
        let set = self.set(bytes, line)
        var numbers = sets[set]
        while numbers != 0 {
            let number = Int(numbers & 0xFF)
            if has(bytes, line, number) {
                if number != Int(sets[set] & 0xFF) { promote(UInt32(number), in: set) }
                return note(number)
            }
            numbers >>= 8
        }
        if !mayBeCut { miss() }
        return -1
    }

    /// The end of the document whose layout was found last.
    @inline(__always)
    var end: Int { Int(layouts[found].length) }

    /// The values of that document.
    @inline(__always)
    var followed: ElementList<ShapeTree.Value> {
        values.list(found &* DocumentLayouts.mostValues..<(found &+ 1) &* DocumentLayouts.mostValues)
    }

    @inline(__always)
    private func set(_ bytes: ByteView, _ line: Int) -> Int {
        let word = line > Int(fork.offset) ? bytes.word(at: Int(fork.offset)) & fork.mask : 0
        let mixed = (word ^ UInt64(truncatingIfNeeded: line) &* 0xFF51_AFD7_ED55_8CCD) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> (64 - DocumentLayouts.setBits))
    }

    @inline(__always)
    private func has(_ bytes: ByteView, _ line: Int, _ number: Int) -> Bool {
        let layout = layouts[number]
        guard Int(layout.line) == line else { return false }
        let start = number &* DocumentLayouts.blocks
        return bytes.follows(
            rules.list(start..<start &+ Int(layout.blocks)), texts: Int(layout.textStart)..<Int(layout.textEnd))
    }

    /// Puts `number` before the other layouts of its set; drops the last one where it was not among them.
    private mutating func promote(_ number: UInt32, in set: Int) {
        var numbers = sets[set]
        var (promoted, count) = (number, UInt32(1))
        while numbers != 0, count < 4 {
            if numbers & 0xFF != number {
                promoted |= (numbers & 0xFF) << (count * 8)
                count += 1
            }
            numbers >>= 8
        }
        sets[set] = promoted
    }

    @inline(__always)
    private mutating func note(_ number: Int) -> Int {
        found = number
        credit = min(credit &+ 1, DocumentLayouts.mostCredit)
        return Int(layouts[number].shape)
    }

    private mutating func miss() {
        credit -= 2
        guard credit < 0 else { return }
        // They are not as long as others before: looking for it costs more than it gives.
        removeAll()
        (credit, pause) = (DocumentLayouts.mostCredit, DocumentLayouts.rest)
    }

    mutating func removeAll() {
        layouts.truncate(to: 1)
        for set in 0..<sets.count { sets[set] = 0 }
        (found, fork) = (0, ShapeTree.ForkPlace())
    }
}

// MARK: Learning

extension DocumentLayouts {
    /// Learns the layout of the document at the beginning of `bytes`, which ``find(_:line:mayBeCut:)`` did not
    /// know: of shape `shape`, up to `end`, with the first `count` of `values`.
    mutating func learn(
        _ bytes: ByteView, line: Int, shape: Int, end: Int,
        values: borrowing RawArray<ShapeTree.Value>, count: Int, fork: ShapeTree.ForkPlace
    ) {
        guard line <= DocumentLayouts.longest, end <= line, count <= DocumentLayouts.mostValues, pause == 0 else {
            return
        }
        if self.fork.mask == 0, fork.mask != 0 {
            // What was learnt before is found by other bits.
            removeAll()
            self.fork = fork
        }
        let set = self.set(bytes, line)
        guard let number = numberToLearn(in: set) else { return }
        promote(UInt32(number), in: set)
        let blocks = (end + 15) / 16
        layouts[number] = Layout(
            length: UInt16(end), line: UInt16(line), shape: UInt16(shape), blocks: UInt8(blocks))
        for block in 0..<blocks { rules[number * DocumentLayouts.blocks + block] = Rules(bytes, at: block * 16) }
        for place in end..<blocks * 16 { allow(0...255, at: place, number) }
        for place in 0..<count {
            self.values[number * DocumentLayouts.mostValues + place] = values[place]
            note(values[place], bytes, number)
        }
    }

    /// The number of a layout to learn for a set: the last of four, or a new one; nil when there are too many.
    private mutating func numberToLearn(in set: Int) -> Int? {
        let last = Int(sets[set] >> 24)
        if last > 0 { return last }
        guard layouts.count <= DocumentLayouts.most else { return nil }
        layouts.append(Layout())
        rules.grow(to: layouts.count * DocumentLayouts.blocks, with: Rules())
        values.grow(to: layouts.count * DocumentLayouts.mostValues, with: ShapeTree.Value())
        return layouts.count - 1
    }

    /// Notes what may be in the place of a value.
    private mutating func note(_ value: ShapeTree.Value, _ bytes: ByteView, _ number: Int) {
        let isText = value.start > 0 && bytes[Int(value.start) - 1] == UInt8(ascii: "\"")
        for place in value.range where isText || place != Int(value.point) {
            allow(isText ? 0x20...0x7E : UInt8(ascii: "0")...UInt8(ascii: "9"), at: place, number)
            if isText { noteText(place, number) }
        }
        // Only a zero alone begins with one.
        let digits = (value.point > 0 ? Int(value.point) : Int(value.end)) - Int(value.start)
        if !isText, digits > 1 { allow(UInt8(ascii: "1")...UInt8(ascii: "9"), at: Int(value.start), number) }
    }

    /// Notes that the byte at `place` is in a text.
    private mutating func noteText(_ place: Int, _ number: Int) {
        rules[number * DocumentLayouts.blocks + place / 16].noteText(place % 16)
        let block = UInt8(place / 16)
        if layouts[number].textEnd == 0 { layouts[number].textStart = block }
        layouts[number].textEnd = max(layouts[number].textEnd, block + 1)
    }

    private mutating func allow(_ bytes: ClosedRange<UInt8>, at place: Int, _ number: Int) {
        rules[number * DocumentLayouts.blocks + place / 16].allow(bytes, at: place % 16)
    }
}

extension DocumentLayouts.Rules {
    /// Allows the sixteen bytes of `bytes` from `start`, and no others.
    fileprivate init(_ bytes: ByteView, at start: Int) {
        added = (Self.added(to: bytes.word(at: start)), Self.added(to: bytes.word(at: start + 8)))
        highest = (Self.highBits, Self.highBits)
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// 0x80 less each of eight bytes.
    private static func added(to word: UInt64) -> UInt64 {
        // Less a byte is more its complement and one; seven bits at a time, so that no carry leaves its byte.
        let complement = ~word
        let low = (complement & ~highBits) &+ 0x0101_0101_0101_0101
        return low ^ ((complement ^ highBits) & highBits)
    }

    /// Allows `bytes` at `place`, which is in no text.
    fileprivate mutating func allow(_ bytes: ClosedRange<UInt8>, at place: Int) {
        Self.set(&added, place, 0x80 &- bytes.lowerBound)
        Self.set(&highest, place, 0x80 &+ (bytes.upperBound - bytes.lowerBound))
    }

    /// Notes that the byte at `place` is in a text.
    fileprivate mutating func noteText(_ place: Int) { Self.set(&texts, place, 0xFF) }

    private static func set(_ words: inout (UInt64, UInt64), _ place: Int, _ byte: UInt8) {
        let shift = UInt64(place % 8 * 8)
        let (mask, bits) = (UInt64(0xFF) << shift, UInt64(byte) << shift)
        if place < 8 { words.0 = (words.0 & ~mask) | bits } else { words.1 = (words.1 & ~mask) | bits }
    }
}
