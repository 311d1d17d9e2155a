extension UnitRule {
    /// The unit of squares of numbers in this unit.
    ///
    /// UCUM: only a single unit takes an exponent, and a special unit such as the degree Celsius none; its differences
    /// are in kelvin. For those of other special units there is no code that says the same.
    var squared: UnitRule {
        guard let code, system == UnitRule.ucum else {
            return UnitRule(unit: unit.map { "(\($0))\u{B2}" }, system: nil, code: nil, position: position)
        }
        if code == "Cel" { return UnitRule(unit: "K\u{B2}", system: system, code: "K2", position: position) }
        let text = unit.map { "(\($0))\u{B2}" }
        guard code.last?.isLetter ?? false || ["%", "]"].contains(code.last), !code.hasPrefix("[deg") else {
            return UnitRule(unit: text, system: nil, code: nil, position: position)
        }
        let isSingle = !code.contains { "/.(){}".contains($0) }
        let product = code.hasPrefix("/") ? code + code : "(\(code)).(\(code))"
        return UnitRule(unit: text, system: system, code: isSingle ? code + "2" : product, position: position)
    }
}
