import KymographCore
import KymographTestKit

/// A random template with a series, random readings, and what a plain computation expects of both.
struct SeriesTrial {
    /// Nanoseconds after the window's start, and the number; sorted, one per instant.
    var readings: [(instant: Int64, number: Decimal64)] = []
    var policy: String
    /// Nanoseconds; nil takes it from the data.
    var period: Int64?
    var limits: String
    var isCompact: Bool
    var isStatistics: Bool
    private let lower: Int64
    private let upper: Int64

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        policy = ["latest", "min", "max", "mean", "sum"][Int.random(in: 0..<5, using: &random)]
        let periods: [Int64?] = [nil, second, 5 * second, 250_000_000, 1_500_000]
        period = periods[Int.random(in: 0..<5, using: &random)]
        isCompact = Bool.random(using: &random)
        isStatistics = Bool.random(using: &random)
        (lower, upper) = (Int64.random(in: -20...60, using: &random), Int64.random(in: 100...200, using: &random))
        let hasLimits = !isCompact && Bool.random(using: &random)
        limits = hasLimits ? ",\"lowerLimit\":\(lower),\"upperLimit\":\(upper)" : ""
        let unit = [1_000, 1_000_000, 250_000_000, second, second][Int.random(in: 0..<5, using: &random)]
        let hasMixedDigits = Int.random(in: 0..<3, using: &random) == 0
        let exponent = Int8.random(in: -3...0, using: &random)
        var times: Set<Int64> = []
        for _ in 0..<Int.random(in: 2...80, using: &random) {
            times.insert(Int64.random(in: 0..<(60 * second), using: &random) / unit * unit)
        }
        if times.count < 2 { times = [0, second] }
        let span = [9, 90, 4_000, 1_000_000_000_000][Int.random(in: 0..<4, using: &random)]
        readings = times.sorted().map { time in
            let digits = Int64.random(in: -5...Int64(span), using: &random)
            let own = hasMixedDigits ? Int8.random(in: -3...0, using: &random) : exponent
            return (time, Decimal64(mantissa: digits, exponent: own))
        }
    }

    /// The readings as a window.
    var window: TestWindow {
        var window = TestWindow()
        for reading in readings { window.add(reading.instant, number: reading.number) }
        return window
    }

    func template(compact: Bool) -> String {
        let milliseconds = period.map { "\(Double($0) / 1_000_000)" } ?? "\"auto\""
        let members = ",\"collision\":\"\(policy)\"\(limits),\"compact\":\(compact)"
        if isStatistics {
            return TestTemplates.heartRate.replacing(
                "\"series\":{", with: "\"series\":{\"period\":\(milliseconds)\(members),")
        }
        return TestTemplates.sampled.replacing("\"periodInterval\":60", with: "\"period\":\"1m\"")
            .replacing(":1000", with: ":\(milliseconds)\(members)")
    }

    /// The values of the series with their absolute times, limits applied.
    var expected: [(instant: Int64, number: Decimal64)] { slots.filter { !isBeyond($0.number) } }

    /// The absolute times of samples beyond a limit.
    var beyondLimits: [Int64] { slots.filter { isBeyond($0.number) }.map(\.instant) }

    private func isBeyond(_ number: Decimal64) -> Bool {
        !limits.isEmpty
            && (number.isLess(than: Decimal64(mantissa: lower)) || Decimal64(mantissa: upper).isLess(than: number))
    }

    private var slots: [(instant: Int64, number: Decimal64)] {
        guard let period else { return readings.map { (TestWindow.tenOClock + $0.instant, $0.number) } }
        let start = readings[0].instant
        let grouped = Dictionary(grouping: readings) { ($0.instant - start) / period }
        return grouped.sorted { $0.key < $1.key }.map { place, readings in
            (TestWindow.tenOClock + start + place * period, condensed(readings.map(\.number)))
        }
    }

    private func condensed(_ numbers: [Decimal64]) -> Decimal64 {
        guard numbers.count > 1 else { return numbers[0] }
        switch policy {
        case "latest": return numbers[numbers.count - 1]
        case "min": return numbers.reduce(numbers[0]) { $1.isLess(than: $0) ? $1 : $0 }
        case "max": return numbers.reduce(numbers[0]) { $0.isLess(than: $1) ? $1 : $0 }
        default: return total(numbers, isMean: policy == "mean")
        }
    }

    private func total(_ numbers: [Decimal64], isMean: Bool) -> Decimal64 {
        let finest = numbers.map(\.exponent).min() ?? 0
        let sum = numbers.reduce(0) { $0 + ($1.mantissa(at: finest) ?? 0) }
        guard isMean else { return Decimal64(mantissa: sum, exponent: finest) }
        let count = Int64(numbers.count)
        // Half to even: floor, and the rest decides.
        var quotient = sum * 10 / count
        var rest = sum * 10 % count
        if rest < 0 { (quotient, rest) = (quotient - 1, rest + count) }
        if 2 * rest > count || (2 * rest == count && quotient % 2 != 0) { quotient += 1 }
        return Decimal64(mantissa: quotient, exponent: finest - 1)
    }
}

/// The number that `text` writes, with its sign.
func signed(_ text: String) -> Decimal64 {
    guard text.hasPrefix("-") else { return decimal(text) }
    let number = decimal(String(text.dropFirst()))
    return Decimal64(mantissa: -number.mantissa, exponent: number.exponent)
}
