import KymographCore

/// What the tokens of a SampledData value mean.
struct SeriesTokenScale {
    private let origin: Decimal64
    private let factor: Decimal64

    init(_ data: JSONTree) throws(SeriesDecoderError) {
        guard let digits = data["origin"]?["value"]?.digits else {
            throw SeriesDecoderError("the series has no origin")
        }
        origin = try Self.decimal(digits)
        factor = try Self.decimal(data["factor"]?.digits ?? "1")
    }

    func value(_ token: Substring) throws(SeriesDecoderError) -> SeriesDecoder.Value {
        switch token {
        case "E": return .missing
        case "L": return .belowLimit
        case "U": return .aboveLimit
        default: return .number(try number(try Self.decimal(String(token))))
        }
    }

    /// Origin + token × factor.
    private func number(_ token: Decimal64) throws(SeriesDecoderError) -> Decimal64 {
        let product = Int128(token.mantissa) * Int128(factor.mantissa)
        let exponent = Int(token.exponent) + Int(factor.exponent)
        let finest = min(exponent, Int(origin.exponent))
        let scaled = try Self.scale(product, by: exponent - finest)
        let sum = scaled + (try Self.scale(Int128(origin.mantissa), by: Int(origin.exponent) - finest))
        guard let mantissa = Int64(exactly: sum), let exponent = Int8(exactly: finest) else {
            throw SeriesDecoderError("a value has more than 18 digits")
        }
        return Decimal64(mantissa: mantissa, exponent: exponent)
    }

    private static func scale(_ value: Int128, by zeros: Int) throws(SeriesDecoderError) -> Int128 {
        var result = value
        for _ in 0..<(value == 0 ? 0 : zeros) {
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            guard !overflow else { throw SeriesDecoderError("a value has more than 38 digits") }
            result = product
        }
        return result
    }

    /// The number that `text` writes, digits kept.
    static func decimal(_ text: String) throws(SeriesDecoderError) -> Decimal64 {
        let bytes = PaddedBytes(copying: Array(text.utf8))
        if case .number(let number) = DecimalParser.parse(bytes.view) { return number }
        throw SeriesDecoderError("'\(text)' is no number")
    }
}
