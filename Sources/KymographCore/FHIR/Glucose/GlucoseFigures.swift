/// The figures of one window's glucose readings, each computed exactly and rounded once, half to even. Keeps its memory
/// from window to window.
struct GlucoseFigures: ~Copyable, Sendable {
    /// One digit more than the readings have; of a single reading, that reading.
    private(set) var mean = Decimal64(mantissa: 0)
    /// Per cent of the readings in each range, with two decimals.
    private(set) var shares = InlineArray<5, Decimal64>(repeating: Decimal64(mantissa: 0))
    /// Glucose management indicator in per cent, with one decimal.
    private(set) var managementIndicator = Decimal64(mantissa: 0)
    /// Coefficient of variation in per cent, with one decimal; nil of a single reading.
    private(set) var variation: Decimal64?
    /// UTC days that have a reading.
    private(set) var days = Decimal64(mantissa: 0)
    /// Per cent of the window that the readings stand for, with one decimal.
    private(set) var active = Decimal64(mantissa: 0)
    private var numbers = RawArray<Decimal64>()

    /// Whether there are no figures.
    var isEmpty: Bool { numbers.count == 0 }

    /// Forgets the figures of the window before.
    mutating func clear() { numbers.removeAll() }

    /// Makes the figures of `content`; gives the reason when there are none. `losses` counts the readings that have a
    /// text in the place of the number, and a variation that 128 bits do not hold.
    mutating func make(
        _ content: borrowing WindowContent, _ program: GlucoseSummaryProgram, _ losses: inout ObservationLosses
    ) -> Rejection? {
        let texts = survey(content, program)
        guard numbers.count > 0 else { return texts > 0 ? .invalidValue : .missingValue }
        losses.passedOver = texts
        var sum = ExactSum()
        for index in 0..<numbers.count { sum.add(numbers[index]) }
        let first: Decimal64? = numbers[0]
        guard let total = sum.total, let mean = numbers.count == 1 ? first : sum.mean(of: numbers.count),
            let indicator = GlucoseFigures.indicator(total, numbers.count, isMolar: program.isMolar)
        else { return .inexactNumber }
        self.mean = mean
        managementIndicator = indicator
        countRanges(isMolar: program.isMolar)
        let varies = numbers.count > 1 && total.mantissa > 0
        variation = varies ? StandardDeviation.coefficientOfVariation(of: numbers) : nil
        if varies && variation == nil { losses.unwrittenValues[.inexactNumber] = 1 }
        return nil
    }

    /// Collects the numbers and what their times tell; gives the number of readings with a text in their place.
    ///
    /// A reading stands for the sample period after it, or for the time up to the next one or up to the window's end if
    /// that is less: neither a sensor that is seconds early or late nor one that repeats itself changes much.
    private mutating func survey(_ content: borrowing WindowContent, _ program: GlucoseSummaryProgram) -> Int {
        numbers.removeAll()
        guard program.slot >= 0 else { return 0 }
        var (texts, dayCount, lastDay): (Int, Int64, Int64) = (0, 0, .min)
        let length = max(content.end.nanoseconds - content.start.nanoseconds, 1)
        var (covered, last): (Int64, Int64?) = (0, nil)
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: Int(program.slot)) else {
                if content.hasNoNumber(index, slot: Int(program.slot)) { texts += 1 }
                continue
            }
            numbers.append(number)
            let instant = content.readings[index].instant.nanoseconds
            let day = GlucoseFigures.day(of: instant)
            if day != lastDay { dayCount += 1 }
            if let last { covered += min(instant - last, program.samplePeriod) }
            (lastDay, last) = (day, instant)
        }
        days = Decimal64(mantissa: dayCount)
        // Not beyond the window, which would count minutes of the next one.
        if let last { covered += min(content.end.nanoseconds - last, program.samplePeriod) }
        active = GlucoseFigures.percentage(min(max(covered, 0), length), of: length)
        return texts
    }

    /// The UTC day of `instant`, counted from 1970.
    private static func day(of instant: Int64) -> Int64 {
        let day: Int64 = 86_400_000_000_000
        return instant / day - (instant % day < 0 ? 1 : 0)
    }

    private mutating func countRanges(isMolar: Bool) {
        var counts = InlineArray<5, Int64>(repeating: 0)
        for index in 0..<numbers.count { counts[GlucoseRange.index(of: numbers[index], isMolar)] += 1 }
        for index in 0..<5 {
            shares[index] = ExactSum(counts[index] * 1_000, exponent: -1).mean(of: numbers.count) ?? shares[index]
        }
    }

    /// With one decimal.
    private static func percentage(_ part: Int64, of whole: Int64) -> Decimal64 {
        let tenths = divide(Int128(part) * 1_000, by: Int128(whole)) ?? 0
        return Decimal64(mantissa: tenths, exponent: -1)
    }

    /// 3.31 + 0.02392 × the mean in mg/dL (Bergenstal et al., Diabetes Care 2018;41:2275); 1 mmol/L is 18.0156 mg/dL.
    /// nil of numbers with more than 18 decimals.
    private static func indicator(_ total: Decimal64, _ count: Int, isMolar: Bool) -> Decimal64? {
        let finest = min(total.exponent, 0)
        guard finest >= -18, let total = total.mantissa(at: finest) else { return nil }
        let (factor, scale): (Int128, Int) = isMolar ? (430_933_152, 9) : (2_392, 5)
        let decimals = scale - Int(finest)
        // Both terms times the count, in units of 10^-decimals.
        let sum = factor * Int128(total) + 331 * Int128(count) * power(decimals - 2)
        return divide(sum, by: Int128(count) * power(decimals - 1)).map { Decimal64(mantissa: $0, exponent: -1) }
    }

    private static func power(_ exponent: Int) -> Int128 {
        var power: Int128 = 1
        for _ in 0..<exponent { power *= 10 }
        return power
    }

    /// Rounded half to even.
    private static func divide(_ value: Int128, by divisor: Int128) -> Int64? {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        let twice = remainder.magnitude * 2
        let isUp = twice > divisor.magnitude || (twice == divisor.magnitude && !quotient.isMultiple(of: 2))
        return Int64(exactly: isUp ? quotient + (remainder < 0 ? -1 : 1) : quotient)
    }
}
