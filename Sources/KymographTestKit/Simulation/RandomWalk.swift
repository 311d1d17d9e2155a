/// A bounded walk in whole steps that is drawn back to its home, as vital signs are.
struct RandomWalk: Sendable {
    let range: ClosedRange<Int>
    let home: Int
    let largestStep: Int
    private(set) var value: Int

    /// Starts near `home`.
    init(range: ClosedRange<Int>, home: Int, largestStep: Int, using generator: inout SeededGenerator) {
        self.range = range
        self.home = home
        self.largestStep = largestStep
        value = home
        for _ in 0..<8 { _ = next(using: &generator) }
    }

    /// Walks one step.
    mutating func next(using generator: inout SeededGenerator) -> Int {
        let pull = (home - value) / 16
        let step = Int.random(in: -largestStep...largestStep, using: &generator) + pull
        value = min(max(value + step, range.lowerBound), range.upperBound)
        return value
    }
}

extension SeededGenerator {
    /// Whether an event of this `probability` (0…1) happens.
    mutating func happens(_ probability: Double) -> Bool {
        probability > 0 && Double(next() >> 11) * 0x1p-53 < probability
    }
}
