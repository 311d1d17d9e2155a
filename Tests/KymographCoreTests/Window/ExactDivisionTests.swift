import Testing

@testable import KymographCore
import TrialSupport

@Suite struct ExactDivisionTests {
    /// Numbers of all sizes, near multiples of `divisor` and elsewhere.
    private static func numbers(_ random: inout WindowRandom, divisor: UInt64) -> [UInt64] {
        (0..<2_000).flatMap { _ -> [UInt64] in
            let number = random.next() >> UInt64(random.int(0...63))
            let multiple = number / divisor * divisor
            return [number, multiple, multiple &+ 1, multiple &- 1]
        } + [0, 1, .max, .max - 1, .max / divisor * divisor]
    }

    @Test func multiplesAreToldFromOtherNumbersAndDivided() {
        var random = WindowRandom(seed: Trials.seed(8))
        for (unit, nanoseconds) in WindowBlockFormat.units.enumerated() {
            let divisor = UInt64(nanoseconds)
            let division = ExactDivision.byUnit(unit)
            for number in ExactDivisionTests.numbers(&random, divisor: divisor) {
                #expect(division.divides(number) == (number % divisor == 0), "\(number) by \(divisor)")
                if number % divisor == 0 { #expect(division.quotient(of: number) == number / divisor) }
            }
        }
    }

    @Test func anyDivisorWillDo() {
        var random = WindowRandom(seed: Trials.seed(9))
        for divisor in [UInt64(2), 3, 7, 12, 96, 1 << 63, .max, 12_345_678_912] {
            let division = ExactDivision(by: divisor)
            for number in ExactDivisionTests.numbers(&random, divisor: divisor) {
                #expect(division.divides(number) == (number % divisor == 0), "\(number) by \(divisor)")
            }
        }
    }
}
