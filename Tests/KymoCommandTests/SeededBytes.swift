import KymographTestKit

/// Random bytes that a seed repeats.
struct SeededBytes {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// A number from 0 to below `limit`.
    mutating func next(upTo limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
