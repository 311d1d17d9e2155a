/// Searches texts for regular expressions, in time proportional to the text and without allocation after warm-up.
///
/// All ways through a pattern are followed at once (Thompson's simulation), because a backtracking search can be kept
/// busy for ever by one crafted reading. Looking ahead and behind searches again from each place, so texts longer than
/// ``longestLook`` bytes never match a pattern that does.
struct PatternMatcher: ~Copyable {
    /// Longest text, in bytes, that is searched by a pattern that looks ahead or behind.
    static let longestLook = 1_024

    private let instructions: RawArray<PatternInstruction>
    private let items: RawArray<PatternItem>
    private let patterns: RawArray<PatternReference>
    /// For each search under way: two lists of places in the program, and the position at which each was last added.
    /// Above them the places that are still to be followed.
    private var work = RawArray<Int32>(capacity: 64)

    init(_ program: PatternProgram) {
        instructions = RawArray(program.instructions)
        items = RawArray(program.items)
        patterns = RawArray(program.patterns)
    }

    /// Whether `pattern` matches anywhere in `text`, which must be UTF-8.
    mutating func matches(_ pattern: Int, _ text: ByteView) -> Bool {
        let pattern = patterns[pattern]
        if pattern.looksAround && text.count > PatternMatcher.longestLook { return false }
        return run(Search(first: Int(pattern.start), pattern: pattern, start: 0, isAnchored: false, end: nil), text)
    }

    /// What is searched for.
    struct Search: BitwiseCopyable {
        /// The first instruction.
        var first: Int
        var pattern: PatternReference
        /// Where in the text to start.
        var start: Int
        /// Whether the match must begin there.
        var isAnchored: Bool
        /// Where the match must end; anywhere when nil.
        var end: Int?
        /// Where the search's lists are, and how long the present one and the next one are.
        var base = 0
        var present = 0
        var next = 0
        var position = 0
        /// 1 while the second list is the present one.
        var turn = 0

        var size: Int { Int(pattern.count) }
        func place(inPresent index: Int) -> Int { base + turn * size + index }
        func place(inNext index: Int) -> Int { base + (1 - turn) * size + index }
    }

    private mutating func run(_ given: Search, _ text: ByteView) -> Bool {
        var search = given
        search.base = work.count
        search.position = search.start
        work.grow(to: search.base + 3 * search.size, with: 0)
        defer { work.truncate(to: search.base) }
        let limit = search.end ?? text.count
        while true {
            if !search.isAnchored || search.position == search.start {
                // Threads from here are added behind those that came here.
                if follow(search.first, &search, text, intoNext: false) { return true }
            }
            guard search.position < limit else { return false }
            let (scalar, length) = UTF8Sequence.scalar(text, at: search.position)
            if step(scalar, &search, text, to: search.position + length) { return true }
            if search.isAnchored && search.present == 0 { return false }
        }
    }

    /// Takes one character with all threads; true when one of them is at the end of the pattern then.
    private mutating func step(_ scalar: UInt32, _ search: inout Search, _ text: ByteView, to position: Int) -> Bool {
        let category = UnicodeCategory.bit(scalar)
        let count = search.present
        search.position = position
        for index in 0..<count {
            let place = Int(work[search.place(inPresent: index)])
            guard takes(instructions[place], scalar, category) else { continue }
            if follow(place + 1, &search, text, intoNext: true) { return true }
        }
        search.present = search.next
        search.next = 0
        search.turn = 1 - search.turn
        return false
    }

    @inline(__always)
    private func takes(_ instruction: PatternInstruction, _ scalar: UInt32, _ category: UInt32) -> Bool {
        var index = Int(instruction.first)
        let end = index + Int(instruction.second)
        while index < end {
            if items[index].contains(scalar, category: category) { return instruction.operation == .set }
            index += 1
        }
        return instruction.operation == .otherThanSet
    }

    /// Adds a thread at `first`, and all that it leads to without taking a character; true when that is the end.
    private mutating func follow(
        _ first: Int, _ search: inout Search, _ text: ByteView, intoNext: Bool
    ) -> Bool {
        let bottom = work.count
        defer { work.truncate(to: bottom) }
        work.append(Int32(first))
        let marks = search.base + 2 * search.size - Int(search.pattern.start)
        while work.count > bottom, let top = work.popLast() {
            let place = Int(top)
            let mark = Int32(search.position + 1)
            if work[marks + place] == mark { continue }
            work[marks + place] = mark
            let instruction = instructions[place]
            switch instruction.operation {
            case .set, .otherThanSet:
                work[intoNext ? search.place(inNext: search.next) : search.place(inPresent: search.present)] = top
                if intoNext { search.next += 1 } else { search.present += 1 }
            case .jump: work.append(instruction.first)
            case .split:
                work.append(instruction.second)
                work.append(instruction.first)
            case .assertion:
                if holds(instruction, at: search.position, text) { work.append(top + 1) }
            case .lookAhead, .notAhead, .lookBehind, .notBehind:
                if sees(instruction, search, text) { work.append(instruction.second) }
            case .match:
                if search.end == nil || search.end == search.position { return true }
            }
        }
        return false
    }

    private mutating func sees(_ instruction: PatternInstruction, _ search: Search, _ text: ByteView) -> Bool {
        let isBehind = instruction.operation == .lookBehind || instruction.operation == .notBehind
        let found = run(
            Search(
                first: Int(instruction.first), pattern: search.pattern, start: isBehind ? 0 : search.position,
                isAnchored: !isBehind, end: isBehind ? search.position : nil), text)
        return found == (instruction.operation == .lookAhead || instruction.operation == .lookBehind)
    }

    // MARK: Places

    private func holds(_ instruction: PatternInstruction, at position: Int, _ text: ByteView) -> Bool {
        let isEnd = position == text.count
        switch PatternAssertion(rawValue: instruction.first) {
        case .textStart: return position == 0
        case .lineStart: return position == 0 || text[position - 1] == 0x0A
        case .textEnd: return isEnd
        case .lastLineEnd: return isEnd || (position == text.count - 1 && text[position] == 0x0A)
        case .lineEnd: return isEnd || text[position] == 0x0A
        case .wordEdge: return isWordEdge(position, text)
        case .noWordEdge: return !isWordEdge(position, text)
        case nil: return false
        }
    }

    private func isWordEdge(_ position: Int, _ text: ByteView) -> Bool {
        var before = position - 1
        while before > 0, text[before] & 0xC0 == 0x80 { before -= 1 }
        let isAfterWord = before >= 0 && isWord(text, at: before)
        return isAfterWord != (position < text.count && isWord(text, at: position))
    }

    private func isWord(_ text: ByteView, at position: Int) -> Bool {
        UnicodeCategory.bit(UTF8Sequence.scalar(text, at: position).scalar) & UnicodeCategory.words != 0
    }
}

extension UTF8Sequence {
    /// The character at `index` of well-formed UTF-8, and how many bytes it takes.
    static func scalar(_ bytes: ByteView, at index: Int) -> (scalar: UInt32, length: Int) {
        let lead = UInt32(bytes[index])
        if lead < 0x80 { return (lead, 1) }
        let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        var value = lead & (0xFF >> UInt32(length + 1))
        for offset in 1..<length where index + offset < bytes.count {
            value = value << 6 | UInt32(bytes[index + offset] & 0x3F)
        }
        return (value, min(length, bytes.count - index))
    }
}
