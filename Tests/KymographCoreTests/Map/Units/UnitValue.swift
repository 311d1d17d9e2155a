@testable import KymographCore
import KymographTemplates

/// Numbers and conversions in plain texts.
enum UnitValue {
    /// What is wrong with a text of a test.
    struct NoNumber: Error { var text: String }

    static func number(_ text: String) throws -> Decimal64 {
        let bytes = PaddedBytes(copying: text.utf8)
        guard case .number(let number) = DecimalParser.parse(bytes.view) else { throw NoNumber(text: text) }
        return number
    }

    static func text(_ number: Decimal64) -> String {
        var writer = ByteWriter()
        writer.append(number)
        return writer.view.string
    }

    static func rule(_ from: String, _ to: String, substance: Substance? = nil) throws -> UnitConversion {
        try UnitConversion(from: UCUMUnit.parse(from), to: UCUMUnit.parse(to), substance: substance)
    }

    /// `value` converted, as text; `-` when it does not fit.
    static func convert(
        _ value: String, _ from: String, _ to: String, digits: Int? = nil, substance: Substance? = nil
    ) throws -> String {
        let result = try rule(from, to, substance: substance).convert(number(value), digits: digits)
        return result.map(text) ?? "-"
    }

    static func double(_ number: Decimal64) -> Double {
        var value = Double(number.mantissa)
        for _ in 0..<abs(Int(number.exponent)) { value = number.exponent < 0 ? value / 10 : value * 10 }
        return value
    }
}
