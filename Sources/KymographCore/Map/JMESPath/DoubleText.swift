/// Doubles as text: the fewest digits that give the same double again.
enum DoubleText {
    private static let mostDigits = 1e15

    /// Writes plain digits where there are at most 15 of them, `60` for 60.0, else what Swift writes, such as
    /// `1e+300`; `Infinity`, `-Infinity` and `NaN` for those.
    static func append(_ value: Double, to writer: inout ByteWriter) {
        if !value.isFinite { return appendSpecial(value, to: &writer) }
        if let number = shortDecimal(value) { return writer.append(number) }
        let text = Array(value.description.utf8)
        writer.append(text.suffix(2) == [UInt8(ascii: "."), UInt8(ascii: "0")] ? Array(text.dropLast(2)) : text)
    }

    private static func appendSpecial(_ value: Double, to writer: inout ByteWriter) {
        if value.isNaN { return writer.append("NaN") }
        writer.append(value < 0 ? "-Infinity" : "Infinity")
    }

    /// The decimal of at most 15 digits that is nearest to no other double; nil when there is none.
    private static func shortDecimal(_ value: Double) -> Decimal64? {
        for decimals in 0...18 {
            let power = Double(Decimal64.powers[decimals])
            let scaled = (value * power).rounded()
            if scaled.magnitude >= mostDigits { return nil }
            if scaled / power == value { return Decimal64(mantissa: Int64(scaled), exponent: Int8(-decimals)) }
        }
        return nil
    }

    /// Writes what .NET writes for a double in the invariant culture: `1E+16` from 15 digits on, `1E-05` below 0.0001.
    static func appendDotNet(_ value: Double, to writer: inout ByteWriter) {
        if !value.isFinite { return appendSpecial(value, to: &writer) }
        if value == 0 { return writer.append(value.sign == .minus ? "-0" : "0") }
        // Nearly all values, without a text of their own.
        if value.magnitude >= 0.0001, let number = shortDecimal(value) { return writer.append(number) }
        if value < 0 { writer.append(UInt8(ascii: "-")) }
        let (digits, power) = digits(of: value.magnitude)
        if power >= 15 || power < -4 {
            writer.append(digits[0])
            if digits.count > 1 { writer.append(UInt8(ascii: ".")) }
            writer.append(Array(digits.dropFirst()))
            writer.append(power < 0 ? "E-" : "E+")
            if abs(power) < 10 { writer.append(UInt8(ascii: "0")) }
            return writer.append(digits: UInt64(abs(power)))
        }
        appendPlain(digits, power, to: &writer)
    }

    private static func appendPlain(_ digits: [UInt8], _ power: Int, to writer: inout ByteWriter) {
        if power < 0 { writer.append("0.") }
        for _ in 0..<max(-power - 1, 0) { writer.append(UInt8(ascii: "0")) }
        for (index, digit) in digits.enumerated() {
            if index == power + 1, index > 0 { writer.append(UInt8(ascii: ".")) }
            writer.append(digit)
        }
        for _ in 0..<max(power + 1 - digits.count, 0) { writer.append(UInt8(ascii: "0")) }
    }

    /// The digits from the first to the last that is not zero, and the power of ten of the first one.
    private static func digits(of value: Double) -> (digits: [UInt8], power: Int) {
        let parts = value.description.split(separator: "e")
        let number = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var power = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) + number[0].utf8.count - 1
        var digits = Array(number.joined().utf8)
        while digits.count > 1, digits[0] == UInt8(ascii: "0") {
            digits.removeFirst()
            power -= 1
        }
        while digits.count > 1, digits[digits.count - 1] == UInt8(ascii: "0") { digits.removeLast() }
        return (digits, power)
    }
}
