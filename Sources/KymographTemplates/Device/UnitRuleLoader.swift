import KymographCore

/// Reads `unit` of a value: the unit in which the value comes, and the one it is converted to.
struct UnitRuleLoader {
    private static let fields = ["from", "expression", "units", "to", "substance", "digits"]
    /// A Decimal64 has 18 digits, and one of them is left of the point.
    private static let mostDigits = 17

    private let reader: FieldReader
    private let target: UCUMUnit?
    private let substance: Substance?
    /// Whether a conversion needed to know the substance.
    private var usesSubstance = false

    /// The fields of `unit` of the value that `value` reads, when it is an object: for its `expression`.
    static func opened(in value: FieldReader, log: inout DiagnosticLog) -> FieldReader? {
        guard let node = value.member("unit")?.node, node.members != nil else { return nil }
        return FieldReader(node, what: "'unit'", log: &log)
    }

    /// The rule that `node`, an object, describes; nil after an error.
    static func load(_ node: JSONNode, log: inout DiagnosticLog) -> DeviceTemplate.UnitRule? {
        let reader = FieldReader(node, what: "'unit'", log: &log)
        reader.refuseUnknown(fields, log: &log)
        let to = reader.required("to", "a string", log: &log)
        var loader = UnitRuleLoader(
            reader: reader, target: to.flatMap { unit($0, log: &log) }, substance: substance(reader, log: &log))
        return loader.rule(digits: digits(reader, log: &log), log: &log)
    }

    private init(reader: FieldReader, target: UCUMUnit?, substance: Substance?) {
        self.reader = reader
        self.target = target
        self.substance = substance
    }

    private mutating func rule(digits: Int?, log: inout DiagnosticLog) -> DeviceTemplate.UnitRule? {
        let fixed = reader.optional("from", "a string", log: &log)
        let listed = reader.optional("units", "an object", log: &log)
        guard checkSource(hasFrom: reader.member("from") != nil, listed, log: &log) else { return nil }
        let conversion = fixed.flatMap { self.conversion($0, log: &log) }
        let entries = listed.map { self.entries($0, log: &log) } ?? []
        if let member = reader.member("substance"), substance != nil, !usesSubstance, target != nil {
            log.warning(
                member.position, "'substance' has no effect here",
                advice: "it counts between mass and amount of substance, such as mg/dL and mmol/L", finding: .unitRule)
        }
        guard let target, conversion != nil || !entries.isEmpty else { return nil }
        return DeviceTemplate.UnitRule(
            fixed: conversion, entries: entries, digits: digits, target: target,
            targetPosition: reader.member("to")?.node.position ?? reader.position)
    }

    /// Whether the source unit is stated in one of the two ways.
    private func checkSource(hasFrom: Bool, _ listed: JSONNode?, log: inout DiagnosticLog) -> Bool {
        let expression = reader.member("expression")
        if hasFrom {
            for name in ["expression", "units"] {
                guard let other = reader.member(name) else { continue }
                log.error(
                    other.position, "'from' and '\(name)' exclude each other",
                    advice: "'from' is for a fixed unit; 'expression' and 'units' for one that the payload names",
                    finding: .unitRule)
                return false
            }
            return true
        }
        let pair = "'expression' selects the payload's text for the unit, 'units' lists the UCUM code of each text"
        switch (expression != nil, reader.member("units") != nil) {
        case (true, true): return listed != nil
        case (true, false):
            log.error(reader.position, "'unit' has 'expression' but no 'units'", advice: pair, finding: .unitRule)
        case (false, true):
            log.error(reader.position, "'unit' has 'units' but no 'expression'", advice: pair, finding: .unitRule)
        case (false, false):
            log.error(
                reader.position, "'unit' does not say in which unit the value comes",
                advice: "add \"from\" with a UCUM code, or \"expression\" and \"units\" when the payload names it",
                finding: .unitRule)
        }
        return false
    }

    private mutating func entries(
        _ node: JSONNode, log: inout DiagnosticLog
    ) -> [(text: String, conversion: UnitConversion)] {
        let members = node.members ?? []
        if members.isEmpty {
            log.error(
                node.position, "'units' is empty", advice: "list the payload's texts and their UCUM codes",
                finding: .unitRule)
        }
        ValueRuleLoader.refuseTwice(members, in: "units", log: &log)
        var entries: [(text: String, conversion: UnitConversion)] = []
        for member in members {
            guard let conversion = conversion(member.node, log: &log) else { continue }
            entries.append((text: member.name, conversion: conversion))
        }
        return entries
    }

    /// The conversion from the UCUM code in `node` to the target.
    private mutating func conversion(_ node: JSONNode, log: inout DiagnosticLog) -> UnitConversion? {
        guard let source = UnitRuleLoader.unit(node, log: &log), let target else { return nil }
        if UnitConversion.needsSubstance(source, target) { usesSubstance = true }
        do throws(UnitMismatch) {
            return try UnitConversion(from: source, to: target, substance: substance)
        } catch {
            log.error(node.position, error.message, advice: error.advice, finding: .unitRule)
            return nil
        }
    }

    private static func unit(_ node: JSONNode, log: inout DiagnosticLog) -> UCUMUnit? {
        guard let code = node.string else {
            log.error(node.position, "a unit must be a string with a UCUM code, found \(node.kind)", finding: .unitRule)
            return nil
        }
        do throws(ExpressionError) {
            return try UCUMUnit.parse(code)
        } catch {
            log.error(
                node.position, "unit '\(code)', character \(error.offset + 1): \(error.message)",
                advice: "units are UCUM codes; see the section Extensions of docs/mapping-language.md",
                finding: .unitRule)
            return nil
        }
    }

    private static func substance(_ reader: FieldReader, log: inout DiagnosticLog) -> Substance? {
        guard let node = reader.optional("substance", "a string", log: &log), let name = node.string else { return nil }
        if let substance = Substance(rawValue: name) { return substance }
        let known = Substance.allCases.map(\.rawValue).joined(separator: ", ")
        log.error(
            node.position, "the molar mass of '\(name)' is not known",
            advice: "known is only \(known); read other substances in the unit in which they are sent",
            finding: .unitRule)
        return nil
    }

    private static func digits(_ reader: FieldReader, log: inout DiagnosticLog) -> Int? {
        guard let node = reader.optional("digits", nil, log: &log) else { return nil }
        if case .number(let text) = node.value, let digits = Int(text), (0...mostDigits).contains(digits) {
            return digits
        }
        log.error(
            node.position, "'digits' must be a whole number from 0 to \(mostDigits)",
            advice: "it is the number of decimals of converted values", finding: .unitRule)
        return nil
    }
}
