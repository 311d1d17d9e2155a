import KymographCore

/// Reads the value of a template or of a component.
struct ValueReader {
    let inComponent: Bool

    private static let types =
        ["Quantity", "SampledData", "String", "CodeableConcept", "Statistics"] + ValueForm.allCases.map(\.rawValue)

    /// The value, or nil after an error that leaves nothing usable.
    func read(_ node: JSONNode, log: inout DiagnosticLog) -> ValueRule? {
        guard let object = FieldReader.open(node, what: "a value", log: &log) else { return nil }
        let isNamedElsewhere = ValueReader.isPair(object) || WaveformReader.namesSignals(object)
        let name = isNamedElsewhere ? nil : valueName(object, log: &log)
        guard let type = valueType(object, log: &log), let text = type.text("'valueType'", log: &log) else {
            return nil
        }
        guard let known = ValueReader.types.first(where: { $0.lowercased() == text.lowercased() }) else {
            log.unknownChoice("valueType", text, at: type.position, among: ValueReader.types)
            return nil
        }
        let kind = readKind(known, node, log: &log)
        guard let kind, let name = name ?? kind.pairName else { return nil }
        return ValueRule(
            name: name.text, namePosition: name.position, position: node.position, kind: kind,
            extras: ValueExtrasReader(object, kind, inComponent: inComponent).read(log: &log))
    }

    /// The value's type, whose name the reference knows in two spellings only (mapping dialect, section 4).
    private func valueType(_ object: FieldReader, log: inout DiagnosticLog) -> JSONNode? {
        if let member = object.member("valueType") {
            if ["valueType", "ValueType"].contains(member.name) { return object.required("valueType", log: &log) }
            log.error(
                member.position, "Property ValueType is missing: '\(member.name)' is not read as it",
                advice: "spell it \"valueType\"", finding: .missingField)
            return nil
        }
        log.error(
            object.position, "Property ValueType is missing in a value",
            advice: "add \"valueType\": one of \(ValueReader.types.joined(separator: ", "))", finding: .missingField)
        return nil
    }

    private func valueName(_ object: FieldReader, log: inout DiagnosticLog) -> ValueName? {
        guard let text = object.requiredString("valueName", log: &log) else { return nil }
        let position = object.position(of: "valueName")
        guard !text.isEmpty else {
            log.error(
                position, "'valueName' is empty", advice: "name a value of the device template", finding: .blankField)
            return nil
        }
        return ValueName(text: text, position: position)
    }

    private func readKind(_ type: String, _ node: JSONNode, log: inout DiagnosticLog) -> ValueRule.Kind? {
        guard let object = FieldReader.open(node, what: "a \(type) value", log: &log) else { return nil }
        switch type {
        case "Quantity":
            check(object, ["unit", "system", "code"], log: &log)
            return .quantity(unit(object, log: &log))
        case "SampledData":
            let own = ["unit", "system", "code", "defaultPeriod", "origin", "factor"] + WaveformReader.names
            check(object, own + ValueReader.seriesMembers, log: &log)
            return .sampledData(unit(object, log: &log), sampledData(object, log: &log))
        case "CodeableConcept":
            check(object, ["text", "codes"], log: &log)
            return concept(object, log: &log)
        case "Statistics":
            return .statistics(statistics(object, log: &log))
        case "String":
            check(object, [], log: &log)
            return .string
        default:
            return ValueForm(rawValue: type).flatMap { typed($0, object, log: &log) }
        }
    }

    /// The reference system ignores members of values that it does not know, so files may have some: warn.
    func check(_ object: FieldReader, _ names: [String], log: inout DiagnosticLog) {
        let known = ["valueType", "valueName"] + names + ValueExtrasReader.names
        object.refuseUnknown(known, severity: .warning, log: &log)
    }

    private func concept(_ object: FieldReader, log: inout DiagnosticLog) -> ValueRule.Kind? {
        let concept = CodeableConcept(
            text: object.text("text", log: &log), codings: CodeReader.codings(of: object, log: &log))
        guard concept.isEmpty else { return .codeableConcept(concept) }
        log.error(
            object.position, "a CodeableConcept value needs 'codes' or 'text'", advice: "add one of them",
            finding: .emptyConcept)
        return nil
    }

    func unit(_ object: FieldReader, log: inout DiagnosticLog) -> UnitRule {
        let code = object.text("code", log: &log)
        let system = object.text("system", log: &log)
        let unit = UnitRule(
            // The vital signs profiles demand the unit's text as well as its code (spec/fhir.md section 1).
            unit: object.text("unit", log: &log) ?? code,
            // A system without a code says nothing, and FHIR's qty-3 demands one with a code.
            system: code == nil ? nil : system ?? UnitRule.ucum, code: code,
            position: object.position(of: code == nil ? "unit" : "code"))
        UnitCheck.checkSpelling(unit, in: object, log: &log)
        return unit
    }

    private func statistics(_ object: FieldReader, log: inout DiagnosticLog) -> StatisticsRule {
        let names =
            ["valueType", "valueName", "unit", "system", "code", "aggregate", "components", "series"]
            + ValueExtrasReader.names
        object.refuseUnknown(names, log: &log)
        let aggregates: [(String, StatisticsRule.Aggregate)] = StatisticsRule.Aggregate.allCases.map { ("\($0)", $0) }
        let aggregate = object.choice("aggregate", among: aggregates, log: &log) ?? .mean
        let parts = parts(object, log: &log)
        let series = object.node("series").flatMap { seriesComponent($0, log: &log) }
        if inComponent { refuseNested(object, log: &log) }
        // Least and greatest of partial sums (steps of 5 s and of 60 s) say nothing; their number does.
        let usual: [StatisticsPart] = aggregate.isTypical ? [.minimum, .maximum, .count] : [.count]
        return StatisticsRule(
            unit: unit(object, log: &log), aggregate: aggregate, parts: inComponent ? [] : parts ?? usual,
            series: inComponent ? nil : series)
    }

    /// A FHIR component has no components of its own.
    private func refuseNested(_ object: FieldReader, log: inout DiagnosticLog) {
        for name in ["components", "series"] {
            guard let node = object.node(name) else { continue }
            log.error(
                node.position, "Statistics inside a component cannot have '\(name)'",
                advice: "FHIR components do not nest: remove it, or make this the template's own value",
                finding: .nestedComponents)
        }
    }

    private func parts(_ object: FieldReader, log: inout DiagnosticLog) -> [StatisticsPart]? {
        guard let elements = object.array("components", log: &log) else { return nil }
        let names = StatisticsPart.named.map(\.name) + ["20-percent", "80-percent"]
        return elements.compactMap { element in
            guard let text = element.text("a statistics component", log: &log) else { return nil }
            if let part = StatisticsPart.of(text) { return part }
            log.unknownChoice("statistics component", text, at: element.position, among: names)
            return nil
        }
    }

    private func seriesComponent(_ node: JSONNode, log: inout DiagnosticLog) -> SeriesComponentRule? {
        guard let object = FieldReader.open(node, what: "a series", log: &log) else { return nil }
        object.refuseUnknown(["codes", "period"] + ValueReader.seriesMembers, log: &log)
        let codings = CodeReader.codings(of: object, log: &log)
        // FHIR demands a code of every component.
        let concept = CodeableConcept(text: codings.isEmpty ? "series" : nil, codings: codings)
        return SeriesComponentRule(code: concept, rule: series(object, period: "period", log: &log))
    }
}
