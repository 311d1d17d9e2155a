import Testing

@testable import KymographCore
import TrialSupport

/// What readings of a window say about one value: whatever else the readings have, in a word or in a block.
@Suite struct FieldFactsTests {
    /// Readings that mostly have the same numbers with as many decimals, as those of a device do.
    private static func window(_ random: inout WindowRandom) -> TestWindow {
        var window = TestWindow()
        let slots = (0..<4).filter { _ in random.once(in: 2) }
        let isSteady = random.once(in: 2)
        for index in 0..<random.int(1...12) {
            var numbers: [Int: String] = [:]
            for slot in isSteady || !random.once(in: 4) ? slots : [random.int(0...3)] {
                let digits = "\(random.int(-3...3))"
                numbers[slot] = isSteady || !random.once(in: 4) ? digits : digits + ".5"
            }
            let hasText = !isSteady && random.once(in: 6)
            window.add(Int64(index) * TestWindow.second, numbers, texts: hasText ? [5: "note"] : [:])
        }
        return window
    }

    private static func expected(_ content: borrowing WindowContent, _ slot: Int) -> FieldFacts {
        var facts = FieldFacts()
        var sum = ExactSum()
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: slot) else { continue }
            let isLeast = facts.count == 0 || number.isLess(than: content.number(facts.least, slot: slot) ?? number)
            let isGreatest =
                facts.count == 0 || (content.number(facts.greatest, slot: slot) ?? number).isLess(than: number)
            if isLeast { facts.least = index }
            if isGreatest { facts.greatest = index }
            sum.add(number)
            (facts.count, facts.last) = (facts.count + 1, index)
        }
        if facts.count == 1, let only = content.number(facts.last, slot: slot) { facts.result = only }
        if facts.count > 1 { facts.result = sum.mean(of: facts.count) ?? facts.result }
        return facts
    }

    @Test func statisticsAreThoseOfTheNumbersWhereverTheyAreKept() {
        for seed in Trials.seeds(2_000) {
            var random = WindowRandom(seed: seed)
            FieldFactsTests.window(&random).withContent { content in
                for slot in 0..<4 {
                    let found = FieldFacts.survey(ProgramField(kind: .statistics, slot: Int32(slot)), content)
                    let expected = FieldFactsTests.expected(content, slot)
                    #expect(found.count == expected.count && found.last == expected.last, "seed \(seed)")
                    #expect(found.least == expected.least && found.greatest == expected.greatest, "seed \(seed)")
                    #expect(found.result == expected.result, "seed \(seed)")
                }
            }
        }
    }
}
