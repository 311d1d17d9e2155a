/// The origin and factor of a compact series: value = origin + token × factor, with whole tokens from 0 on.
///
/// The origin has the decimals of the readings, so that exact arithmetic gives back every digit that the device wrote
/// (`36.60` stays `36.60`). A series whose numbers differ in their decimals is therefore never compact.
struct SeriesScale: BitwiseCopyable {
    /// The least number of the series.
    var origin: Decimal64
    /// The greatest common divisor of all distances from the origin, in the origin's last decimal; 0 when plain.
    private var step: Int64

    /// Origin 0 and factor 1.
    static let plain = SeriesScale(origin: Decimal64(mantissa: 0), step: 0)

    /// Whether tokens are the numbers themselves.
    var isPlain: Bool { step == 0 }

    /// The factor without the zeros at its end; 1 is not written.
    var factor: Decimal64 {
        var factor = Decimal64(mantissa: max(step, 1), exponent: isPlain ? 0 : origin.exponent)
        while factor.exponent < 0 && factor.mantissa % 10 == 0 {
            factor = Decimal64(mantissa: factor.mantissa / 10, exponent: factor.exponent + 1)
        }
        return factor
    }

    /// Whether the factor is 1, which FHIR takes when there is none.
    var hasUnitFactor: Bool { factor == Decimal64(mantissa: 1) }

    /// The token of `number`, which the scale was made for.
    func token(of number: Decimal64) -> UInt64 { UInt64(number.mantissa - origin.mantissa) / UInt64(step) }

    /// The scale that makes the waveform of `walk`, which is at its start, shorter; plain when none does.
    static func shortest(_ content: borrowing WindowContent, _ start: WaveformWalk) -> SeriesScale {
        var walk = start
        var range = NumberRange()
        while let sample = walk.next(content) {
            guard case .number(let number) = sample else { continue }
            guard range.add(number) else { return .plain }
        }
        guard let scale = range.scale else { return .plain }
        var saved = scale.savedByHead
        walk = start
        while let sample = walk.next(content) {
            guard case .number(let number) = sample else { continue }
            saved += scale.saved(by: number)
        }
        return saved > 0 ? scale : .plain
    }

    /// Bytes that origin and factor save, which are less than none.
    private var savedByHead: Int {
        var saved = 1 - ByteWriter.width(of: origin)
        if !hasUnitFactor { saved -= ",\"factor\":".utf8.count + ByteWriter.width(of: factor) }
        return saved
    }

    /// Bytes that the token of `number` saves.
    private func saved(by number: Decimal64) -> Int {
        ByteWriter.width(of: number) - ByteWriter.digitCount(token(of: number))
    }

    /// The scale that makes the series `form` of `content` shorter; plain when none does.
    static func shortest(_ content: borrowing WindowContent, _ form: SeriesForm) -> SeriesScale {
        guard let scale = survey(content, form) else { return .plain }
        var saved = scale.savedByHead
        var walk = SampleWalk(form)
        while let sample = walk.next(content) {
            guard let number = sample.value else { continue }
            saved += scale.saved(by: number)
        }
        return saved > 0 ? scale : .plain
    }

    /// 1 in decimals of `exponent`, so that equal numbers need no factor; 1 of them where that has no 18 digits.
    private static func unit(at exponent: Int8) -> Int64 {
        (-18...0).contains(exponent) ? Decimal64.powers[-Int(exponent)] : 1
    }

    /// The scale of the numbers of `form`; nil when they differ in their decimals or are too far apart.
    private static func survey(_ content: borrowing WindowContent, _ form: SeriesForm) -> SeriesScale? {
        var walk = SampleWalk(form)
        var range = NumberRange()
        while let sample = walk.next(content) {
            guard let number = sample.value else { continue }
            guard range.add(number) else { return nil }
        }
        return range.scale
    }

    /// What numbers of one exponent have in common.
    private struct NumberRange {
        private var first: Decimal64?
        private var least = Int64.max
        private var greatest = Int64.min
        private var step: Int64 = 0

        /// Takes one more; false when it has another exponent than the first, or is too far from it.
        mutating func add(_ number: Decimal64) -> Bool {
            let known = first ?? number
            let (distance, overflow) = number.mantissa.subtractingReportingOverflow(known.mantissa)
            guard number.exponent == known.exponent, !overflow, distance > .min else { return false }
            first = known
            least = min(least, number.mantissa)
            greatest = max(greatest, number.mantissa)
            step = SeriesPlan.commonDivisor(step, abs(distance))
            return true
        }

        /// The scale of the numbers; nil when there are none, or they are too far apart.
        var scale: SeriesScale? {
            guard let first, !greatest.subtractingReportingOverflow(least).overflow else { return nil }
            let origin = Decimal64(mantissa: least, exponent: first.exponent)
            return SeriesScale(origin: origin, step: step > 0 ? step : SeriesScale.unit(at: first.exponent))
        }
    }
}

extension ByteWriter {
    /// Bytes that ``append(_:)`` writes for `number`.
    static func width(of number: Decimal64) -> Int {
        let digits = digitCount(number.mantissa.magnitude)
        let sign = number.mantissa < 0 ? 1 : 0
        let exponent = Int(number.exponent)
        if exponent < 0 { return sign + (-exponent >= digits ? 2 - exponent : digits + 1) }
        if exponent == 0 || number.mantissa == 0 { return sign + digits }
        let isPower = digits + exponent > 18
        return sign + digits + (isPower ? 1 + digitCount(UInt64(exponent)) : exponent)
    }
}
