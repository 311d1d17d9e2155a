/// Reads a FHIR mapping file: `CollectionFhir` with its `CodeValueFhir` templates, and our additions to them.
///
/// Facts: spec/mapping-dialect.md section 4. Every problem is noted, not only the first; templates without a problem of
/// their own are returned although others have some.
public enum FHIRTemplateLoader {
    /// The templates of `root`, in file order.
    public static func load(_ root: JSONNode, log: inout DiagnosticLog) -> [FHIRTemplate] {
        guard let body = open(root, as: "CollectionFhir", log: &log) else { return [] }
        guard let elements = body.elements else {
            log.error(body.position, "expected 'template' of CollectionFhir to be an array, found \(body.kind)")
            return []
        }
        var templates: [FHIRTemplate] = []
        var places: [String: SourcePosition] = [:]
        for element in elements {
            guard let template = readTemplate(element, log: &log) else { continue }
            if let first = places[template.typeName.lowercased()] {
                log.error(
                    template.namePosition, "duplicate template for type name '\(template.typeName)'",
                    advice: "the first is at line \(first.line); names that differ only in case are the same")
                continue
            }
            places[template.typeName.lowercased()] = template.namePosition
            templates.append(template)
        }
        return templates
    }

    /// Checks the `{templateType, template}` shell around a template and returns what is inside.
    private static func open(_ node: JSONNode, as name: String, log: inout DiagnosticLog) -> JSONNode? {
        guard let shell = TemplateObject(node, what: "a \(name) template", log: &log) else { return nil }
        guard let type = shell.required("templateType", log: &log),
            let text = TemplateObject.text(type, "'templateType'", log: &log)
        else { return nil }
        guard [name, name + "Template"].contains(where: { $0.lowercased() == text.lowercased() }) else {
            log.error(type.position, "unknown templateType '\(text)'", advice: "expected '\(name)' here")
            return nil
        }
        return shell.required("template", log: &log)
    }

    private static let fields = [
        "typeName", "from", "period", "periodInterval", "category", "codes", "text", "profile", "effective", "value",
        "components",
    ]

    private static func readTemplate(_ node: JSONNode, log: inout DiagnosticLog) -> FHIRTemplate? {
        guard let body = open(node, as: "CodeValueFhir", log: &log),
            let object = TemplateObject(body, what: "a CodeValueFhir template", log: &log)
        else { return nil }
        object.checkNames(fields, log: &log)
        let name = typeName(object, log: &log)
        let codes = object.required("codes", log: &log).map { CodeReader.codings($0, log: &log) }
        let reader = ValueReader(inComponent: false)
        let value = object.node("value").map { reader.read($0, log: &log) }
        let draft = FHIRTemplate(
            typeName: name?.text ?? "", namePosition: name?.position ?? body.position,
            declaredGrouping: GroupingReader.read(object, log: &log),
            categories: CodeReader.categories(object, log: &log),
            code: concept(text: object.text("text", log: &log), codes: codes ?? [], name: name?.text),
            profiles: profiles(object, log: &log), effective: effective(object, log: &log), value: value ?? nil,
            components: components(object, log: &log), source: source(object, log: &log))
        ConformanceCheck.run(draft, position: body.position, log: &log)
        let isComplete = name != nil && codes != nil && !(value != nil && draft.value == nil)
        return isComplete ? draft : nil
    }

    private static func typeName(
        _ object: TemplateObject, log: inout DiagnosticLog
    ) -> (text: String, position: SourcePosition)? {
        guard let node = object.required("typeName", log: &log),
            let text = TemplateObject.text(node, "'typeName'", log: &log)
        else { return nil }
        guard text.contains(where: { !$0.isWhitespace }) else {
            log.error(node.position, "blank type name '\(text)'", advice: "name the type as the device template does")
            return nil
        }
        return (text, node.position)
    }

    private static func source(
        _ object: TemplateObject, log: inout DiagnosticLog
    ) -> FHIRTemplate.TypeReference? {
        guard let node = object.node("from"), let text = TemplateObject.text(node, "'from'", log: &log) else {
            return nil
        }
        return FHIRTemplate.TypeReference(typeName: text, position: node.position)
    }

    /// `code.text` is what the template says; without codes, FHIR needs some text, so the type's name stands in.
    private static func concept(text: String?, codes: [Coding], name: String?) -> CodeableConcept {
        CodeableConcept(text: text ?? (codes.isEmpty ? name : nil), codings: codes)
    }

    private static func profiles(_ object: TemplateObject, log: inout DiagnosticLog) -> [String] {
        (object.array("profile", log: &log) ?? []).compactMap {
            TemplateObject.text($0, "a profile", log: &log).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    private static func effective(_ object: TemplateObject, log: inout DiagnosticLog) -> EffectiveRule {
        object.choice("effective", among: [("covered", .covered), ("window", .window)], log: &log) ?? .covered
    }

    private static func components(_ object: TemplateObject, log: inout DiagnosticLog) -> [ComponentRule] {
        (object.array("components", log: &log) ?? []).compactMap { component($0, log: &log) }
    }

    private static func component(_ node: JSONNode, log: inout DiagnosticLog) -> ComponentRule? {
        guard let object = TemplateObject(node, what: "a component", log: &log) else { return nil }
        object.checkNames(["codes", "value"], log: &log)
        let codes = object.required("codes", log: &log).map { CodeReader.codings($0, log: &log) }
        let value = object.required("value", log: &log).flatMap { ValueReader(inComponent: true).read($0, log: &log) }
        guard let codes, let value else { return nil }
        return ComponentRule(code: concept(text: nil, codes: codes, name: value.name), value: value)
    }
}
