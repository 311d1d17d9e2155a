import KymographCore

/// What the templates of a mapping set say of their readings.
extension TypeMeaning {
    /// The meaning of the readings that `templates` give and that `fhir` writes. `mappings` are the names.
    init(_ fhir: FHIRTemplate?, _ templates: [MappingSet.LinkedTemplate], mappings: [String]) {
        self.init()
        if let fhir { add(fhir) }
        namings = [:]
        for linked in templates {
            add(linked.template, mapping: mappings[linked.mapping])
            if !linked.template.retracts { addNaming(linked.template, mapping: mappings[linked.mapping]) }
        }
    }

    private mutating func add(_ fhir: FHIRTemplate) {
        for rule in fhir.valueRules { add(rule) }
        for member in fhir.resource?.members ?? [] { add(member.node) }
        for node in fhir.resource?.identifiers ?? [] { add(node) }
        guard let summary = fhir.summary else { return }
        var meaning = ValueMeaning()
        meaning.unit = UnitMeaning(summary.readingUnit)
        values[summary.value.text] = meaning
    }

    /// Adds the values in a part of a resource. A number named `value` is that of a Quantity, in the unit beside it.
    private mutating func add(_ node: ResourceNode) {
        switch node {
        case .object(let members):
            for member in members {
                guard case .value(let value) = member.node else {
                    add(member.node)
                    continue
                }
                var meaning = ValueMeaning()
                if member.name == "value", value.form == .decimal { meaning.unit = UnitMeaning(besides: members) }
                note(meaning, of: value.name.text)
            }
        case .array(let nodes), .text(let nodes): for node in nodes { add(node) }
        case .value(let value): note(ValueMeaning(), of: value.name.text)
        case .constant, .time, .reference, .identifier: break
        }
    }

    private mutating func add(_ rule: ValueRule) {
        var meaning = ValueMeaning()
        switch rule.kind {
        case .quantity(let unit): meaning.unit = UnitMeaning(unit)
        case .statistics(let statistics): meaning.unit = UnitMeaning(statistics.unit)
        case .sampledData(let unit, let series):
            meaning.unit = UnitMeaning(unit)
            (meaning.factor, meaning.origin) = (series.factor ?? "1", series.origin ?? "0")
        case .codeableConcept(let concept): meaning.concept = concept.names
        case .typed(let typed): return add(typed, meaning)
        case .string: break
        }
        for name in rule.signals ?? [rule.name] { note(meaning, of: name) }
    }

    private mutating func add(_ typed: TypedRule, _ meaning: ValueMeaning) {
        for (name, unit) in [(typed.first, typed.unit), (typed.second, typed.secondUnit)] {
            guard let name else { continue }
            var meaning = meaning
            // Both ends of a Range are in its unit.
            if typed.form.isNumeric { meaning.unit = UnitMeaning(typed.form == .ratio ? unit : typed.unit) }
            note(meaning, of: name.text)
        }
    }

    /// A value can be written in several places; the first counts.
    private mutating func note(_ meaning: ValueMeaning, of name: String) {
        values[name] = values[name]?.adding(meaning) ?? meaning
    }

    private mutating func add(_ template: DeviceTemplate, mapping: String) {
        var occurrences: [String: Int] = [:]
        for value in template.values {
            let key = ConversionKey.key(
                mapping: mapping, match: template.match.text, value: value.name,
                occurrence: occurrences[value.name, default: 0])
            occurrences[value.name, default: 0] += 1
            conversions[key] = value.conversionAspects
        }
    }

    /// Of several templates with one match, each gives the readings something.
    private mutating func addNaming(_ template: DeviceTemplate, mapping: String) {
        let key = ConversionKey.key(mapping: mapping, match: template.match.text)
        let known = namings?[key]
        namings?[key] = ReadingNaming(
            hasId: template.readingId != nil || known?.hasId ?? false,
            hasStart: template.start != nil || known?.hasStart ?? false)
    }
}

extension ValueRule {
    /// The values that hold the signals of a waveform; nil when it is none.
    fileprivate var signals: [String]? {
        guard case .sampledData(_, let series) = kind else { return nil }
        return series.waveform?.signals.map(\.text)
    }
}

extension DeviceTemplate.Value {
    /// What happens to the value between the payload and the measurement, as far as it decides what it means.
    fileprivate var conversionAspects: [String: String] {
        var aspects = [
            "unit conversion": rule?.unit?.aspect ?? "none", "map": rule?.map == nil ? "none" : "present",
            "scale": rule?.scale?.aspect ?? "none",
        ]
        for entry in rule?.map?.entries ?? [] { aspects["map of '\(entry.text)'"] = entry.value }
        for entry in rule?.unit?.entries ?? [] {
            aspects["unit conversion of '\(entry.text)'"] = entry.conversion.aspect
        }
        return aspects
    }
}

extension DeviceTemplate.ScaleRule {
    fileprivate var aspect: String {
        switch self {
        case .fixed(let exponent): "10^\(exponent)"
        case .read: "by the payload"
        }
    }
}

extension DeviceTemplate.UnitRule {
    /// Source and target, without the payload's texts for the unit, which may become more.
    fileprivate var aspect: String { "\(fixed?.aspect ?? "by the payload") to \(target.code)" }
}

extension UnitConversion {
    fileprivate var aspect: String { "(x*\(numerator)*10^\(exponent)+\(offset)*10^\(offsetExponent))/\(denominator)" }
}

extension UnitMeaning {
    /// The unit that the members of a Quantity state; nil where a reading states it.
    fileprivate init?(besides members: [ResourceMember]) {
        var texts: [String: String] = [:]
        for member in members where ["unit", "system", "code"].contains(member.name) {
            guard case .constant(let json) = member.node else { return nil }
            texts[member.name] = json.hasPrefix("\"") ? String(json.dropFirst().dropLast()) : json
        }
        self.init(UnitRule(unit: texts["unit"], system: texts["system"], code: texts["code"]))
    }

    fileprivate init(_ rule: UnitRule) {
        let isUCUM = rule.system == nil || rule.system == UnitRule.ucum
        self.init(code: rule.code, system: isUCUM ? nil : rule.system, text: rule.unit)
    }
}

extension CodeableConcept {
    /// Its codes as `system|code`, or its text where it has none.
    fileprivate var names: Set<String> {
        let names = codings.compactMap { coding in coding.code.map { "\(coding.system ?? "")|\($0)" } }
        return Set(names.isEmpty ? [text].compactMap { $0 } : names)
    }
}
