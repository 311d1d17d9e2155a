/// A statistic that is added as a component.
package enum StatisticsPart: Hashable, Sendable {
    case minimum, maximum, count, average, sum, median, deviation, variance
    /// The reading below or at which this many thousandths of the readings lie.
    case percentile(permille: Int)

    /// Code system of HL7's statistics.
    static let system = "http://terminology.hl7.org/CodeSystem/observation-statistics"
    /// Ours, for percentiles that HL7's does not have.
    static let ownSystem = "urn:kymograph:observation-statistics"

    /// The statistics that have a fixed name.
    package static let named: [(name: String, part: StatisticsPart)] = [
        ("minimum", .minimum), ("maximum", .maximum), ("count", .count), ("average", .average), ("sum", .sum),
        ("median", .median), ("std-dev", .deviation), ("variance", .variance),
    ]

    /// The statistic called `text`; percentiles are `20-percent`, `97.5-percent` and so on, with at most one decimal,
    /// above 0 and below 100. nil when there is none of this name.
    package static func of(_ text: String) -> StatisticsPart? {
        let text = text.lowercased()
        if let found = named.first(where: { $0.name == text }) { return found.part }
        guard text.hasSuffix("-percent") else { return nil }
        let digits = text.dropLast("-percent".count).split(separator: ".", omittingEmptySubsequences: false)
        let isPlain = digits.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }
        guard isPlain, (1...2).contains(digits.count), digits.last?.count == 1 || digits.count == 1,
            let whole = Int(digits[0]), whole < 100
        else { return nil }
        let permille = whole * 10 + (digits.count == 2 ? Int(digits[1]) ?? 0 : 0)
        return permille > 0 ? .percentile(permille: permille) : nil
    }

    /// How it is coded.
    package var coding: Coding {
        switch self {
        case .percentile(200): Coding(system: StatisticsPart.system, code: "20-percent")
        case .percentile(250): Coding(system: StatisticsPart.system, code: "4-lower")
        case .percentile(750): Coding(system: StatisticsPart.system, code: "4-upper")
        case .percentile(800): Coding(system: StatisticsPart.system, code: "80-percent")
        case .percentile(let permille): Coding(system: StatisticsPart.ownSystem, code: "\(Self.name(permille))-percent")
        case .minimum, .maximum, .count, .average, .sum, .median, .deviation, .variance:
            Coding(system: StatisticsPart.system, code: StatisticsPart.named.first { $0.part == self }?.name)
        }
    }

    private static func name(_ permille: Int) -> String {
        permille % 10 == 0 ? "\(permille / 10)" : "\(permille / 10).\(permille % 10)"
    }
}

extension UnitRule {
    /// The unit of squares of numbers in this unit.
    ///
    /// UCUM: only a single unit takes an exponent, and a special unit such as the degree Celsius none; its differences
    /// are in kelvin. For those of other special units there is no code that says the same.
    package var squared: UnitRule {
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
