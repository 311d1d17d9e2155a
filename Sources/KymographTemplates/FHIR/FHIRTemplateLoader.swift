package import KymographCore

/// Reads a FHIR mapping file: `CollectionFhir` with its `CodeValueFhir` templates, and our additions to them.
///
/// Facts: spec/mapping-dialect.md section 4. Every problem is noted, not only the first; templates without a problem of
/// their own are returned although others have some.
package enum FHIRTemplateLoader {
    /// The templates of `root`, in file order; `version` is that of the output, with which the file must agree if it
    /// names one.
    package static func load(
        _ root: JSONNode, version: FHIRVersion = .r4, log: inout DiagnosticLog
    ) -> [FHIRTemplate] {
        guard let file = FieldReader.open(root, what: "a CollectionFhir template", log: &log),
            MappingDialect.isReadable(file, log: &log)
        else { return [] }
        let rootFields = [
            "$schema", MappingDialect.member, "fhirVersion", "absoluteTimeRange", "templateType", "template",
        ]
        guard let body = open(root, as: "CollectionFhir", fields: rootFields, log: &log) else { return [] }
        guard let elements = body.elements else {
            refuse(body, expected: "an array", in: "CollectionFhirTemplate", log: &log)
            return []
        }
        log.fhirVersion = FHIRVersion.declared(in: file, output: version, log: &log)
        if version == .stu3 { FHIRVersion.refuseForSTU3(elements, log: &log) }
        let resources = ResourceReader(declared: log.fhirVersion, output: version)
        var templates = elements.compactMap { readTemplate($0, resources, log: &log) }
        // What the file says is for all Observations whose templates do not say otherwise: summaries and other
        // resources have no such times.
        let hasRange = file.flag("absoluteTimeRange", log: &log) ?? false
        for index in templates.indices where templates[index].resource == nil && templates[index].summary == nil {
            templates[index].members.writesTimeRange = templates[index].members.writesTimeRange ?? hasRange
        }
        let kept = withoutDuplicates(templates, log: &log)
        log.attributeToTemplates(of: root)
        return kept
    }

    /// The first template of each type name, which are compared without regard to case.
    private static func withoutDuplicates(_ templates: [FHIRTemplate], log: inout DiagnosticLog) -> [FHIRTemplate] {
        var places: [String: SourcePosition] = [:]
        return templates.filter { template in
            guard let first = places[template.typeName.lowercased()] else {
                places[template.typeName.lowercased()] = template.namePosition
                return true
            }
            log.error(
                template.namePosition, "Duplicate template defined for type name: '\(template.typeName)'",
                advice: "the first is at line \(first.line); names that differ only in case are the same",
                finding: .duplicateType)
            return false
        }
    }

    private static func refuse(_ body: JSONNode, expected: String, in type: String, log: inout DiagnosticLog) {
        log.error(
            body.position,
            "Expected \(expected) for the template property value for template type \(type), found \(body.kind)",
            finding: .wrongKind)
    }

    /// Checks the `{templateType, template}` shell around a template and returns what is inside.
    private static func open(
        _ node: JSONNode, as name: String, fields: [String], log: inout DiagnosticLog
    ) -> JSONNode? {
        guard let shell = FieldReader.open(node, what: "a \(name) template", log: &log),
            let text = shell.requiredString("templateType", log: &log)
        else { return nil }
        shell.refuseUnknownOfShell(fields, log: &log)
        guard [name, name + "Template"].contains(where: { $0.lowercased() == text.lowercased() }) else {
            log.error(
                shell.position(of: "templateType"), "Expected TemplateType value \(name)Template, actual \(text)",
                advice: "write \"templateType\": \"\(name)\" here", finding: .wrongTemplateType)
            return nil
        }
        return shell.required("template", log: &log)
    }

    private static let fields =
        [
            "typeName", "from", "period", "periodInterval", "sameInstant", "category", "codes", "text", "profile",
            "effective",
            "value",
            "components",
        ] + MemberReader.names

    /// The kinds of templates: that of the reference, and our additions.
    private static let kinds = ["CodeValueFhir", "ResourceFhir", "GlucoseSummaryFhir"]

    /// The kind that a shell names; that of the reference when it names none of ours.
    private static func kind(_ node: JSONNode) -> String {
        let name = node.field("templateType")?.string?.lowercased() ?? ""
        return kinds.first { [$0.lowercased(), "\($0.lowercased())template"].contains(name) } ?? kinds[0]
    }

    private static func readTemplate(
        _ node: JSONNode, _ resources: ResourceReader, log: inout DiagnosticLog
    ) -> FHIRTemplate? {
        let kind = kind(node)
        guard let body = open(node, as: kind, fields: ["templateType", "template"], log: &log) else { return nil }
        guard body.members != nil else {
            refuse(body, expected: "an object", in: "\(kind)Template", log: &log)
            return nil
        }
        let object = FieldReader(body, what: "a \(kind) template", log: &log)
        switch kind {
        case "ResourceFhir": return resources.read(object, typeName: typeName(object, log: &log), log: &log)
        case "GlucoseSummaryFhir":
            return GlucoseSummaryReader.read(object, typeName: typeName(object, log: &log), log: &log)
        default: return readObservation(object, body, log: &log)
        }
    }

    private static func readObservation(
        _ object: FieldReader, _ body: JSONNode, log: inout DiagnosticLog
    ) -> FHIRTemplate? {
        let errors = log.errorCount
        object.refuseUnknown(fields, log: &log)
        let name = typeName(object, log: &log)
        let codes = object.required("codes", log: &log).map { CodeReader.codings($0, log: &log) }
        let reader = ValueReader(inComponent: false)
        let value = object.node("value").map { reader.read($0, log: &log) }
        let members = MemberReader(object).read(log: &log)
        let draft = FHIRTemplate(
            typeName: name?.text ?? "", namePosition: name?.position ?? body.position,
            declaredGrouping: GroupingReader.read(object, log: &log), sameInstant: sameInstant(object, log: &log),
            categories: CodeReader.categories(object, log: &log),
            code: concept(text: object.text("text", log: &log), codes: codes ?? [], name: name?.text),
            profiles: profiles(object, log: &log), effective: effective(object, log: &log), value: value ?? nil,
            components: components(object, log: &log), source: source(object, log: &log),
            members: members)
        let isComplete = name != nil && codes != nil && !(value != nil && draft.value == nil)
        FHIRTemplateCheck.run(draft, position: body.position, isComplete: log.errorCount == errors, log: &log)
        return isComplete ? draft : nil
    }

    private static func typeName(
        _ object: FieldReader, log: inout DiagnosticLog
    ) -> ValueName? {
        guard let text = object.requiredString("typeName", log: &log) else { return nil }
        let position = object.position(of: "typeName")
        guard text.contains(where: { !$0.isWhitespace }) else {
            log.error(
                position, "Empty type name is not allowed: '\(text)'",
                advice: "name the type as the device template does", finding: .blankField)
            return nil
        }
        return ValueName(text: text, position: position)
    }

    static func source(
        _ object: FieldReader, log: inout DiagnosticLog
    ) -> FHIRTemplate.TypeReference? {
        guard let text = object.text("from", log: &log) else { return nil }
        return FHIRTemplate.TypeReference(typeName: text, position: object.position(of: "from"))
    }

    /// `code.text` is what the template says; without codes, FHIR needs some text, so the type's name stands in.
    private static func concept(text: String?, codes: [Coding], name: String?) -> CodeableConcept {
        CodeableConcept(text: text ?? (codes.isEmpty ? name : nil), codings: codes)
    }

    static func profiles(_ object: FieldReader, log: inout DiagnosticLog) -> [String] {
        (object.array("profile", log: &log) ?? []).compactMap {
            $0.text("a profile", log: &log).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    private static func effective(_ object: FieldReader, log: inout DiagnosticLog) -> EffectiveRule {
        object.choice("effective", among: [("covered", .covered), ("window", .window)], log: &log) ?? .covered
    }

    static func sameInstant(_ object: FieldReader, log: inout DiagnosticLog) -> SameInstant? {
        object.choice("sameInstant", among: SameInstant.choices.map { ($0.rawValue, $0) }, log: &log)
    }

    private static func components(_ object: FieldReader, log: inout DiagnosticLog) -> [ComponentRule] {
        (object.array("components", log: &log) ?? []).compactMap { component($0, log: &log) }
    }

    private static func component(_ node: JSONNode, log: inout DiagnosticLog) -> ComponentRule? {
        guard let object = FieldReader.open(node, what: "a component", log: &log) else { return nil }
        object.refuseUnknown(["codes", "value"], log: &log)
        let codes = object.required("codes", log: &log).map { CodeReader.codings($0, log: &log) }
        let value = object.required("value", log: &log).flatMap { ValueReader(inComponent: true).read($0, log: &log) }
        guard let codes, let value else { return nil }
        return ComponentRule(code: concept(text: nil, codes: codes, name: value.name), value: value)
    }
}

extension FHIRVersion {
    /// The version that the mapping file `root` says it is written for; R4, which is written in every version, when it
    /// says nothing. Another one than that of the `output` is an error.
    static func declared(in root: FieldReader, output: FHIRVersion, log: inout DiagnosticLog) -> FHIRVersion {
        let choices = allCases.map { (name: $0.rawValue, value: $0) }
        guard let declared = root.choice("fhirVersion", among: choices, log: &log) else { return .r4 }
        if !declared.agrees(with: output) {
            log.error(
                root.position(of: "fhirVersion"),
                "the mapping is written for FHIR \(declared.rawValue), but the output is \(output.rawValue)",
                advice: "set output.fhirVersion to \(declared.rawValue) (flag --fhir-version), or take another mapping",
                finding: .otherFHIRVersion)
        }
        return declared
    }
}
