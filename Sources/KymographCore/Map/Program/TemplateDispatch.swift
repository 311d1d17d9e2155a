/// Finds the templates that can match a flat payload by the text that most of them ask for: `@type == 'heartRate'`.
///
/// One look-up, however many templates there are; only those are then held against the payload, in file order.
struct TemplateDispatch: ~Copyable {
    /// The texts' first sixteen bytes and length, and the templates that ask for such a text or for something else.
    struct Entry: BitwiseCopyable {
        var low: UInt64 = 0
        var high: UInt64 = 0
        var length: UInt32 = 0
        var start: UInt32 = 0
        var end: UInt32 = 0
        var isUsed = false
    }

    /// Fewer templates are held against each payload one by one.
    private static let fewest = 3

    /// The member that holds the text; ``NameTable/unknown`` when too few templates ask for one.
    let name: UInt16
    private var entries: RawArray<Entry>
    private var numbers = RawArray<UInt32>(capacity: 16)
    /// The templates that do not ask for a text of ``name``.
    private var others: Range<Int>

    /// Sorts templates by their gates, by a text that those ask for which give readings: those that take readings back
    /// may ask for another one, and are rarely needed.
    init(_ gates: borrowing RawArray<TemplateGate>, givesReadings: [Bool]) {
        name = TemplateDispatch.mostFrequentName(gates, givesReadings)
        entries = RawArray(repeating: Entry(), count: 1)
        others = 0..<0
        guard name != NameTable.unknown else { return }
        others = TemplateDispatch.append(to: &numbers, gates) { [name] in !$0.isSorted(by: name) }
        var size = 8
        while size < gates.count * 4 { size *= 2 }
        entries = RawArray(repeating: Entry(), count: size)
        for index in 0..<gates.count where gates[index].isSorted(by: name) {
            let gate = gates[index]
            let place = self.place(of: gate.low, gate.high, gate.length)
            guard !entries[place].isUsed else { continue }
            let range = TemplateDispatch.append(to: &numbers, gates) { [name] in
                !$0.isSorted(by: name) || $0.low == gate.low && $0.high == gate.high && $0.length == gate.length
            }
            entries[place] = Entry(
                low: gate.low, high: gate.high, length: gate.length, start: UInt32(range.lowerBound),
                end: UInt32(range.upperBound), isUsed: true)
        }
    }

    private static func mostFrequentName(
        _ gates: borrowing RawArray<TemplateGate>, _ isCounted: [Bool]
    ) -> UInt16 {
        var counts: [UInt16: Int] = [:]
        for index in 0..<gates.count where isCounted[index] && gates[index].isSorted(by: gates[index].name) {
            counts[gates[index].name, default: 0] += 1
        }
        let best = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return best.flatMap { $0.value >= fewest ? $0.key : nil } ?? NameTable.unknown
    }

    private static func append(
        to numbers: inout RawArray<UInt32>, _ gates: borrowing RawArray<TemplateGate>,
        where isWanted: (TemplateGate) -> Bool
    ) -> Range<Int> {
        let start = numbers.count
        for index in 0..<gates.count where isWanted(gates[index]) { numbers.append(UInt32(index)) }
        return start..<numbers.count
    }

    /// The templates, by their places in ``subscript(_:)``, that a payload can match whose member ``name`` is `token`;
    /// nil when the text must be read to be told.
    @inline(__always)
    func candidates(_ token: Token, _ bytes: ByteView) -> Range<Int>? {
        guard token.kind == TokenKind.string else { return others }
        guard token.flags & Token.escaped == 0 else { return nil }
        let start = Int(token.start)
        let low = bytes.word(at: start) & TemplateDispatch.mask(token.length)
        let high = bytes.word(at: start &+ 8) & TemplateDispatch.mask(token.length < 8 ? 0 : token.length &- 8)
        let entry = entries[place(of: low, high, token.length)]
        return entry.isUsed ? Int(entry.start)..<Int(entry.end) : others
    }

    /// The templates that a payload without the member can match.
    var withoutText: Range<Int> { others }

    /// The number of a template.
    @inline(__always)
    subscript(place: Int) -> Int { Int(numbers[place]) }

    /// A mask of the first `count` bytes of a word.
    @inline(__always)
    private static func mask(_ count: UInt32) -> UInt64 {
        count >= 8 ? .max : ~(UInt64.max &<< UInt64(truncatingIfNeeded: count &* 8))
    }

    /// Where the entry of a text is, or is to be.
    @inline(__always)
    private func place(of low: UInt64, _ high: UInt64, _ length: UInt32) -> Int {
        let last = entries.count &- 1
        let mixed = (low ^ high &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(length)) &* 0xFF51_AFD7_ED55_8CCD
        var place = Int(truncatingIfNeeded: mixed &>> 40) & last
        while entries[place].isUsed,
            entries[place].low != low || entries[place].high != high || entries[place].length != length
        {
            place = (place &+ 1) & last
        }
        return place
    }
}
