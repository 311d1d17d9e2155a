/// Doubles as .NET prints them: the shortest digits that give the number back, with an exponent from 1E+15 up and from
/// 1E-05 down (mapping dialect, section 2.4; .NET Core 3.0 and later).
enum RoundTripText {
    /// The text of `number`.
    static func text(of number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        if number == 0 { return number.sign == .minus ? "-0" : "0" }
        let (digits, power) = shortest(number.magnitude)
        let sign = number < 0 ? "-" : ""
        return sign + (power >= 15 || power < -4 ? scientific(digits, power) : plain(digits, power))
    }

    /// The shortest digits without zeros at the end, and the power of ten of the first.
    private static func shortest(_ number: Double) -> (digits: String, power: Int) {
        // Swift's description is the shortest that gives the number back, as `12.5` or `1.25e-07`.
        let parts = number.description.split(separator: "e")
        let sides = parts[0].split(separator: ".")
        let whole = String(sides[0])
        let fraction = sides.count > 1 ? String(sides[1]) : ""
        var power = whole.count - 1 + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        var digits = Substring(whole + fraction)
        while digits.hasPrefix("0"), digits.count > 1 {
            digits = digits.dropFirst()
            power -= 1
        }
        while digits.hasSuffix("0"), digits.count > 1 { digits = digits.dropLast() }
        return (String(digits), power)
    }

    private static func scientific(_ digits: String, _ power: Int) -> String {
        let fraction = digits.count > 1 ? ".\(digits.dropFirst())" : ""
        let exponent = String(abs(power))
        return "\(digits.prefix(1))\(fraction)E\(power < 0 ? "-" : "+")\(exponent.count < 2 ? "0" : "")\(exponent)"
    }

    private static func plain(_ digits: String, _ power: Int) -> String {
        if power < 0 { return "0." + String(repeating: "0", count: -power - 1) + digits }
        let missing = power + 1 - digits.count
        if missing >= 0 { return digits + String(repeating: "0", count: missing) }
        return "\(digits.prefix(power + 1)).\(digits.dropFirst(power + 1))"
    }
}
