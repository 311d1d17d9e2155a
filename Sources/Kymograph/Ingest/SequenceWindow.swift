/// Which sequence numbers a key has had, of the last 1,024 up to the highest one (RFC 4303, section 3.4.3; RFC 6479).
package struct SequenceWindow: Hashable, Sendable {
    /// What becomes of a number.
    package enum Verdict: Sendable {
        /// It has not come before.
        case new
        /// It has come.
        case repeated
        /// It is so far behind the highest one that nobody knows.
        case stale
    }

    /// How many numbers it knows.
    package static let size: UInt64 = 1_024
    private static let words = Int(size / 64)

    /// The highest number that has come; nil when none has.
    package private(set) var highest: UInt64?
    /// A bit for each of the last numbers, at its place modulo ``size``.
    private var bits: InlineArray<16, UInt64> = InlineArray(repeating: 0)

    /// No number has come.
    package init() {}

    /// Takes what ``bytes`` has given; nil for bytes of another length.
    package init?(highest: UInt64, bytes: [UInt8]) {
        guard bytes.count == Self.words * 8 else { return nil }
        self.highest = highest
        for (place, byte) in bytes.enumerated() { bits[place / 8] |= UInt64(byte) << UInt64(place % 8 * 8) }
    }

    /// The bits, in the order of places.
    package var bytes: [UInt8] {
        (0..<Self.words * 8).map { UInt8(truncatingIfNeeded: bits[$0 / 8] >> UInt64($0 % 8 * 8)) }
    }

    package static func == (left: SequenceWindow, right: SequenceWindow) -> Bool {
        left.highest == right.highest && left.bytes == right.bytes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(highest) }

    /// What would become of `number`.
    package func verdict(_ number: UInt64) -> Verdict {
        guard let highest, number <= highest else { return .new }
        guard highest - number < Self.size else { return .stale }
        return bits[place(number)] & bit(number) == 0 ? .new : .repeated
    }

    /// Notes `number`, if it has not come before.
    package mutating func take(_ number: UInt64) -> Verdict {
        let verdict = verdict(number)
        guard case .new = verdict else { return verdict }
        if number > highest ?? 0 || highest == nil { advance(to: number) }
        bits[place(number)] |= bit(number)
        return .new
    }

    /// Makes `number` the highest: those between have not come.
    private mutating func advance(to number: UInt64) {
        let former = highest ?? number
        highest = number
        guard number - former < Self.size else {
            bits = InlineArray(repeating: 0)
            return
        }
        var passed = former
        while passed < number {
            passed += 1
            bits[place(passed)] &= ~bit(passed)
        }
    }

    private func place(_ number: UInt64) -> Int { Int(number % Self.size / 64) }

    private func bit(_ number: UInt64) -> UInt64 { 1 << (number % 64) }
}
