/// The standard deviation of a sample, in exact integers up to the one rounding at the end.
enum StandardDeviation {
    /// The root of the sum of squared distances from the mean over n - 1, rounded half to even to one digit finer than
    /// the finest of `numbers`, of which there are two at least; nil when 128 bits do not hold what it takes.
    static func of(_ numbers: borrowing RawArray<Decimal64>) -> Decimal64? {
        var finest = numbers[0].exponent
        for index in 0..<numbers.count { finest = min(finest, numbers[index].exponent) }
        guard finest > Int8.min, let spread = spread(numbers, finest) else { return nil }
        let count = Int128(numbers.count)
        // A hundredfold under the root is one more digit.
        let (scaled, overflow) = spread.multipliedReportingOverflow(by: 100)
        guard !overflow, let root = root(scaled, over: count * (count - 1)) else { return nil }
        return Decimal64(mantissa: root, exponent: finest - 1)
    }

    /// The square of ``of(_:)``: the sum of squared distances from the mean over n - 1, rounded half to even to one
    /// digit finer than the squares of `numbers` have; nil as there.
    static func variance(of numbers: borrowing RawArray<Decimal64>) -> Decimal64? {
        var finest = numbers[0].exponent
        for index in 0..<numbers.count { finest = min(finest, numbers[index].exponent) }
        guard finest >= -63, finest <= 63, let spread = spread(numbers, finest) else { return nil }
        let (scaled, overflow) = spread.multipliedReportingOverflow(by: 10)
        guard !overflow else { return nil }
        let divisor = Int128(numbers.count) * Int128(numbers.count - 1)
        let (quotient, remainder) = scaled.quotientAndRemainder(dividingBy: divisor)
        let isUp = remainder * 2 > divisor || (remainder * 2 == divisor && !quotient.isMultiple(of: 2))
        return Int64(exactly: isUp ? quotient + 1 : quotient).map { Decimal64(mantissa: $0, exponent: finest * 2 - 1) }
    }

    /// ``of(_:)`` in per cent of the mean, rounded once, half to even, to one decimal. `numbers` are two at least, and
    /// their mean is above zero; nil as there.
    static func coefficientOfVariation(of numbers: borrowing RawArray<Decimal64>) -> Decimal64? {
        var sum = ExactSum()
        for index in 0..<numbers.count { sum.add(numbers[index]) }
        guard let total = sum.total, let spread = spread(numbers, total.exponent) else { return nil }
        // In thousandths, squared: 10^6 spread / (n (n - 1)) over (total / n)².
        let (scaled, overflow) = spread.multipliedReportingOverflow(by: 1_000_000 * Int128(numbers.count))
        let square = Int128(total.mantissa) * Int128(total.mantissa)
        let (divisor, tooMany) = square.multipliedReportingOverflow(by: Int128(numbers.count - 1))
        guard !overflow, !tooMany, divisor > 0, let root = root(scaled, over: divisor) else { return nil }
        return Decimal64(mantissa: root, exponent: -1)
    }

    /// n times the sum of squares less the square of the sum, in units of 10^`finest` squared. All are taken from the
    /// first number, which changes nothing and keeps them small.
    private static func spread(_ numbers: borrowing RawArray<Decimal64>, _ finest: Int8) -> Int128? {
        guard let base = numbers[0].mantissa(at: finest) else { return nil }
        var (sum, squares): (Int128, Int128) = (0, 0)
        var isLost = false
        for index in 0..<numbers.count {
            guard let digits = numbers[index].mantissa(at: finest) else { return nil }
            let distance = Int128(digits) - Int128(base)
            let (square, tooFar) = distance.multipliedReportingOverflow(by: distance)
            let (total, tooMany) = squares.addingReportingOverflow(square)
            (sum, squares) = (sum + distance, total)
            isLost = isLost || tooFar || tooMany
        }
        let (all, tooLarge) = squares.multipliedReportingOverflow(by: Int128(numbers.count))
        let (square, tooFar) = sum.multipliedReportingOverflow(by: sum)
        return isLost || tooLarge || tooFar ? nil : all - square
    }

    /// The root of `value` / `divisor`, rounded half to even.
    private static func root(_ value: Int128, over divisor: Int128) -> Int64? {
        let (fourfold, tooLarge) = value.multipliedReportingOverflow(by: 4)
        guard !tooLarge else { return nil }
        let floor = wholeRoot(value / divisor)
        // Compared with the middle between the two candidates: 4 v against d (2 r + 1)².
        let odd = 2 * floor + 1
        let (middle, tooLong) = odd.multipliedReportingOverflow(by: odd)
        let (square, tooFar) = middle.multipliedReportingOverflow(by: divisor)
        guard !tooLong, !tooFar else { return nil }
        let isUp = fourfold > square || (fourfold == square && !floor.isMultiple(of: 2))
        return Int64(exactly: isUp ? floor + 1 : floor)
    }

    /// The greatest whole number whose square is not above `value`, bit by bit from the highest.
    private static func wholeRoot(_ value: Int128) -> Int128 {
        var (rest, root, bit): (Int128, Int128, Int128) = (value, 0, 1 << 124)
        while bit > rest { bit >>= 2 }
        while bit > 0 {
            if rest >= root + bit {
                rest -= root + bit
                root = (root >> 1) + bit
            } else {
                root >>= 1
            }
            bit >>= 2
        }
        return root
    }
}
