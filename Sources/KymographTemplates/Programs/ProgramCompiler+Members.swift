import KymographCore

/// Compiles the members that are the same in every Observation of a type.
extension ProgramCompiler {
    mutating func addMembers(_ rules: MemberRules, _ type: MeasurementType) {
        if rules.writesIssued { step(.issued) }
        addExtensions(rules)
        for member in JSONText.members(rules, options.version) { literal("\(member),") }
        guard let name = rules.noteName else { return }
        let field = addNonValueText(name, type)
        let texts = options.version.noteTexts
        literal("\(texts.before)\"", .present, field)
        step(.text, .present, field)
        literal("\"\(texts.after),", .present, field)
    }

    /// Adds the field of the text of `name`, without which an Observation is whole, and which alone makes none.
    private mutating func addNonValueText(_ name: ValueName, _ type: MeasurementType) -> UInt16 {
        let slot = type.valueNames.firstIndex(of: name.text).map { Int32($0) } ?? -1
        return addNonValue(ProgramField(kind: .text, slot: slot))
    }

    /// Adds the template's identifiers behind that of the identity.
    mutating func addIdentifiers(_ rules: [IdentifierRule], _ type: MeasurementType) {
        for rule in rules {
            let head = ",{\"system\":\(JSONText.quoted(rule.system)),\"value\":"
            guard let name = rule.valueName else {
                literal("\(head)\(JSONText.quoted(rule.value ?? ""))}")
                continue
            }
            let field = addNonValueText(name, type)
            literal("\(head)\"", .present, field)
            step(.text, .present, field)
            literal("\"}", .present, field)
        }
    }

    private mutating func addExtensions(_ rules: MemberRules) {
        let constants = rules.extensions.map { "{\"url\":\(JSONText.quoted($0.url)),\"\($0.member)\":\($0.json)}" }
        let hasRange = rules.writesTimeRange == true
        guard !constants.isEmpty || namesGateway || hasRange else { return }
        literal("\"extension\":[")
        if namesGateway {
            literal("{\"url\":\(JSONText.quoted(PersonalHealthShape.gatewayURL)),\"valueReference\":{")
            step(.gateway)
            literal(constants.isEmpty && !hasRange ? "}}" : "}},")
        }
        literal("\(constants.joined(separator: ","))\(hasRange && !constants.isEmpty ? "," : "")")
        if hasRange { addTimeRange() }
        literal("],")
    }

    /// Adds the extensions of HealthKitOnFHIR for the exact times of a sample.
    private mutating func addTimeRange() {
        literal("{\"url\":\(JSONText.quoted(AbsoluteTimeRange.start)),\"valueDecimal\":")
        step(.startSeconds)
        literal("},{\"url\":\(JSONText.quoted(AbsoluteTimeRange.end)),\"valueDecimal\":")
        step(.endSeconds)
        literal("}")
    }
}

extension JSONText {
    /// The members of `meta`, without the end of its tags.
    static func meta(_ template: FHIRTemplate) -> String {
        var members: [String] = []
        if !template.profiles.isEmpty { members.append("\"profile\":\(array(template.profiles))") }
        if !template.members.security.isEmpty { members.append("\"security\":\(codings(template.members.security))") }
        if !template.members.tags.isEmpty { members.append("\"tag\":\(codings(template.members.tags).dropLast())") }
        return members.joined(separator: ",")
    }

    /// The constant members.
    static func members(_ rules: MemberRules, _ version: FHIRVersion) -> [String] {
        var members: [String] = []
        func add(_ name: String, _ elements: [String]) {
            if !elements.isEmpty { members.append("\"\(name)\":[\(elements.joined(separator: ","))]") }
        }
        add("performer", rules.performers.map { performer($0, version) })
        if rules.noteName == nil, !rules.notes.isEmpty { members.append(version.notes(rules.notes)) }
        if let site = rules.bodySite { members.append("\"bodySite\":\(object(site))") }
        if let method = rules.method { members.append("\"method\":\(object(method))") }
        return members
    }

    /// An element of `referenceRange`.
    static func referenceRange(_ rule: ReferenceRangeRule) -> String {
        let unit = unit(rule.unit)
        let low = rule.low.map { "\"low\":{\"value\":\($0)\(unit)}" }
        let high = rule.high.map { "\"high\":{\"value\":\($0)\(unit)}" }
        let text = rule.text.map { "\"text\":\(quoted($0))" }
        return "{\([low, high, text].compactMap { $0 }.joined(separator: ","))}"
    }

    private static func performer(_ rule: PerformerRule, _ version: FHIRVersion) -> String {
        let identifier = object([("system", rule.system), ("value", rule.value)])
        let display = rule.display.map { ",\"display\":\(quoted($0))" } ?? ""
        let type = version.hasReferenceType ? "\"type\":\(quoted(rule.type))," : ""
        return "{\(type)\"identifier\":\(identifier)\(display)}"
    }

    private static func codings(_ codings: [Coding]) -> String {
        let elements = codings.map { object([("system", $0.system), ("code", $0.code), ("display", $0.display)]) }
        return "[\(elements.joined(separator: ","))]"
    }
}
