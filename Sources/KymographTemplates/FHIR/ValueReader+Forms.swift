import KymographCore

/// Values of the further types: Integer, Boolean, DateTime, Time, Period, Range and Ratio.
extension ValueReader {
    /// Whether `object` is a value of two names, and so without `valueName`.
    static func isPair(_ object: FieldReader) -> Bool {
        let text = object.node("valueType")?.string?.lowercased()
        return ValueForm.allCases.contains { $0.rawValue.lowercased() == text && $0.pair != nil }
    }

    func typed(_ form: ValueForm, _ object: FieldReader, log: inout DiagnosticLog) -> ValueRule.Kind? {
        guard let pair = form.pair else {
            check(object, [], log: &log)
            return .typed(TypedRule(form: form))
        }
        var rule = TypedRule(form: form)
        readUnits(form, pair, object, &rule, log: &log)
        let first = name(pair.first, object, log: &log)
        let second = name(pair.second, object, log: &log)
        (rule.first, rule.second) = (first, second)
        let isWhole = form == .ratio ? first != nil && second != nil : first != nil || second != nil
        guard !isWhole else { return .typed(rule) }
        let need = form == .ratio ? "'\(pair.first)' and '\(pair.second)'" : "'\(pair.first)' or '\(pair.second)'"
        log.error(
            object.position, "a \(form.rawValue) value needs \(need)",
            advice: "name values of the device template there", finding: .missingField)
        return nil
    }

    private func readUnits(
        _ form: ValueForm, _ pair: (first: String, second: String), _ object: FieldReader, _ rule: inout TypedRule,
        log: inout DiagnosticLog
    ) {
        switch form {
        case .range:
            check(object, ["low", "high", "unit", "system", "code"], log: &log)
            rule.unit = unit(object, log: &log)
        case .ratio:
            check(object, ["numerator", "denominator", "numeratorUnit", "denominatorUnit"], log: &log)
            rule.unit = ownUnit("numeratorUnit", object, log: &log)
            rule.secondUnit = ownUnit("denominatorUnit", object, log: &log)
        case .integer, .boolean, .dateTime, .time, .period:
            check(object, [pair.first, pair.second], log: &log)
        }
    }

    private func ownUnit(_ name: String, _ object: FieldReader, log: inout DiagnosticLog) -> UnitRule {
        guard let node = object.node(name), let own = FieldReader.open(node, what: "a \(name)", log: &log) else {
            return .none
        }
        own.refuseUnknown(["unit", "system", "code"], log: &log)
        return unit(own, log: &log)
    }

    private func name(_ member: String, _ object: FieldReader, log: inout DiagnosticLog) -> ValueName? {
        object.text(member, log: &log).map { ValueName(text: $0, position: object.position(of: member)) }
    }
}

extension ValueRule.Kind {
    /// The name that stands for a value of several names.
    var pairName: ValueName? {
        if case .sampledData(_, let rule) = self { return rule.waveform?.signals.first }
        guard case .typed(let rule) = self else { return nil }
        return rule.first ?? rule.second
    }
}

extension StatisticsRule.Aggregate {
    /// Whether it says what readings usually are, so that the least and the greatest say more.
    var isTypical: Bool {
        switch self {
        case .mean, .median, .latest: true
        case .sum, .minimum, .maximum, .count: false
        }
    }
}
