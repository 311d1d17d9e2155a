@testable import KymographCore
import Testing
import TrialSupport

/// Varints are in every archive and journal: how they are made may change, what they are may not.
@Suite struct ShortVarintTests {
    /// Seven bits at a time, the lowest first.
    private static func reference(_ value: UInt64) -> [UInt8] {
        var (rest, bytes) = (value, [UInt8]())
        while rest >= 128 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(truncatingIfNeeded: rest)]
    }

    /// All around the powers of two, and many between them.
    private static var values: [UInt64] {
        var random = WindowRandom(seed: Trials.seed(5))
        let powers = (0..<64).flatMap { [1 << $0 - 1, 1 << $0, 1 << $0 + 1] as [UInt64] }
        let others = (0..<20_000).map { _ in UInt64.random(in: 0...UInt64.max, using: &random) >> random.int(0...63) }
        return powers + others
    }

    @Test func isOneByteForSevenBits() {
        var writer = ByteWriter()
        for value in Self.values {
            writer.removeAll()
            Varint.append(value, to: &writer)
            #expect(writer.view.array == Self.reference(value))
            guard value < ShortVarint.limit else { continue }
            let short = ShortVarint(value)
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: short.word >> UInt64($0 * 8)) }
            #expect(bytes == Self.reference(value) + Array(repeating: 0, count: 8 - short.bytes))
        }
    }

    /// Two words behind each other, whatever their lengths, and wherever the writer's memory ends.
    @Test func twoWordsFollowEachOther() {
        var random = WindowRandom(seed: Trials.seed(6))
        var writer = ByteWriter(capacity: 64)
        var expected: [UInt8] = []
        for _ in 0..<500 {
            let (first, second) = (random.next(), random.next())
            let (bytes, more) = (random.int(0...8), random.int(0...8))
            writer.append(word: first, bytes: bytes, then: second, bytes: more)
            for (word, count) in [(first, bytes), (second, more)] {
                expected += (0..<count).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
            }
        }
        #expect(writer.view.array == expected)
    }
}
