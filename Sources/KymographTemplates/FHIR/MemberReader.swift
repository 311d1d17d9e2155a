import KymographCore

/// Reads the members of Observations that a template states (R4 Observation; spec/fhir.md section 4).
struct MemberReader {
    private let object: FieldReader

    /// What it reads.
    static let names = [
        "method", "bodySite", "note", "performer", "tag", "security", "extension", "effectiveType", "issued",
        "identifier", "status", "absoluteTimeRange",
    ]

    init(_ object: FieldReader) {
        self.object = object
    }

    func read(log: inout DiagnosticLog) -> MemberRules {
        var rules = MemberRules()
        rules.method = concept("method", log: &log)
        rules.bodySite = concept("bodySite", log: &log)
        readNotes(&rules, log: &log)
        rules.performers = (object.array("performer", log: &log) ?? []).compactMap { performer($0, log: &log) }
        rules.tags = codings("tag", log: &log)
        rules.security = codings("security", log: &log)
        rules.extensions = (object.array("extension", log: &log) ?? []).compactMap { extensionRule($0, log: &log) }
        let forms: [(String, EffectiveForm)] = [("dateTime", .dateTime), ("Period", .period), ("Instant", .instant)]
        rules.effectiveForm = object.choice("effectiveType", among: forms, log: &log) ?? .automatic
        rules.effectivePosition = object.position(of: "effectiveType")
        rules.writesIssued = object.flag("issued", log: &log) ?? false
        rules.identifiers = (object.array("identifier", log: &log) ?? []).compactMap { identifier($0, log: &log) }
        let statuses = [("final", false), ("preliminary", true)]
        rules.isPreliminary = object.choice("status", among: statuses, log: &log) ?? false
        rules.writesTimeRange = object.flag("absoluteTimeRange", log: &log)
        return rules
    }

    private func concept(_ name: String, log: inout DiagnosticLog) -> CodeableConcept? {
        guard let node = object.node(name), let own = FieldReader.open(node, what: "a \(name)", log: &log) else {
            return nil
        }
        return MemberReader.concept(own, ["text", "codes"], log: &log)
    }

    private static func concept(
        _ own: FieldReader, _ names: [String], log: inout DiagnosticLog
    ) -> CodeableConcept? {
        own.refuseUnknown(names, log: &log)
        let concept = CodeableConcept(
            text: own.text("text", log: &log), codings: CodeReader.codings(of: own, log: &log))
        guard concept.isEmpty else { return concept }
        log.error(
            own.position, "\(own.what) needs 'codes' or 'text'", advice: "add one of them", finding: .emptyConcept)
        return nil
    }

    private func codings(_ name: String, log: inout DiagnosticLog) -> [Coding] {
        guard let elements = object.array(name, log: &log), !elements.isEmpty, let node = object.node(name) else {
            return []
        }
        return CodeReader.codings(node, log: &log)
    }

    // MARK: Notes

    /// One text or `{ "valueName": … }`, or several texts.
    private func readNotes(_ rules: inout MemberRules, log: inout DiagnosticLog) {
        guard let node = object.node("note") else { return }
        if node.members != nil, let own = FieldReader.open(node, what: "a note", log: &log) {
            own.refuseUnknown(["valueName"], log: &log)
            rules.noteName = own.requiredString("valueName", log: &log).map {
                ValueName(text: $0, position: own.position(of: "valueName"))
            }
            return
        }
        let texts = node.elements ?? [node]
        rules.notes = texts.compactMap { $0.text("a note", log: &log) }.filter { !$0.isEmpty }
    }

    // MARK: Performers

    private static let performers = [
        "Practitioner", "PractitionerRole", "Organization", "CareTeam", "Patient", "RelatedPerson",
    ]

    private func performer(_ node: JSONNode, log: inout DiagnosticLog) -> PerformerRule? {
        guard let own = FieldReader.open(node, what: "a performer", log: &log) else { return nil }
        own.refuseUnknown(["type", "identifier", "display"], log: &log)
        let types = MemberReader.performers.map { ($0, $0) }
        let hasType = own.required("type", "a string", log: &log) != nil
        let type = hasType ? own.choice("type", among: types, log: &log) : nil
        guard let found = own.required("identifier", log: &log),
            let identifier = FieldReader.open(found, what: "an identifier", log: &log)
        else { return nil }
        identifier.refuseUnknown(["system", "value"], log: &log)
        guard let value = identifier.requiredString("value", log: &log), let type else { return nil }
        return PerformerRule(
            type: type, system: identifier.text("system", log: &log), value: value,
            display: own.text("display", log: &log))
    }

    // MARK: Identifiers

    /// A constant, or the text of a value.
    private func identifier(_ node: JSONNode, log: inout DiagnosticLog) -> IdentifierRule? {
        guard let own = FieldReader.open(node, what: "an identifier", log: &log) else { return nil }
        own.refuseUnknown(["system", "value", "valueName"], log: &log)
        guard let system = own.requiredString("system", log: &log) else { return nil }
        guard system.firstIndex(of: ":") != nil, !system.contains(where: \.isWhitespace) else {
            log.error(
                own.position(of: "system"), "the system of an identifier must be an absolute URI, found '\(system)'",
                advice: "write it whole, such as urn:example:sample", finding: .wrongIdentifier)
            return nil
        }
        let (value, name) = (own.text("value", log: &log), own.text("valueName", log: &log))
        guard (value == nil) != (name == nil), value?.contains(where: { !$0.isWhitespace }) ?? true else {
            log.error(
                own.position, "an identifier needs either 'value' or 'valueName'",
                advice: "write the text that all have, or the name of the value that holds it",
                finding: .wrongIdentifier)
            return nil
        }
        return IdentifierRule(
            system: system, systemPosition: own.position(of: "system"), value: value,
            valueName: name.map { ValueName(text: $0, position: own.position(of: "valueName")) })
    }

    // MARK: Extensions

    private static let values = [
        "valueString", "valueCode", "valueUri", "valueDateTime", "valueBoolean", "valueInteger", "valueDecimal",
        "valueCodeableConcept",
    ]

    private func extensionRule(_ node: JSONNode, log: inout DiagnosticLog) -> ExtensionRule? {
        guard let own = FieldReader.open(node, what: "an extension", log: &log) else { return nil }
        own.refuseUnknown(["url"] + MemberReader.values, log: &log)
        guard let url = own.requiredString("url", log: &log) else { return nil }
        guard url.firstIndex(of: ":") != nil else {
            log.error(
                own.position(of: "url"), "the url of an extension must be absolute, found '\(url)'",
                advice: "write it whole, such as http://example.org/StructureDefinition/x", finding: .wrongExtension)
            return nil
        }
        let found = MemberReader.values.filter { own.node($0) != nil }
        guard found.count == 1, let value = own.node(found[0]) else {
            log.error(
                own.position, "an extension needs one value, found \(found.count)",
                advice: "write one of \(MemberReader.values.joined(separator: ", "))", finding: .wrongExtension)
            return nil
        }
        return json(found[0], value, log: &log).map { ExtensionRule(url: url, member: found[0], json: $0) }
    }

    private func json(_ member: String, _ node: JSONNode, log: inout DiagnosticLog) -> String? {
        if member == "valueCodeableConcept" {
            guard let own = FieldReader.open(node, what: "a \(member)", log: &log) else { return nil }
            return MemberReader.concept(own, ["text", "codes"], log: &log).map(JSONText.object)
        }
        switch (member, node.value) {
        case ("valueBoolean", .bool(let isTrue)): return isTrue ? "true" : "false"
        case ("valueInteger", .number(let text)) where Int32(text) != nil: return text
        case ("valueDecimal", .number(let text)): return text
        case ("valueDateTime", .string(let text)) where Array(text.utf8).withByteView(DateTimeText.isDateTime):
            return JSONText.quoted(text)
        case ("valueString", .string(let text)), ("valueCode", .string(let text)), ("valueUri", .string(let text)):
            if !text.isEmpty { return JSONText.quoted(text) }
        default: break
        }
        log.error(
            node.position, "'\(member)' cannot be this", advice: "write a \(member.dropFirst(5)) of FHIR, not empty",
            finding: .wrongExtension)
        return nil
    }
}
