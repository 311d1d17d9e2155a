/// Turns exact numbers into whole multiples of a power of ten, as columns of decimal numbers have them.
struct DecimalScale {
    /// Digits behind the point.
    let digits: Int

    private static let powers: [Int128] = (0...38).map { power in (0..<power).reduce(1) { product, _ in product * 10 } }
    /// The first number that has more than 38 digits.
    private static let limit = powers[ParquetColumn.precision]

    /// The multiple that `number` is; nil when it is none, or one of more than 38 digits.
    func multiple(_ number: Decimal64) -> Int128? {
        let mantissa = Int128(number.mantissa)
        if mantissa == 0 { return 0 }
        let power = Int(number.exponent) + digits
        guard power >= 0 else {
            // No mantissa has more than 18 zeros at its end.
            guard power >= -18 else { return nil }
            let (quotient, rest) = mantissa.quotientAndRemainder(dividingBy: DecimalScale.powers[-power])
            return rest == 0 ? quotient : nil
        }
        guard power < DecimalScale.powers.count else { return nil }
        let (product, isTooMuch) = mantissa.multipliedReportingOverflow(by: DecimalScale.powers[power])
        return isTooMuch || product <= -DecimalScale.limit || product >= DecimalScale.limit ? nil : product
    }

    /// The same as Parquet has it: the highest byte first.
    static func append(_ multiple: Int128, to writer: inout ByteWriter) {
        writer.append(word: UInt64(truncatingIfNeeded: multiple >> 64).byteSwapped)
        writer.append(word: UInt64(truncatingIfNeeded: multiple).byteSwapped)
    }
}
